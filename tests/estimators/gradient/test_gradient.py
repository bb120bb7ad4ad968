"""Gradient boosting: agreement with scikit-learn, and the two estimators."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.boosting.gradient.learner import ordered_values
from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor

# --- agreement with scikit-learn -----------------------------------------------------------------


def test_the_first_tree_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(2)
    y = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=60)
    options = {"learning_rate": 0.1, "max_leaf_nodes": 6, "min_samples_leaf": 5}
    pairs = [
        (GradientBoostRegressor, HistGradientBoostingRegressor, y),
        (GradientBoostClassifier, HistGradientBoostingClassifier, (y > 0).astype(int)),
    ]
    for ours, theirs, target in pairs:
        model = ours(n_estimators=1, **options)
        if ours is GradientBoostClassifier:
            model.set_params(max_step=None)
        model.fit(X, target)
        peer = theirs(max_iter=1, early_stopping=False, **options).fit(X, target)
        nodes = peer._predictors[0][0].nodes
        tree = model._model.members[0].forest.tree(0)
        inner = ~nodes["is_leaf"].astype(bool)
        is_split = tree.feature >= 0
        mine = sorted(zip(tree.feature[is_split], tree.threshold[is_split], strict=True))
        other = sorted(zip(nodes["feature_idx"][inner], nodes["num_threshold"][inner], strict=True))
        assert [f for f, _ in mine] == [f for f, _ in other]
        np.testing.assert_allclose([t for _, t in mine], [t for _, t in other], rtol=1e-7)
        leaves = np.sort(tree.value[tree.feature < 0, 0])
        np.testing.assert_allclose(leaves, np.sort(nodes["value"][~inner]), rtol=1e-5)
        np.testing.assert_allclose(model.start_, peer._baseline_prediction.ravel(), rtol=1e-6)


# --- estimators ----------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        # Small leaves: scikit-learn's tables have fewer rows than two leaves of 20.
        GradientBoostClassifier(n_estimators=10, min_samples_leaf=1, max_leaf_nodes=8),
        GradientBoostRegressor(n_estimators=10, min_samples_leaf=1, max_leaf_nodes=8),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_monotonic_constraints_hold():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(size=500)
    options = {"n_estimators": 40, "min_samples_leaf": 5, "monotonic_cst": [1, -1, 0]}
    grid = np.linspace(-2, 2, 60)
    models = [
        GradientBoostRegressor(loss, **options).fit(X, y)
        for loss in ("squared", "absolute", "huber")
    ]
    models += [
        GradientBoostRegressor("absolute", step="line-search", **options).fit(X, y),
        GradientBoostClassifier("exponential", **options).fit(X, y > 0.5),
        GradientBoostClassifier(step="exact", **options).fit(X, y > 0.5),
    ]
    for model in models:
        score = model.predict if hasattr(model, "over") else model.decision_function
        for base in X[:20]:
            for column, way in ((0, 1), (1, -1)):
                line = np.repeat(base[None, :], len(grid), axis=0)
                line[:, column] = grid
                assert np.all(way * np.diff(score(line)) >= -1e-9)
        assert np.ptp(score(X)) > 0.1


def test_constraints_by_name_and_their_errors():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    frame["c"] = pd.Categorical(rng.choice(["x", "y"], 80))
    y = frame["a"].to_numpy()
    GradientBoostRegressor(n_estimators=2, monotonic_cst={"a": 1}).fit(frame, y)
    for given, message in (
        ({"z": 1}, "'z', which X does not have"),
        ([1, 0], "each of the 3 columns"),
        ({"b": 2}, "monotonic_cst says 2 of column 'b'"),
        ([0, 0, 1], "constrains column 'c', whose categories have no order"),
    ):
        with pytest.raises(ValueError, match=message):
            GradientBoostRegressor(n_estimators=2, monotonic_cst=given).fit(frame, y)
    with pytest.raises(ValueError, match="two classes"):
        GradientBoostClassifier(monotonic_cst=[1, 0, 0]).fit(frame, np.arange(80) % 3)


def test_missing_values_and_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "c": rng.choice(list("uvwx"), 300)})
    y = (frame["a"] > 0).to_numpy() ^ frame["c"].isin(["u", "x"]).to_numpy()
    frame.loc[::7, "a"] = np.nan
    frame["c"] = frame["c"].astype("category")
    model = GradientBoostClassifier(n_estimators=30, min_samples_leaf=5).fit(frame, y)
    assert np.mean(model.predict(frame) == y) > 0.9


def test_ordered_values_of_a_tree_by_hand():
    from types import SimpleNamespace

    tree = SimpleNamespace(
        left=np.array([1, -1, -1]),
        feature=np.array([0, -1, -1]),
        leaves=np.array([1, 2]),
        sums=np.array([[0, 4], [0, 3], [0, 1]]),
    )
    rising = np.array([1], dtype=np.int8)
    assert ordered_values(tree, np.array([1.0, 2.0]), rising).tolist() == [1.0, 2.0]
    assert ordered_values(tree, np.array([2.0, 1.0]), rising).tolist() == [1.5, 1.5]
    assert ordered_values(tree, np.array([1.0, 2.0]), -rising).tolist() == [1.5, 1.5]


# ---------------------------------------------------------------- max_step and prices


def test_max_step_is_in_the_unit_of_the_margins_of_cost_exponential_loss():
    """Pure leaves move by max_step / 2 over the price of their rows, however cheap they are."""
    X, y = np.repeat([0.0, 1.0], 20)[:, None], np.repeat([0, 1], 20)
    price = np.repeat([1.0, 0.01], 20)
    model = GradientBoostClassifier(
        "cost-exponential", n_estimators=1, step="exact", learning_rate=1.0, min_samples_leaf=1
    ).fit(X, y, costs=Costs.of_rows(price))
    moved = model.decision_function([[0.0], [1.0]]) - model.decision_function([[0.0]]).mean()
    np.testing.assert_allclose(np.ptp(moved), 2.0 / 1.0 + 2.0 / 0.01, rtol=1e-9)


@pytest.mark.parametrize("step", ["newton", "exact"])
def test_one_dear_row_does_not_hold_the_others_back(step):
    X, y = load_breast_cancer(return_X_y=True)
    price = np.ones(len(y))
    price[7] = 100.0
    model = GradientBoostClassifier(
        "cost-exponential", n_estimators=100, step=step, random_state=0, min_samples_leaf=5
    ).fit(X, y, costs=Costs.of_rows(price))
    assert model.train_cost_[-1] < 2.0  # at most one row of 569 is wrong


def clipped_loss(size, steps, limits, leaves, a):
    """The loss after every leaf moved by step * min(size, limit), by a loop over rows."""
    moves = steps * np.minimum(size, limits)
    return math.fsum(math.exp(min(-a[i] * moves[leaves[i]], 600.0)) for i in range(len(a)))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("spread", [0, 2, 6])
def test_a_line_search_takes_the_best_step_at_prices_of_all_sizes(noise, spread):
    """SciPy searches the same line; leaves whose rows all aim one way stop at max_step / |a|."""
    rng = np.random.default_rng(spread)
    X, price = rng.normal(size=(300, 3)), 10.0 ** rng.uniform(-spread, spread, 300)
    y = ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(300) < noise)).astype(int)
    options = {"step": "line-search", "n_estimators": 1, "learning_rate": 1.0, "init": "zero"}
    model = GradientBoostClassifier(
        "cost-exponential", **options, max_leaf_nodes=8, min_samples_leaf=5
    ).fit(X, y, costs=Costs.of_rows(price))
    moved = model.decision_function(X)
    a = np.where(y == 1, price, -price) / price.max()
    places, leaves = np.unique(moved, return_inverse=True)
    rows = [leaves == leaf for leaf in range(len(places))]
    steps = np.array([a[inside].mean() for inside in rows])
    units = np.array([np.abs(a[inside]).mean() for inside in rows])
    pure = np.array([len(set(y[inside])) == 1 for inside in rows])
    limits = np.where(pure, 2.0 / (units * np.abs(steps)), np.inf)
    found = [
        minimize_scalar(
            lambda log_size: clipped_loss(math.exp(log_size), steps, limits, leaves, a),
            bounds=(low, low + 4),
            method="bounded",
            options={"xatol": 1e-10},
        )
        for low in range(-4, 40, 4)
    ]
    size = np.max(places[~pure] / steps[~pure]) if not pure.all() else 1e300
    np.testing.assert_allclose(places, steps * np.minimum(size, limits), rtol=1e-6)
    ours = clipped_loss(size, steps, limits, leaves, a)
    assert ours <= min(best.fun for best in found) * (1 + 1e-9)


def test_max_step_does_not_hold_a_line_search_back_over_twelve_decades_of_prices():
    X, y = load_breast_cancer(return_X_y=True)
    price = 10.0 ** np.random.default_rng(0).uniform(-6, 6, len(y))
    paid = {
        (step, bound): GradientBoostClassifier(
            "cost-exponential", step=step, max_step=bound, min_samples_leaf=5
        )
        .fit(X, y, costs=Costs.of_rows(price))
        .train_cost_[-1]
        for step, bound in (("line-search", 4.0), ("line-search", None), ("newton", 4.0))
    }
    assert paid["line-search", 4.0] <= paid["newton", 4.0]
