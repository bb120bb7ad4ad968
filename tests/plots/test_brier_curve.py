"""The Brier curve drawn is that of the measures."""

import numpy as np
import pytest

from costboost import metrics
from costboost.costs import Costs
from costboost.plots import BrierCurveDisplay
from pictures import curve_of, legend_texts


@pytest.mark.parametrize("skew", [False, True])
def test_brier_curve_has_the_brier_score_as_area(scores, skew):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p, skew=skew)
    np.testing.assert_array_equal(curve_of(display), metrics.brier_curve(y, p, skew=skew))
    expected = np.mean(metrics.brier_score_by_class(y, p)) if skew else metrics.brier_score(y, p)
    assert display.area == pytest.approx(expected)
    assert f"{expected:.3g}" in legend_texts(display)[0]


def test_brier_curve_marks_constant_costs_and_shades_costs_per_row(scores):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 3})
    cost = metrics.mean_cost(y, (p > 0.25).astype(int), costs={"fp": 0.5, "fn": 1.5})
    np.testing.assert_allclose(display.operating_.get_data(), ([0.25], [cost]))
    fn = np.linspace(1, 9, len(y))
    band = BrierCurveDisplay.from_predictions(y, p, costs=Costs(fp=1, fn=fn))
    at = np.sort(1 / (1 + fn))
    assert band.operating == (at[len(y) // 4 - 1], at[3 * len(y) // 4 - 1])
    skewed = BrierCurveDisplay.from_predictions(y, p, costs=Costs(fp=1, fn=fn), skew=True)
    share_of = fn[y == 1].sum() / (fn[y == 1].sum() + np.sum(y == 0))
    np.testing.assert_allclose(skewed.operating, 1 - share_of)


def test_brier_trivial_lines_are_those_of_constant_answers(scores):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p)
    peak = metrics.brier_curve(y, np.full(len(y), np.mean(y)))
    np.testing.assert_allclose(max(display.trivial_.get_ydata()), peak[1].max())
