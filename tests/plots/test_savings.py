"""Savings as drawn: curve, peak, ranking and axes."""

import numpy as np
import pytest

from costboost import Costs, metrics
from costboost.plots import SavingsCurveDisplay
from costboost.text import money, percent
from pictures import curve_of, legend_texts


@pytest.mark.parametrize("normalize", [True, False])
def test_savings_curve_and_its_peak(scores, normalize):
    y, p = scores
    costs = Costs(fp=10, fn=np.linspace(1, 300, len(y)), tp=10)
    display = SavingsCurveDisplay.from_predictions(
        y, p, costs=costs, normalize=normalize, currency="EUR"
    )
    x, saved = metrics.savings_curve(y, p, costs=costs, normalize=normalize)
    np.testing.assert_array_equal(curve_of(display), (x, saved))
    best = int(np.argmax(saved))
    np.testing.assert_array_equal(display.peak_.get_data(), ([x[best]], [saved[best]]))
    np.testing.assert_array_equal(display.random_.get_ydata(), [0, saved[-1]])
    text = percent(saved[best]) if normalize else money(saved[best], "EUR")
    assert text in legend_texts(display)[0]


def test_savings_ranked_by_what_is_expected_to_be_saved(scores):
    y, p = scores
    labels = np.where(y == 1, "fraud", "ok")
    fn = np.linspace(300, 1, len(y))
    costs = Costs(fp=10, fn=fn, tp=10, positive="fraud")
    display = SavingsCurveDisplay.from_predictions(labels, p, costs=costs, rank_by="saving")
    expected = metrics.savings_curve(labels, p * fn - 10, costs=costs)
    np.testing.assert_allclose(curve_of(display), expected)
    with pytest.raises(ValueError, match="rank_by='amount'"):
        SavingsCurveDisplay.from_predictions(labels, p, costs=costs, rank_by="amount")


def test_the_savings_axis_says_what_rows_were_ranked_by(scores):
    y, p = scores[:2]
    for rank_by, words in (("score", "highest scores first"), ("saving", "savings first")):
        display = SavingsCurveDisplay.from_predictions(y, p, rank_by=rank_by)
        assert display.ax_.get_xlabel().endswith(words)
    assert "score" not in display.ax_.get_xlabel()


def test_acting_that_never_pays_saves_nothing():
    display = SavingsCurveDisplay.from_predictions(
        [0, 0, 1], [0.9, 0.8, 0.1], costs={"fp": 9, "fn": 1}
    )
    assert (display.best_share, display.best_saved) == (0, 0)
    assert legend_texts(display)[0] == "saves nothing"


def test_savings_end_soon_after_the_rows_that_pay(rare):
    y, p, amount = rare
    costs = Costs(fp=8, tp=8, fn=amount)
    display = SavingsCurveDisplay.from_predictions(y, p, costs=costs)
    end = display.ax_.get_xlim()[1]
    assert max(display.best_share, display.own[0]) < end < 0.6
    low, high = display.ax_.get_ylim()
    assert low < 0 < display.best_saved < high < 1.2 * display.best_saved
    worse = SavingsCurveDisplay.from_predictions(y, np.sqrt(p), costs=costs, ax=display.ax_)
    assert worse.ax_.get_xlim()[1] >= end
    rng = np.random.default_rng(0)
    half = rng.integers(0, 2, 100)
    common = SavingsCurveDisplay.from_predictions(half, rng.uniform(size=100))
    assert common.ax_.get_xlim() == (0, 1)
