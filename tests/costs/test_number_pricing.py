"""Distributions of numbers: smoothing, tails, expected costs and the cheapest answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from costboost.costs import NumberCosts, NumberDistribution
from tests.naive import numbers as naive


def drawn(seed):
    """Return a distribution, prices as a dict, a location and a scale."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    values = np.round(3.0 * rng.normal(size=n), int(rng.integers(0, 4)))
    spread = NumberDistribution.of(values, rng.integers(1, 4, size=n).astype(float))
    names = ("under", "over", "under_squared", "over_squared", "fixed")
    prices = {name: rng.uniform(0.1, 4.0) for name in names if rng.uniform() < 0.6}
    prices.setdefault("under", rng.uniform(0.1, 4.0))
    if rng.uniform() < 0.5:
        prices["over_steps"] = {"10%": rng.uniform(0.0, 5.0), 2.0: 1.0}
    if rng.uniform() < 0.5:
        prices["under_steps"] = {0.7: rng.uniform(0.0, 5.0), "25%": 2.0}
    return spread, prices, np.array([5.0 * rng.normal()]), np.array([rng.uniform(0.5, 4.0)])


@settings(max_examples=60)
@given(st.integers(0, 10_000))
@example(233)  # much mass in one place, beside which a step begins
def test_the_cheapest_number_beats_every_other(seed):
    spread, prices, location, scale = drawn(seed)
    costs = NumberCosts(**prices)
    best = costs.cheapest(spread, location, scale)
    least = costs.expected(spread, location, scale, best)[0]
    ends = location[0] + scale[0] * spread.knots[[0, -1]]
    grid = np.linspace(min(ends[0], 0.0) - 1.0, max(ends[1], 0.0) + 1.0, 1501)
    n = len(grid)
    others = costs.expected(spread, np.repeat(location, n), np.repeat(scale, n), grid)
    assert least <= others.min() + 1e-9 * (1.0 + abs(others.min()))


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_expected_costs_are_means_over_the_distribution(seed):
    spread, prices, location, scale = drawn(seed)
    values = naive.points(spread, location[0], scale[0])
    for answer in (location[0] - 1.3 * scale[0], location[0] + 0.4 * scale[0]):
        found = NumberCosts(**prices).expected(spread, location, scale, np.array([answer]))[0]
        mean = naive.expected(prices, values, answer)
        assert found == pytest.approx(mean, rel=3e-3, abs=3e-3)


def test_knots_are_in_order_and_levels_go_from_0_to_1():
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=5000), rng.integers(0, 3, size=50), rng.standard_cauchy(800)):
        spread = NumberDistribution.of(np.asarray(values, dtype=float))
        assert (np.diff(spread.knots) >= 0).all()
        assert (np.diff(spread.levels) >= 0).all()
        assert (spread.levels[0], spread.levels[-1]) == (0.0, 1.0)
        levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
        up_to = spread.cdf(spread.quantile(levels))
        assert (up_to >= levels - 1e-9).all()  # values that many rows share hold mass
        assert len(set(values)) == 3 or up_to == pytest.approx(levels, abs=1e-9)
        assert len(spread.knots) < 320


def test_a_weight_of_k_is_k_values():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=40).round(1), rng.integers(0, 4, size=40)
    one = NumberDistribution.of(values, weights.astype(float))
    two = NumberDistribution.of(np.repeat(values, weights))
    np.testing.assert_allclose(one.knots, two.knots)
    np.testing.assert_allclose(one.levels, two.levels)


def test_a_single_value_is_certain():
    spread = NumberDistribution.of(np.zeros(7))
    assert (spread.mean, spread.quantile(np.array(0.9)), spread.cdf(np.array(-1e-9))) == (0, 0, 0)
    seven, one = np.array([7.0]), np.ones(1)
    for costs in (NumberCosts(2, 1), NumberCosts(over_squared=1, under_squared=1)):
        assert costs.cheapest(spread, seven, one).tolist() == [7.0]
    stepped = NumberCosts(2, 1, over_steps={"10%": 4})
    assert stepped.cheapest(spread, seven, one).tolist() == [7.0]
    assert stepped.expected(spread, seven, one, np.array([9.0])).tolist() == [6.0]


def test_tails_fall_off_as_an_exponential_does():
    values = np.random.default_rng(0).exponential(size=4000)
    spread = NumberDistribution.of(values)
    far = spread.quantile(np.array([1 - 1e-4, 1 - 1e-6]))
    assert np.diff(far)[0] == pytest.approx(np.log(100), rel=0.3)


def test_half_a_row_lies_beyond_the_outermost():
    spread = NumberDistribution.of(np.arange(1.0, 101.0))
    # The ten outermost lie 5.5 from the eleventh, on average.
    for halvings in (0, 1, 2, 5):
        mass = 0.005 * 0.5**halvings
        beyond = 5.5 * halvings * np.log(2.0)
        found = spread.quantile(np.array([mass, 1.0 - mass]))
        assert found == pytest.approx([1.0 - beyond, 100.0 + beyond])


def test_crps_is_the_integral_of_squared_errors():
    spread = NumberDistribution.of(np.random.default_rng(1).normal(size=30))
    t = np.array([-2.0, 0.3, 5.0])
    grid = np.linspace(-30, 30, 600_001)
    steps = grid[:, None] >= t
    integral = ((spread.cdf(grid)[:, None] - steps) ** 2).sum(axis=0) * (grid[1] - grid[0])
    assert spread.crps(t) == pytest.approx(integral, rel=1e-3)


def test_of_ten_thousand_rows_each_has_its_own_prices():
    rng = np.random.default_rng(0)
    spread = NumberDistribution.of(rng.normal(size=500))
    under, over = rng.uniform(0.1, 9.0, size=(2, 300))
    location, scale = rng.normal(size=300), rng.uniform(1, 2, size=300)
    costs = NumberCosts(under, over, over_steps={"5%": under})
    together = costs.cheapest(spread, location, scale)
    for i in (0, 7, 299):
        alone = costs[[i]].cheapest(spread, location[[i]], scale[[i]])
        assert alone.tolist() == [together[i]]
