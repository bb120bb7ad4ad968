"""What a fitted classifier decides, given costs."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.decisions.responses import (
    all_classes,
    check_decide,
    decisions,
    innermost,
    probabilities,
    takes,
)


class Told(ClassifierMixin, BaseEstimator):
    """Answers with the probabilities that stand in its table."""

    def __init__(self, classes=("a", "b")):
        self.classes = classes

    def fit(self, X, y):
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, : len(self.classes)]

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class Priced(Told):
    """Decides by costs itself, and remembers those that it was given."""

    def predict(self, X, costs=None):
        self.given = costs
        return np.full(len(X), "its own")


PROBA = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
DEAR = Costs(fp=1, fn=4, positive="b").bind(["a", "b"])  # b above 0.2


def told(kind=Told, **params):
    return kind(**params).fit(None, None)


def test_the_cheapest_decision_is_taken_unless_the_model_is_asked_for_its_own():
    classes = np.array(["a", "b"])
    assert decisions(told(), PROBA, DEAR, classes, "auto").tolist() == ["a", "b", "b"]
    assert decisions(told(), PROBA, DEAR, classes, "proba").tolist() == ["a", "b", "b"]
    assert decisions(told(), PROBA, DEAR, classes, "predict").tolist() == ["a", "a", "b"]


def test_a_model_that_takes_costs_is_asked_itself():
    model = told(Priced)
    classes = np.array(["a", "b"])
    assert set(decisions(model, PROBA, DEAR, classes, "auto")) == {"its own"}
    assert model.given is DEAR
    assert decisions(model, PROBA, DEAR, classes, "proba").tolist() == ["a", "b", "b"]
    answers = Costs.of_rows(np.ones((3, 2)), classes=["a", "b"])
    decisions(model, PROBA, answers, classes, "auto")
    assert model.given is None  # they contain the truth: paid, but not decided by


def test_classes_that_the_model_does_not_know_have_no_probability():
    model = told()
    y = np.array(["c", "a"])
    assert all_classes(model, y).tolist() == ["a", "b", "c"]
    assert all_classes(object(), y).tolist() == ["a", "c"]
    wide = probabilities(model, PROBA, np.array(["a", "aa", "b", "c"]))
    assert wide.tolist() == [[p, 0, q, 0] for p, q in PROBA.tolist()]
    turned = told(classes=("b", "a"))  # columns are found by their classes, not by their places
    assert probabilities(turned, PROBA, np.array(["a", "b"])).tolist() == PROBA[:, ::-1].tolist()
    with pytest.raises(ValueError, match=r"classes_ of the model has the label 'b'.*\['a'\]"):
        probabilities(model, PROBA, np.array(["a"]))


def test_models_without_probabilities_name_the_way_out():
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba.*MinimumCostClassifier"):
        probabilities(LinearSVC(), PROBA, np.array(["a", "b"]))


def test_the_model_inside_searches_and_pipelines_sees_what_they_give_it():
    X = np.arange(12.0)[:, None]
    y = np.tile([0, 1], 6)
    pipeline = make_pipeline(StandardScaler(), "passthrough", CostBoostClassifier("adamec", 2))
    pipeline.steps[1] = ("sampler", _Sampler())
    pipeline.steps[0][1].fit(X)
    model, inner = innermost(pipeline, X)
    assert model is pipeline[-1]
    assert np.array_equal(inner, StandardScaler().fit_transform(X))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Told()), {"told__classes": [(0, 1)]}, cv=2
    )
    search.fit(np.column_stack([1 - y, y]), y)
    model, inner = innermost(search, PROBA)
    assert isinstance(model, Told)
    assert np.array_equal(inner, search.best_estimator_[0].transform(PROBA))
    assert innermost(told(), PROBA)[1] is PROBA


class _Sampler(BaseEstimator):
    """Draws rows in fit, and has nothing to transform."""


def test_ways_to_decide_that_are_not_known():
    for known in ("auto", "proba", "predict"):
        check_decide(known)
    with pytest.raises(ValueError, match="decide='vote': use 'auto', 'proba' or 'predict'"):
        check_decide("vote")


def test_a_method_takes_what_its_signature_names():
    assert takes(MinimumCostClassifier(Told()).predict, "costs")
    assert not takes(Told().predict, "costs")
    assert not takes(None, "costs")
