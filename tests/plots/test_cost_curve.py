"""The cost curve drawn is that of the measures."""

import numpy as np
import pytest

from costboost import metrics
from costboost.costs import Costs
from costboost.plots import CostCurveDisplay
from pictures import curve_of


def test_cost_curve_draws_the_envelope_and_its_operating_point(scores):
    y, p = scores
    weight = np.linspace(1, 2, len(y))
    display = CostCurveDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 5}, sample_weight=weight, lines=True
    )
    pc, loss = metrics.cost_curve(y, p, sample_weight=weight)
    np.testing.assert_array_equal(curve_of(display), (pc, loss))
    assert display.area == metrics.curve_area(pc, loss)
    positives, negatives = weight[y == 1].sum(), weight[y == 0].sum()
    assert display.operating_pc == pytest.approx(5 * positives / (5 * positives + negatives))
    (x,), (at,) = display.operating_.get_data()
    assert (x, at) == (display.operating_pc, np.interp(x, pc, loss))
    fpr, fnr, _ = metrics.cost_lines(y, p, sample_weight=weight)
    ends = np.array([path[:, 1] for path in display.lines_.get_segments()])
    np.testing.assert_array_equal(ends, np.stack([fpr, fnr], axis=1))
    np.testing.assert_array_equal(display.trivial_.get_data(), ([0, 0.5, 1], [0, 0.5, 0]))


def test_the_best_threshold_reaches_the_cost_curve(scores):
    y, p = scores
    costs = Costs(fp=np.linspace(1, 3, len(y)), fn=np.linspace(9, 4, len(y)), tp=0.5, tn=0.25)
    display = CostCurveDisplay.from_predictions(y, p, costs=Costs(fp=2, fn=7))
    least = metrics.cheapest_threshold(y, p, costs={"fp": 2, "fn": 7})[1]
    normalised = least / (2 * np.mean(y == 0) + 7 * np.mean(y == 1))
    assert display.operating_.get_ydata()[0] == pytest.approx(normalised)
    stakes = np.where(y == 1, np.linspace(9, 4, len(y)) - 0.5, np.linspace(1, 3, len(y)) - 0.25)
    by_row = CostCurveDisplay.from_predictions(y, p, costs=costs)
    assert by_row.operating_pc == pytest.approx(stakes[y == 1].sum() / stakes.sum())
