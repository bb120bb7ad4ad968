"""Cost against threshold, gain, lift and savings, against the naive twins."""

import numpy as np
import pytest
from hypothesis import given

from costboost.costs import Costs
from costboost.metrics import (
    cheapest_threshold,
    cost_by_threshold,
    gain_curve,
    lift_curve,
    savings_curve,
    savings_score,
    total_cost,
)
from metric_rows import CLOSE, QUICK, priced_rows
from naive import metrics as naive


@QUICK
@pytest.mark.filterwarnings("ignore:In these costs the right answer")
@given(priced_rows())
def test_cost_by_threshold_equals_the_naive_twin(case):
    y, p, _, w, given_costs = case
    costs, table = Costs(**given_costs), naive.table(y, **given_costs)
    thresholds, cost = cost_by_threshold(y, p, costs=costs, sample_weight=w)
    for t, value in zip(thresholds, cost, strict=True):
        wanted = naive.cost_at_threshold(table, p, w, t)
        np.testing.assert_allclose(value, wanted, rtol=1e-10, atol=1e-10)
    _, total = cost_by_threshold(y, p, costs=costs, sample_weight=w, normalize=False)
    np.testing.assert_allclose(total, cost * w.sum(), **CLOSE)
    t, best = cheapest_threshold(y, p, costs=costs, sample_weight=w)
    assert best == cost.min()
    np.testing.assert_allclose(naive.cost_at_threshold(table, p, w, t), best, atol=1e-10)


def test_cheapest_threshold_between_neighbouring_floats_and_at_the_ends():
    low = 0.5
    high = np.nextafter(low, 1)
    assert cheapest_threshold([0, 1], [low, high]) == (low, 0.0)
    assert cheapest_threshold([0, 0], [0.2, 0.8]) == (np.inf, 0.0)
    assert cheapest_threshold([1, 1], [0.2, 0.8]) == (-np.inf, 0.0)


@QUICK
@given(priced_rows())
@pytest.mark.filterwarnings("ignore:In these costs")
def test_gain_lift_and_savings_curves_equal_the_naive_twin(case):
    y, p, _, w, given_costs = case
    costs, table = Costs(**given_costs), naive.table(y, **given_costs)
    options = {"costs": costs, "sample_weight": w}
    share, saved = savings_curve(y, p, **options)
    groups = sorted(set(p[w > 0]), reverse=True)
    wanted = [(0.0, 0.0, 0.0)] + [naive.captured(table, p, w, t) for t in groups]
    np.testing.assert_allclose(share, [v[0] for v in wanted], **CLOSE)
    np.testing.assert_allclose(saved, [v[2] for v in wanted], rtol=1e-9, atol=1e-9)
    at_stake = wanted[-1][1]
    if at_stake == 0:
        with pytest.raises(ValueError, match="nothing"):
            gain_curve(y, p, **options)
        return
    _, gain = gain_curve(y, p, **options)
    np.testing.assert_allclose(gain, [v[1] / at_stake for v in wanted], **CLOSE)
    share, lift = lift_curve(y, p, **options)
    np.testing.assert_allclose(lift, gain[1:] / share, **CLOSE)
    _, relative = savings_curve(y, p, normalize=True, **options)
    np.testing.assert_allclose(relative, saved / at_stake, rtol=1e-9, atol=1e-9)


@QUICK
@pytest.mark.filterwarnings("ignore:In these costs")
@given(priced_rows())
def test_savings_over_the_cheaper_end_of_the_curve_are_those_of_the_savings_score(case):
    y, p, _, w, given_costs = case
    options = {"costs": Costs(**given_costs), "sample_weight": w}
    _, saved = savings_curve(y, p, **options)
    over = saved - max(0.0, saved[-1])
    for at, threshold in enumerate([np.inf, *sorted(set(p[w > 0]), reverse=True)]):
        decided = (p >= threshold).astype(int)
        constants = [total_cost(y, np.full(len(y), k), **options) for k in (0, 1)]
        paid = total_cost(y, decided, **options)
        np.testing.assert_allclose(over[at], min(constants) - paid, rtol=1e-9, atol=1e-9)
        if min(constants) > 0:
            score = savings_score(y, decided, **options)
            np.testing.assert_allclose(over[at] / min(constants), score, rtol=1e-9, atol=1e-9)


def test_rankings_refuse_other_than_two_classes():
    with pytest.raises(ValueError, match="two classes"):
        cost_by_threshold([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="earn"):
        gain_curve([0, 1], [0.1, 0.2], costs=Costs(fp=1, fn=1, tn=-1, benefits=True))
    with pytest.raises(ValueError, match="normalize"):
        savings_curve([0, 0], [0.1, 0.2], normalize=True)


def test_the_positive_class_is_that_of_the_costs():
    y, p_bad = ["bad", "good", "bad"], [0.9, 0.2, 0.4]
    costs = Costs(fp=1, fn=10, positive="bad")
    assert cheapest_threshold(y, p_bad, costs=costs) == (pytest.approx(0.3), 0.0)


def test_the_cheapest_threshold_never_rounds_up_to_the_row_it_should_catch():
    low = np.nextafter(1.0, 2.0)
    high = np.nextafter(low, 2.0)
    assert low / 2 + high / 2 == high  # their middle is rounded to the even one
    assert cheapest_threshold([0, 1], [low, high]) == (low, 0.0)
    far = cheapest_threshold([0, 1], [-1.5e308, 1.7e308])
    assert far == (pytest.approx(0.1e308), 0.0)
