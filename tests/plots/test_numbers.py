"""Costs of numbers and calibration of quantiles as drawn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from costboost import GradientBoostRegressor, MinimumCostRegressor, NumberCosts, metrics
from costboost.plots import NumberCostDisplay, QuantileCalibrationDisplay


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 1))
    y = 20 + 50 * X[:, 0] + 10 * rng.gamma(2.0, size=400)
    return MinimumCostRegressor(LinearRegression(), random_state=0).fit(X, y), X, y


def test_the_curve_of_cost_is_the_sum_of_its_parts(fitted):
    model, X, y = fitted
    costs = NumberCosts(under=9, over=1)
    display = NumberCostDisplay.from_estimator(model, X, y, costs=costs, currency="EUR")
    orders = model.predict(X, costs=costs)
    middle = len(display.factor) // 2
    assert display.factor[middle] == 1.0
    for i in (0, middle, 80):
        paid = metrics.mean_number_cost(y, orders * display.factor[i], costs=costs)
        assert display.under[i] + display.over[i] == pytest.approx(paid)
        assert display.line_.get_ydata()[i] == pytest.approx(paid)
    assert display.own == pytest.approx(display.line_.get_ydata()[middle])
    assert abs(int(np.argmin(display.line_.get_ydata())) - middle) < 8  # decided by these prices
    assert (np.diff(display.under) <= 1e-12).all()
    assert (np.diff(display.over) >= -1e-12).all()
    assert "EUR" in display.ax_.get_ylabel()
    mean = NumberCostDisplay.from_predictions(y, model.predict(X), costs=costs, ax=display.ax_)
    assert mean.own > display.own


def test_prices_are_those_of_the_model_where_none_are_given(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="was fitted without prices"):
        NumberCostDisplay.from_estimator(model, X, y)
    trained = GradientBoostRegressor("cost", n_estimators=3, costs={"under": 3, "over": 1})
    display = NumberCostDisplay.from_estimator(trained.fit(X, y), X, y)
    assert display.own == pytest.approx(-trained.score(X, y))
    with pytest.raises(ValueError, match="span"):
        NumberCostDisplay.from_predictions(y, y, costs={"under": 1}, span=0)


def test_shares_are_drawn_against_levels(fitted):
    model, X, y = fitted
    display = QuantileCalibrationDisplay.from_estimator(model, X, y)
    assert display.levels.tolist() == pytest.approx(np.arange(1, 20) / 20)
    assert np.abs(display.observed - display.levels).max() < 0.05
    assert (display.lower <= display.observed).all()
    assert (display.upper >= display.observed).all()
    assert display.line_.get_ydata().tolist() == display.observed.tolist()
    narrow = QuantileCalibrationDisplay.from_predictions(
        y, np.tile([60.0, 61.0], (400, 1)), levels=[0.1, 0.9], confidence=None, ax=display.ax_
    )
    assert narrow.bars_ is None
    assert narrow.crps > display.crps
