"""What explains any estimator with built-in trees, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.explain import Contributions
from costboost.explain.mixin import ranked_parts
from explained_tables import SMALL, table


def test_a_regressor_explains_its_prediction():
    X, _ = table()
    model = GradientBoostRegressor(n_estimators=5).fit(X, X["age"])
    seen = model.explain(X.iloc[[0]])
    assert seen.total == pytest.approx(model.predict(X.iloc[[0]])[0])
    assert str(seen).startswith("GradientBoostRegressor predicts")
    assert "costs" not in str(seen)


def test_what_cannot_be_explained_is_refused():
    X, y = table()
    X = X[["age", "noise"]].to_numpy()
    model = CostBoostClassifier("adaboost", estimator=DecisionTreeClassifier(max_depth=1), **SMALL)
    with pytest.raises(NotFittedError):
        model.contributions(X)
    model.fit(X, y)
    with pytest.raises(AttributeError, match="estimator=DecisionTreeClassifier"):
        model.contributions(X)
    assert not hasattr(model, "feature_importances_")
    model = CostBoostClassifier("adaboost", **SMALL).fit(sp.csr_matrix(X), y)
    with pytest.raises(ValueError, match="toarray"):
        model.contributions(sp.csr_matrix(X))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="features"):
        model.contributions(X[:, :1])


def test_selectors_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 2] + X[:, 4] > 0).astype(int)
    for model in (
        CostBoostClassifier("adaboost", **SMALL),
        CostBoostClassifier(n_estimators=20, random_state=0),
        GradientBoostClassifier(**SMALL),
        PNormBoostClassifier(**SMALL),
    ):
        chosen = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(X, y).get_support()
        assert np.flatnonzero(chosen).tolist() == [2, 4]
    kept = RFE(GradientBoostClassifier(**SMALL), n_features_to_select=2).fit(X, y)
    assert np.flatnonzero(kept.support_).tolist() == [2, 4]
    with pytest.raises(ValueError, match="feature_importances_"):
        SelectFromModel(
            CostBoostClassifier("adaboost", estimator=LogisticRegression(), **SMALL)
        ).fit(X, y).get_support()


def test_columns_without_names_are_numbered():
    X, y = table()
    model = GradientBoostClassifier(**SMALL).fit(X[["age", "noise"]].to_numpy(), y)
    assert model.contributions(X[["age", "noise"]].to_numpy()).columns == ("x0", "x1")
    named = GradientBoostClassifier(**SMALL).fit(X, y).contributions(X)
    assert named.columns == ("age", "income", "region", "noise")


def test_parts_are_ranked_by_size_and_equal_ones_stay_in_order():
    added = Contributions(np.array([[1.0, -3.0, 0.0, 3.0]]), np.zeros(1), tuple("abcd"), "margin")
    parts = ranked_parts(added, [10, 20, 30, 40])
    assert [(part.column, part.value, part.added) for part in parts] == [
        ("b", 20, -3.0),
        ("d", 40, 3.0),
        ("a", 10, 1.0),
        ("c", 30, 0.0),
    ]


@pytest.mark.parametrize("tree", [-1, 6, 1.0, "0", None])
def test_trees_that_are_not_there_are_refused(tree):
    X, y = table()
    model = GradientBoostClassifier(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match=r"tree=.*: there are 6, numbered from 0"):
        model.print_tree(tree)


def test_one_row_is_explained_and_a_sparse_one_is_not():
    X, y = table()
    X = X[["age", "noise"]].to_numpy()
    model = CostBoostClassifier("adaboost", **SMALL).fit(X, y)
    with pytest.raises(ValueError, match="explain is about one row, X has 3: give one, or use"):
        model.explain(X[:3])
    with pytest.raises(ValueError, match="explain gives a value to every column"):
        model.explain(sp.csr_matrix(X[:1]))
    with pytest.raises(ValueError, match="background gives a value to every column"):
        model.contributions(X, background=sp.csr_matrix(X[:5]))
