"""Cost against capacity and coverage as drawn, beside a model's own decisions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from costboost.metrics import capacity_curve, coverage_curve
from costboost.plots import CapacityDisplay, CoverageDisplay
from pictures import legend_sentences


def test_capacity_display(lending):
    model, X, y, costs = lending
    display = CapacityDisplay.from_estimator(model, X, y, action="review", costs=costs)
    expected = model.expected_cost(X, costs=costs)
    curve = capacity_curve(y, expected, action="review", costs=costs)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.realised)
    np.testing.assert_array_equal(display.expected_.get_ydata(), curve.expected)
    plan = model.decide(X, costs=costs, capacity={"review": 5})
    assert display.shadow_price(5) == pytest.approx(plan.shadow_prices["review"])
    assert display.shadow_price(10**6) == 0.0
    assert display.own_.get_xdata()[0] == np.sum(model.predict(X, costs=costs) == "review")
    assert display.ax_.get_xlabel() == "Rows that can take review"
    plain = LogisticRegression().fit(X, y)
    other = CapacityDisplay.from_estimator(
        plain, X, y, action="review", costs=costs, ax=display.ax_, name="plain"
    )
    assert other.line_.get_color() != display.line_.get_color()
    assert legend_sentences(other)[0].startswith("MinimumCostClassifier")
    with pytest.raises(ValueError, match="negative"):
        display.shadow_price(-1)


def test_coverage_display(lending):
    model, X, y, costs = lending
    display = CoverageDisplay.from_estimator(model, X, y, costs=costs, price=5, currency="EUR")
    curve = coverage_curve(y, model.expected_cost(X, costs=costs), costs=costs, price=5)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.decided[1:])
    np.testing.assert_array_equal(display.total_.get_ydata(), curve.total)
    assert display.own_.get_xdata()[0] == curve.own
    plan = model.decide(X, costs=costs, defer=5)
    assert curve.own == pytest.approx(np.mean(plan.decisions != "defer"))
    without = CoverageDisplay.from_estimator(model, X, y, costs=costs)
    assert without.total_ is without.own_ is None
