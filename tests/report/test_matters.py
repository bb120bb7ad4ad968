"""What columns matter: mean sizes of contributions, or what a shuffle adds to the bill."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.report.explained import _shuffle, can_explain, what_matters
from report_cases import fraud_model, fraud_rows, two_class_rows


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Is sure of the sign of the first column, whatever the others say."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = (np.asarray(X)[:, 0] > 0).astype(float)
        return np.column_stack([1 - p, p])


def table(n, n_columns, seed=0):
    X = np.random.RandomState(seed).normal(size=(n, n_columns))
    return X, (X[:, 0] > 0).astype(np.int64)


def rows_of(truth, weight=None, **prices):
    return two_class_rows(np.full(len(truth), 0.5), truth, Costs(**prices), weight=weight)


def test_only_the_column_that_decides_is_worth_anything():
    X, y = table(400, 4)
    found = what_matters(FirstColumn(), X, rows_of(y, fp=3, fn=5), 0)
    assert (found["how"], found["rows"], found["hidden"]) == ("shuffled", 400, 0)
    assert [name for name, _ in found["bars"]] == ["x0", "x1", "x2", "x3"]
    # A shuffled sign is wrong for half of the rows, which then pay 3 or 5.
    assert found["bars"][0][1] == pytest.approx(2.0, abs=0.3)
    assert [size for _, size in found["bars"][1:]] == [0, 0, 0]


def test_what_a_shuffle_adds_is_a_weighted_mean_over_rows():
    X, y = table(300, 1)
    weight = np.random.RandomState(1).choice([0.0, 0.5, 2.0], 300)
    fn = np.arange(300) + 1.0
    found = what_matters(FirstColumn(), X, rows_of(y, weight, fp=3, fn=fn), 7)
    rng = np.random.RandomState(7)
    drawn = rng.permutation(300)
    kept = np.sort(drawn[weight[drawn] > 0])
    said = y[kept][rng.permutation(len(kept))]
    paid = np.where(said == y[kept], 0, np.where(said == 1, 3.0, fn[kept]))
    assert found["rows"] == len(kept)
    assert found["bars"][0][1] == pytest.approx(np.average(paid, weights=weight[kept]), rel=1e-5)


def test_rows_of_weight_0_are_never_the_only_ones_shuffled():
    X, y = table(9000, 2)
    weight = np.zeros(9000)
    weight[[5, 6999, 7000]] = 1.0
    found = what_matters(FirstColumn(), X, rows_of(y, weight, fp=1, fn=1), 0)
    assert found["rows"] == 3


def test_tables_that_are_too_wide_to_shuffle_are_not_judged():
    X, y = table(50, 61)
    assert what_matters(FirstColumn(), X, rows_of(y, fp=1, fn=1), 0) is None
    narrow = what_matters(FirstColumn(), X[:, :60], rows_of(y, fp=1, fn=1), 0)
    assert (len(narrow["bars"]), narrow["hidden"]) == (15, 45)


def test_models_with_trees_are_opened_and_sizes_are_means_of_contributions():
    X, y = fraud_rows(300)
    model = fraud_model()
    found = what_matters(model, X, rows_of(y, fp=1, fn=1), 0)
    opened = model.contributions(X)
    sizes = dict(zip(opened.columns, np.abs(opened.values).mean(axis=0), strict=True))
    assert (found["how"], found["unit"], found["rows"]) == ("contributions", opened.unit, 300)
    names = [name for name, _ in found["bars"]]
    assert names == sorted(sizes, key=lambda name: -sizes[name])
    for name, size in found["bars"]:
        assert size == pytest.approx(sizes[name], rel=1e-5, abs=1e-12)


def test_only_built_in_trees_open_their_answers():
    assert can_explain(fraud_model())
    assert not can_explain(CostBoostClassifier(estimator=LogisticRegression()))
    assert not can_explain(MinimumCostClassifier(LogisticRegression()))
    assert not can_explain(LogisticRegression())


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "sparse"])
def test_a_shuffle_moves_one_column_and_leaves_the_table_alone(kind):
    X = np.arange(24.0).reshape(8, 3)
    given = {
        "numpy": lambda: X.copy(),
        "pandas": lambda: pd.DataFrame(X, columns=list("abc"), index=np.arange(8)[::-1]),
        "polars": lambda: pl.DataFrame(X, schema=list("abc")),
        "sparse": lambda: csr_array(X),
    }[kind]()
    made = _shuffle(given, 1, np.random.RandomState(0))
    order = np.random.RandomState(0).permutation(8)
    wanted = X.copy()
    wanted[:, 1] = X[order, 1]
    np.testing.assert_array_equal(np.asarray(made), wanted)
    left = given.toarray() if kind == "sparse" else np.asarray(given)
    np.testing.assert_array_equal(left, X)
