"""Cost against threshold as drawn, and the thresholds that are marked."""

import numpy as np
import pytest

from costboost import Costs, metrics
from costboost.plots import ThresholdCostDisplay
from costboost.text import money
from pictures import curve_of, legend_sentences, legend_texts


@pytest.mark.parametrize("normalize", [True, False])
def test_threshold_curve_and_marks(scores, normalize):
    y, p = scores
    costs = {"fp": 1, "fn": 4}
    display = ThresholdCostDisplay.from_predictions(
        y, p, costs=costs, normalize=normalize, threshold=0.5
    )
    thresholds, cost = metrics.cost_by_threshold(y, p, costs=costs, normalize=normalize)
    x, drawn = curve_of(display)
    np.testing.assert_array_equal(x, [0, *thresholds[1:], 1])
    np.testing.assert_array_equal(drawn, [*cost, cost[-1]])
    measure = metrics.mean_cost if normalize else metrics.total_cost
    at_half = measure(y, (p > 0.5).astype(int), costs=costs)
    np.testing.assert_allclose(display.chosen_.get_data(), ([0.5], [at_half]))
    cheapest, _ = metrics.cheapest_threshold(y, p, costs=costs)
    np.testing.assert_allclose(display.cheapest_.get_data(), ([cheapest], [cost.min()]))
    np.testing.assert_allclose(display.price_.get_ydata(), [cost.min(), at_half])
    assert display.price_of(0.5) == pytest.approx(at_half - cost.min())
    assert display.elkan == 0.2
    np.testing.assert_array_equal(display.elkan_.get_xdata(), [0.2, 0.2])


def test_cost_at_any_threshold_follows_the_decision_rule(scores):
    y, p = scores
    display = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 4})
    at = np.concatenate([[-np.inf, np.inf, -1, 2], p, p + 1e-9])
    expected = [metrics.mean_cost(y, (p > t).astype(int), costs={"fp": 1, "fn": 4}) for t in at]
    np.testing.assert_allclose(display.cost_at(at), expected)
    assert display.price_of(at).min() >= 0
    with pytest.raises(ValueError, match="nan"):
        display.cost_at(np.nan)


def test_the_chosen_threshold_is_elkans_else_none(scores):
    y, p = scores
    assert ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 4}).chosen == 0.2
    margins = ThresholdCostDisplay.from_predictions(y, 10 * p - 4, costs={"fp": 1, "fn": 4})
    assert margins.elkan is None
    assert margins.elkan_ is None
    assert margins.chosen is margins.chosen_ is margins.price_ is None
    assert margins.cheapest_ is not None
    assert "in hindsight" in legend_texts(margins)[0]
    told = ThresholdCostDisplay.from_predictions(y, p, probability=False)
    assert told.elkan is None
    always = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 5, "fn": 1, "tp": 3})
    assert always.elkan is None  # acting never pays
    assert always.chosen == np.inf
    assert always.chosen_.get_xdata()[0] == 1
    assert "no row positive" in legend_texts(always)[0]


def test_costs_per_row_are_drawn_as_a_line(scores):
    y, p = scores
    costs = Costs(fp=10, fn=np.linspace(1, 300, len(y)), tp=10)
    display = ThresholdCostDisplay.from_predictions(
        y, p, costs=costs, currency="EUR", normalize=False
    )
    decided = costs.bind([0, 1]).decide(np.stack([1 - p, p], axis=1))
    total = metrics.total_cost(y, decided, costs=costs)
    assert display.elkan is None
    np.testing.assert_allclose(display.by_row_.get_ydata(), [total, total])
    assert any(money(total, "EUR") in text for text in legend_texts(display))
    answers = Costs.of_rows(np.stack([1.0 - y, 3.0 * y], axis=1)[:, ::-1])
    assert ThresholdCostDisplay.from_predictions(y, p, costs=answers).cost_by_row is None


def test_extreme_costs_are_seen(rows, model):
    X, y, _, _ = rows
    costs = Costs(fp=1, fn=10_000, positive="bad")
    display = ThresholdCostDisplay.from_estimator(model, X, y, costs=costs)
    display.figure_.canvas.draw()
    assert display.ax_.get_xscale() == "logit"
    assert display.ax_.get_yscale() == "log"
    axes = display.ax_.get_window_extent()
    for mark in (display.chosen_, display.cheapest_):
        at = display.ax_.transData.transform(np.array(mark.get_data()).T)[0]
        assert axes.x0 <= at[0] <= axes.x1
        assert axes.y0 <= at[1] <= axes.y1
    linear = ThresholdCostDisplay.from_estimator(
        model, X, y, costs=costs, xscale="linear", yscale="linear"
    )
    assert (linear.ax_.get_xscale(), linear.ax_.get_yscale()) == ("linear", "linear")
    later = ThresholdCostDisplay.from_estimator(model, X, y, costs=costs, ax=linear.ax_)
    assert later.ax_.get_xlim()[0] == pytest.approx(display.ax_.get_xlim()[0])


def test_a_logarithmic_axis_ends_where_its_marks_can_be_told_apart(scores):
    display = ThresholdCostDisplay.from_predictions(
        *scores, costs={"fp": 1, "fn": 20}, xscale="log"
    )
    assert display.ax_.get_xscale() == "log"
    display.figure_.canvas.draw()
    axes = display.ax_.get_window_extent()
    at = display.ax_.transData.transform(np.array(display.chosen_.get_data()).T)[0, 0]
    assert axes.x0 + 0.1 * axes.width < at < axes.x1 - 0.1 * axes.width


def test_costs_per_row_choose_no_threshold(rare):
    y, p, amount = rare
    display = ThresholdCostDisplay.from_predictions(y, p, costs=Costs(fp=8, tp=8, fn=amount))
    assert display.chosen is display.chosen_ is None
    assert display.by_row_ is not None
    assert any("own decisions, row by row" in text for text in legend_sentences(display))
    assert "cheapest on these rows, in hindsight" in legend_sentences(display)
    given = ThresholdCostDisplay.from_predictions(
        y, p, costs=Costs(fp=8, tp=8, fn=amount), threshold=0.3
    )
    assert given.chosen_.get_xdata()[0] == 0.3


def test_costs_of_calling_all_positive_do_not_flatten_the_rest(rare):
    y, p, _ = rare
    display = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 8, "fn": 60, "tp": 8})
    top = display.ax_.get_ylim()[1]
    assert display.ax_.get_yscale() == "log" or display.cost[-1] > 0.3 * top
