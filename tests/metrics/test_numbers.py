"""Costs of predicted numbers, quantiles and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from costboost import NumberCosts, metrics
from costboost.costs import NumberDistribution

LEVELS = np.arange(1, 200) / 200


def test_costs_are_sums_and_means_with_weights():
    rng = np.random.default_rng(0)
    y, a, under = rng.normal(size=(3, 50)) ** 2
    weights = rng.integers(0, 3, size=50)
    costs = NumberCosts(under, 2, over_steps={"10%": under})
    paid = costs.of_numbers(y, a)
    rows = np.repeat(np.arange(50), weights)
    total = metrics.total_number_cost(y, a, costs=costs, sample_weight=weights)
    assert total == pytest.approx(paid[rows].sum())
    mean = metrics.mean_number_cost(y, a, costs=costs, sample_weight=weights)
    assert mean == pytest.approx(paid[rows].mean())
    plain = {"costs": NumberCosts(under, 2), "sample_weight": weights}
    asymmetric = metrics.asymmetric_cost(y, a, over=2, under=under, sample_weight=weights)
    assert metrics.mean_number_cost(y, a, **plain) == pytest.approx(asymmetric)
    for level in (0.1, 0.5, 0.9):
        theirs = mean_pinball_loss(y, a, alpha=level, sample_weight=weights)
        ours = metrics.pinball_loss(y, a, level=level, sample_weight=weights)
        assert ours == pytest.approx(theirs)


def test_savings_are_against_the_best_constant_or_a_forecast():
    y, a = np.array([1.0, 2.0, 3.0, 8.0]), np.array([1.0, 2.0, 3.0, 4.0])
    costs = NumberCosts(under=3, over=1)
    best, paid = costs.cheapest_constant(y)
    score = metrics.number_savings_score(y, a, costs=costs)
    assert score == pytest.approx(1 - 12 / paid)
    assert metrics.number_savings_score(y, np.full(4, best), costs=costs) == 0.0
    assert metrics.number_savings_score(y, y, costs=costs, baseline=a) == 1.0
    assert metrics.number_savings_score(y, a, costs=costs, baseline=y) == -np.inf


def test_crps_of_many_quantiles_is_that_of_the_distribution():
    spread = NumberDistribution.of(np.random.default_rng(0).normal(size=400))
    y = np.linspace(-2, 2, 9)
    quantiles = np.tile(spread.quantile(LEVELS), (9, 1))
    for i in range(9):
        found = metrics.crps(y[[i]], quantiles[[i]], levels=LEVELS)
        assert found == pytest.approx(spread.crps(y[[i]])[0], rel=0.01)
    certain = np.repeat(y[:, None] + 1.5, len(LEVELS), axis=1)
    assert metrics.crps(y, certain, levels=LEVELS) == pytest.approx(1.5)


def test_coverage_and_frequencies_count_rows_by_weight():
    y, ends = [1.0, 2.0, 3.0], [[0, 1], [2.5, 3], [3, 4]]
    assert metrics.interval_coverage(y, ends) == pytest.approx(2 / 3)
    assert metrics.interval_coverage(y, ends, sample_weight=[1, 2, 1]) == 0.5
    found = metrics.quantile_frequencies(y, np.tile([1.5, 2.5], (3, 1)), levels=[0.2, 0.8])
    assert found == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: metrics.total_number_cost([1, 2], [1], costs={"under": 1}), "y_pred has 1 rows"),
        (lambda: metrics.total_number_cost([1, np.nan], [1, 2], costs={"under": 1}), "y_true"),
        (lambda: metrics.mean_number_cost([1], [2], costs=None), "costs must be NumberCosts"),
        (lambda: metrics.mean_number_cost([1], [2], costs=NumberCosts([1, 2])), "have 2 rows"),
        (
            lambda: metrics.number_savings_score([1, 2], [1, 2], costs={"over": 1}, baseline=[1]),
            "baseline has 1 rows",
        ),
        (lambda: metrics.pinball_loss([1], [2], level=1.5), "level"),
        (lambda: metrics.crps([1, 2], [[1, 2]], levels=[0.1, 0.9]), "quantiles have shape"),
        (lambda: metrics.crps([1], [[1, 2]], levels=[0.9, 0.1]), "rising list"),
        (lambda: metrics.crps([1], [[1, 2]], levels=[0.0, 0.5]), "strictly between 0 and 1"),
        (lambda: metrics.interval_coverage([1], [[2, 1]]), "lower end first"),
    ],
)
def test_wrong_input_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
