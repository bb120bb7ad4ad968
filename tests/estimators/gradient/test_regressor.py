"""`GradientBoostRegressor`: losses, prices of both sides, scores in money."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from costboost.boosting.gradient.losses import HuberLoss, PinballLoss, SquaredLoss
from costboost.estimators.gradient import GradientBoostRegressor
from costboost.metrics import asymmetric_cost


def regression_sets():
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", X, y
    X, y = make_friedman1(600, random_state=0)
    yield "friedman1", X, y


REGRESSION = {name: rest for name, *rest in regression_sets()}


@pytest.mark.parametrize("name", REGRESSION)
def test_same_quality_as_scikit_learn_in_regression(name):
    X, y = REGRESSION[name]
    mine = cross_val_predict(GradientBoostRegressor(n_estimators=60), X, y, cv=3)
    other = cross_val_predict(HistGradientBoostingRegressor(max_iter=60), X, y, cv=3)
    difference = (mine - y) ** 2 - (other - y) ** 2
    assert abs(difference.mean()) <= 2 * difference.std() / np.sqrt(len(y)) + 1e-9


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
def test_weights_are_copies_in_regression(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    w = np.random.default_rng(0).integers(0, 4, size=len(y))
    options = {"n_estimators": 12, "min_samples_leaf": 1, "max_leaf_nodes": 5, "under": 3.0}
    model = GradientBoostRegressor(loss, **options).fit(X, y, sample_weight=w)
    rows = np.repeat(np.arange(len(y)), w)
    copies = GradientBoostRegressor(loss, **options).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.predict(X), copies.predict(X), rtol=1e-8)
    assert model.train_loss_ == pytest.approx(copies.train_loss_, rel=1e-9)


def test_train_loss_is_the_mean_loss():
    X, y = load_diabetes(return_X_y=True)
    for loss in ("squared", "absolute", "huber", "pinball"):
        model = GradientBoostRegressor(loss, n_estimators=4, over=2.0, under=0.5, delta=30.0)
        model.fit(X, y)
        exact = {
            "squared": SquaredLoss(),
            "absolute": PinballLoss(),
            "huber": HuberLoss(30.0),
            "pinball": PinballLoss(2.0, 0.5),
        }[loss]
        means = [exact.value(y, stage).mean() for stage in model.staged_predict(X)]
        assert model.train_loss_ == pytest.approx(means, rel=1e-12)


def test_one_tree_from_outside_is_the_lectures_algorithm():
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0)
    model = GradientBoostRegressor(estimator=tree, n_estimators=1, learning_rate=1.0).fit(X, y)
    residuals = y - y.mean()
    expected = y.mean() + clone(tree).fit(X, residuals).predict(X)
    np.testing.assert_allclose(model.predict(X), expected)
    assert model.estimator_weights_ == pytest.approx([1.0])


def test_per_row_prices_of_pinball():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2000, 1)).astype(float)
    y = rng.normal(size=2000)
    under = np.where(X[:, 0] == 1, 9.0, 1.0)
    model = GradientBoostRegressor("pinball", n_estimators=60).fit(X, y, under=under)
    low, high = model.predict([[0.0], [1.0]])
    assert low == pytest.approx(np.quantile(y[X[:, 0] == 0], 0.5), abs=0.05)
    assert high == pytest.approx(np.quantile(y[X[:, 0] == 1], 0.9), abs=0.05)
    with pytest.raises(ValueError, match="pinball"):
        GradientBoostRegressor().fit(X, y, over=2.0)


def test_regressors_score_by_money():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = 5 * X[:, 0] + rng.exponential(size=400)
    over, under = rng.uniform(1, 2, size=(2, 400))
    weight = rng.uniform(size=400)
    model = GradientBoostRegressor("pinball", 20, over=1, under=9, scoring="cost").fit(X, y)
    answer = model.predict(X)
    paid = asymmetric_cost(y, answer, over=1, under=9, sample_weight=weight)
    assert model.score(X, y, weight) == pytest.approx(-paid)
    paid = asymmetric_cost(y, answer, over=over, under=under)
    assert model.score(X, y, over=over, under=under) == pytest.approx(-paid)
    middle = GradientBoostRegressor("absolute", 20).fit(X, y).predict(X)
    assert asymmetric_cost(y, middle, over=1, under=9) > -model.score(X, y)
    plain = model.set_params(scoring="r2")
    assert plain.score(X, y) <= 1
    with pytest.raises(ValueError, match='scoring="cost"'):
        plain.score(X, y, over=2)
    with pytest.raises(ValueError, match="scoring"):
        model.set_params(scoring="money").score(X, y)


@pytest.mark.parametrize("step", ["exact", "auto", "line-search"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
@pytest.mark.parametrize("power", [-300, -30, 30, 300])
def test_answers_are_in_the_unit_of_the_targets(loss, step, power):
    """No constant of the search may have one: 2**power times the targets, times the answers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y, weights = X[:, 0] + rng.normal(size=80), rng.uniform(0.5, 2, 80)
    model = GradientBoostRegressor(loss, n_estimators=5, step=step, min_samples_leaf=5, under=2.0)
    expected = clone(model).fit(X, y, sample_weight=weights).predict(X)
    found = clone(model).fit(X, np.ldexp(y, power), sample_weight=weights).predict(X)
    np.testing.assert_allclose(np.ldexp(found, -power), expected, rtol=1e-9, atol=1e-9)
