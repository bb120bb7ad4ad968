"""`GradientBoostRegressor`: losses, prices of both sides, scores in money."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.tree import DecisionTreeRegressor

from costboost.boosting.gradient.losses import HuberLoss, PinballLoss, SquaredLoss
from costboost.costs import Costs, NumberCosts
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


# --- prices of numbers


def priced_rows(n=600):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    y = 10 * X[:, 0] + rng.gamma(2.0, 1.0 + X[:, 1])
    return X, y, rng.choice([1.0, 5.0], size=n)


def test_prices_per_unit_are_those_of_pinball_loss():
    X, y, under = priced_rows()
    pinball = GradientBoostRegressor("pinball", n_estimators=5).fit(X, y, under=under)
    priced = GradientBoostRegressor("cost", n_estimators=5)
    priced.fit(X, y, costs=NumberCosts(under=under, over=1))
    np.testing.assert_array_equal(priced.predict(X), pinball.predict(X))
    assert priced.training_costs_ == NumberCosts(under=under, over=1).mean()
    constant = GradientBoostRegressor("cost", n_estimators=5, costs={"under": 3, "over": 1})
    other = GradientBoostRegressor("pinball", n_estimators=5, under=3.0).fit(X, y)
    np.testing.assert_array_equal(constant.fit(X, y).predict(X), other.predict(X))
    absolute = GradientBoostRegressor("absolute", n_estimators=5).fit(X, y)
    unpriced = GradientBoostRegressor("cost", n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(unpriced.predict(X), absolute.predict(X))


def test_even_squared_prices_are_squared_errors():
    X, y, _ = priced_rows()
    costs = NumberCosts(under_squared=2, over_squared=2)
    priced = GradientBoostRegressor("cost", n_estimators=8, costs=costs).fit(X, y)
    squared = GradientBoostRegressor(n_estimators=8).fit(X, y)
    np.testing.assert_allclose(priced.predict(X), squared.predict(X), rtol=1e-9)
    assert priced.train_loss_ == pytest.approx(4 * squared.train_loss_)


def test_every_leaf_minimises_its_rows_prices():
    X, y, under = priced_rows(300)
    costs = NumberCosts(under=under, over=0.5, over_squared=under / 5, under_squared=0.1)
    model = GradientBoostRegressor("cost", n_estimators=1, learning_rate=1.0, max_leaf_nodes=4)
    answers = model.fit(X, y, costs=costs).predict(X)
    assert len(np.unique(answers)) == 4
    for answer in np.unique(answers):
        rows = np.flatnonzero(answers == answer)
        best, total = costs[rows].cheapest_constant(y[rows])
        assert answer == pytest.approx(best, abs=1e-6)
        assert costs[rows].total(y[rows], answer) == pytest.approx(total)


def test_early_stopping_and_scores_go_by_prices():
    X, y, under = priced_rows()
    costs = NumberCosts(under=under, over=1, over_squared=0.1)
    model = GradientBoostRegressor("cost", n_estimators=40, n_iter_no_change=3)
    held_out = (X[400:], y[400:], costs[400:])
    model.fit(X[:400], y[:400], costs=costs[:400], eval_set=held_out)
    stages = [costs[400:].of_numbers(y[400:], f).mean() for f in model.staged_predict(X[400:])]
    assert model.validation_loss_[: len(stages)] == pytest.approx(stages)
    assert model.score(X[400:], y[400:], costs=costs[400:]) == pytest.approx(-stages[-1])
    assert model.score(X, y) == -model.training_costs_.of_numbers(y, model.predict(X)).mean()


def test_prices_by_column_are_read_in_every_table():
    X, y, under = priced_rows(200)
    frame = pd.DataFrame({"a": X[:, 0], "margin": under})
    model = GradientBoostRegressor("cost", n_estimators=5, costs=NumberCosts("margin", 1))
    model.fit(frame, y, eval_set=(frame[:50], y[:50]))
    paid = NumberCosts(under, 1).of_numbers(y, model.predict(frame))
    assert model.score(frame, y) == -paid.mean()
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            GradientBoostRegressor("cost", n_estimators=3), frame, y, cv=2, error_score="raise",
            params={"costs": NumberCosts(under, 1)},
        )  # fmt: skip
    assert (found["test_score"] < 0).all()


@pytest.mark.parametrize(
    ("params", "fit", "message"),
    [
        ({"loss": "squared"}, {"costs": {"under": 2}}, r"costs were given to fit.*loss=\"cost\""),
        ({"costs": {"under": 2}}, {}, "costs were given, but loss='squared'"),
        ({"loss": "cost"}, {"under": 3.0}, "takes costs=NumberCosts"),
        ({"loss": "cost"}, {"costs": NumberCosts(1, 1, over_steps={1: 2})}, "has steps"),
        ({"loss": "cost"}, {"costs": NumberCosts([1, 2], 1)}, "have 2 rows, but X has 60"),
        ({"loss": "cost"}, {"costs": Costs(1, 2)}, "prices of classes"),
        ({"loss": "cost"}, {"costs": NumberCosts("margin", 1)}, "column 'margin'"),
        ({"loss": "cost", "costs": NumberCosts([1, 2], 1)}, {}, "holds constant costs"),
        ({"loss": "cost", "step": "newton"}, {}, "no curvature for Newton steps"),
    ],
)
def test_prices_that_cannot_be_trained_on_are_refused(params, fit, message):
    X, y, _ = priced_rows(60)
    with pytest.raises(ValueError, match=message):
        GradientBoostRegressor(**params).fit(X, y, **fit)


def test_held_out_rows_need_prices_of_the_same_kind():
    X, y, under = priced_rows(60)
    model = GradientBoostRegressor("cost", n_estimators=2)
    costs = NumberCosts(under, 1)
    for part, message in [
        ((X, y), "need their own"),
        ((X, y, np.ones((60, 2))), "takes NumberCosts"),
        ((X, y, NumberCosts(1, 1, over_squared=1)), "squared prices"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, costs=costs, eval_set=part)


def test_a_warm_start_keeps_its_prices():
    X, y, under = priced_rows(100)
    costs = {"under": 3, "over": 1}
    model = GradientBoostRegressor("cost", n_estimators=2, warm_start=True, costs=costs).fit(X, y)
    model.set_params(n_estimators=4).fit(X, y)
    whole = GradientBoostRegressor("cost", n_estimators=4, costs=costs).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    for changed in ({"under": 5, "over": 1}, NumberCosts(under, 1)):
        with pytest.raises(ValueError, match="costs is not what it was given"):
            model.set_params(n_estimators=6).fit(X, y, costs=changed)
