"""From a fitted model to a picture: the same as from its predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from costboost.costs import Costs
from costboost.plots._base import BinaryDisplay
from pictures import BINARY, assert_same, curve_of, legend_texts


@pytest.mark.parametrize("cls", BINARY)
@pytest.mark.parametrize("per_row", [False, True])
def test_from_estimator_equals_from_predictions(cls, rows, model, per_row):
    X, y, money, weight = rows
    costs = Costs(fp=5, fn=money if per_row else 20, positive="bad")
    one = cls.from_estimator(model, X, y, costs=costs, sample_weight=weight)
    p = model.predict_proba(X)[:, 0]  # "bad" is the first class
    other = cls.from_predictions(y, p, costs=costs, sample_weight=weight)
    assert_same(one, other)
    np.testing.assert_array_equal(curve_of(one), curve_of(other))
    assert legend_texts(one)[0].startswith("LogisticRegression: ")
    assert not legend_texts(other)[0].startswith("LogisticRegression")


class Noted(BinaryDisplay):
    """A picture that draws nothing and remembers what it was given."""

    @classmethod
    def from_predictions(cls, y, score, **given):
        noted = cls()
        noted.score, noted.given = score, given
        return noted


class NotedProbabilities(Noted):
    _probabilities_only = True


def test_columns_of_the_table_are_prices_and_what_the_user_gives_is_passed_on(rows, model):
    X, y, money, _ = rows
    frame = pd.DataFrame(np.column_stack([X, money]), columns=[*"abcdef", "money"])
    wide = make_pipeline(FunctionTransformer(lambda X: np.asarray(X)[:, :6]), clone(model))
    wide.fit(frame[::2], y[::2])
    costs = {"fp": 3, "fn": "money", "positive": "bad"}
    noted = Noted.from_estimator(wide, frame, y, costs=costs, ax="here", color="red")
    given = noted.given
    assert given["costs"].of_labels(np.repeat("bad", 200))[:, 1].tolist() == money.tolist()
    assert (given["pos_label"], given["ax"], given["color"]) == ("bad", "here", "red")
    assert given["name"] == "LogisticRegression"
    np.testing.assert_allclose(noted.score, model.predict_proba(X)[:, 0])


def test_margins_are_drawn_only_where_probabilities_are_not_needed(rows):
    X, y = rows[:2]
    svm = LinearSVC().fit(X, y)
    noted = Noted.from_estimator(svm, X, y, pos_label="bad", name="mine")
    np.testing.assert_array_equal(noted.score, -svm.decision_function(X))
    assert noted.given["costs"] is None  # none were given, and the model has none
    assert noted.given["name"] == "mine"
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        NotedProbabilities.from_estimator(svm, X, y, pos_label="bad")
