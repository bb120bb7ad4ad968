"""Own decisions beside hindsight, and axes over all cost ratios."""

import numpy as np
import pytest

from costboost import Costs
from costboost.metrics import normalized_cost, savings_score, total_cost
from costboost.plots import BrierCurveDisplay, CostCurveDisplay, SavingsCurveDisplay
from pictures import legend_sentences


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("positive", [1, 0])
def test_own_decisions_are_marked_where_they_are(rare, per_row, positive):
    y, p, amount = rare
    y, score = (y, p) if positive == 1 else (1 - y, p)
    fn = amount if per_row else 60.0
    costs = Costs(fp=8, tp=8, fn=fn, positive=positive).bind([0, 1])
    decided = costs.decide(np.column_stack([1 - p, p] if positive == 1 else [p, 1 - p]))
    acted = decided == positive
    saving = SavingsCurveDisplay.from_predictions(y, score, costs=costs, currency="EUR")
    nothing = np.full(len(y), 1 - positive)
    saved = total_cost(y, nothing, costs=costs) - total_cost(y, decided, costs=costs)
    assert saving.own == pytest.approx((acted.mean(), saved))
    assert saving.own_.get_xdata()[0] == pytest.approx(acted.mean())
    assert "own decisions at these costs" in legend_sentences(saving)
    share = SavingsCurveDisplay.from_predictions(y, score, costs=costs, normalize=True)
    assert share.own[1] == pytest.approx(
        savings_score(y, decided, costs=costs, baseline=1 - positive)
    )
    curve = CostCurveDisplay.from_predictions(y, score, costs=costs)
    assert curve.own_loss == pytest.approx(normalized_cost(y, decided, costs=costs))
    if not per_row:  # one threshold for all cannot beat the best of them
        least = np.interp(curve.operating_pc, curve.pc, curve.loss)
        assert curve.own_loss >= least - 1e-12
        assert saving.own[1] <= saving.best_saved + 1e-9
        at = np.interp(saving.own[0], saving.share, saving.saved)
        assert at == pytest.approx(saving.own[1])


def test_scores_that_are_no_probabilities_have_no_own_decisions(rare):
    y, p, _ = rare
    margins = np.log(p / (1 - p))
    assert SavingsCurveDisplay.from_predictions(y, margins, costs={"fp": 8, "fn": 60}).own_ is None
    assert CostCurveDisplay.from_predictions(y, margins, costs={"fp": 8, "fn": 60}).own_ is None
    assert CostCurveDisplay.from_predictions(y, p).own_ is None


def test_a_good_model_is_not_flat_at_the_bottom():
    y = np.repeat([0, 1], 100)
    p = np.where(y == 1, 0.9, 0.1) + np.linspace(-0.05, 0.05, 200)
    p[0], p[-1] = 0.93, 0.07
    for cls in (CostCurveDisplay, BrierCurveDisplay):
        display = cls.from_predictions(y, p)
        assert display.ax_.get_ylim()[1] < 2 * max(display.line_.get_ydata())


def test_rows_without_weight_do_not_move_the_place_of_costs():
    y, p = np.array([0, 1, 1]), [0.1, 0.9, 0.5]
    costs = Costs(fp=1e-300, fn=np.array([1.0, 3e-300, 1e290]))
    display = CostCurveDisplay.from_predictions(y, p, costs=costs, sample_weight=[1, 1, 0])
    assert display.operating_pc == pytest.approx(0.75)
    without = CostCurveDisplay.from_predictions(y[:2], p[:2], costs=costs[:2])
    assert display.operating_pc == without.operating_pc
