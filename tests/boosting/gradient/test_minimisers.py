"""Minimisers against slow searches."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.gradient.minimisers import (
    LeafBounds,
    huber_delta,
    minimise,
    minimise_along,
    minimise_between,
    pinball_along,
    pinball_by_leaf,
    pinball_minimiser,
)

few = settings(max_examples=25, deadline=None)


@given(st.integers(0, 2**32), st.integers(1, 12))
@few
def test_pinball_minimiser_is_the_least(seed, n):
    rng = np.random.default_rng(seed)
    r = rng.integers(-3, 4, size=n).astype(float)
    over, under = rng.integers(0, 3, n) + 0.5, rng.integers(0, 3, n) + 0.25

    def total(v):
        return float(np.sum(np.where(v > r, over * (v - r), under * (r - v))))

    best = min(total(v) for v in r)
    assert total(pinball_minimiser(r, over, under)) == pytest.approx(best, abs=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_pinball_minimiser_is_the_least_at_prices_of_all_sizes(seed):
    """Beside the least of all kinks; a slope may be wrong by 2**-45 of the largest price."""
    rng = np.random.default_rng(seed)
    n, unit = int(rng.integers(1, 13)), 10.0 ** rng.integers(-200, 200)
    r = np.round(10 * rng.normal(size=n), int(rng.integers(-1, 3)))
    kinds = (
        lambda: rng.integers(0, 4, n) / 10,
        lambda: rng.integers(0, 4, n) * 1.0,
        lambda: 10.0 ** rng.uniform(-12, 12, n),
    )
    over, under = (kinds[rng.integers(3)]() for _ in range(2))
    if not (over.any() or under.any()):
        return

    def total(v):
        gaps = [Fraction(v) - Fraction(t) for t in r]
        paid = zip(gaps, over, under, strict=True)
        return sum(g * Fraction(a) if g > 0 else -g * Fraction(b) for g, a, b in paid)

    found = pinball_minimiser(r, over * unit, under * unit)
    span = Fraction(np.ptp(r)) * Fraction(max(over.max(), under.max()))
    assert total(found) - min(total(v) for v in r) <= span / 2**45


def test_the_median_is_the_median():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8, 101):
        y = rng.normal(size=n)
        assert pinball_minimiser(y, np.ones(n), np.ones(n)) == np.median(y)


@given(st.integers(0, 2**32))
@few
def test_weights_are_copies_for_quantiles(seed):
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 9, size=12).astype(float), rng.integers(1, 4, size=12)
    twice = np.repeat(y, w)
    one = np.ones(len(twice))
    for over, under in ((1.0, 1.0), (1.0, 9.0), (0.3, 0.1)):
        assert pinball_minimiser(y, over * w, under * w) == pinball_minimiser(
            twice, over * one, under * one
        )
    assert huber_delta(y, w.astype(float)) == huber_delta(twice, None)


def test_pinball_by_leaf_is_the_minimiser_of_each_leaf():
    rng = np.random.default_rng(2)
    r, leaves = rng.normal(size=50), rng.integers(0, 4, size=50).astype(np.uint16)
    over, under = rng.uniform(size=50), rng.uniform(size=50)
    values = pinball_by_leaf(r, over, under, leaves, 5)
    for leaf in range(4):
        rows = leaves == leaf
        assert values[leaf] == pinball_minimiser(r[rows], over[rows], under[rows])
    assert values[4] == 0.0


def test_pinball_along_is_the_least_of_a_line():
    rng = np.random.default_rng(4)
    gaps, steps = rng.normal(size=80), rng.normal(size=80)
    over, under = rng.uniform(size=80), rng.uniform(size=80)

    def total(size):
        gap = size * steps - gaps
        return float(np.sum(np.where(gap > 0, over * gap, -under * gap)))

    found = pinball_along(gaps, steps, over, under)
    assert total(found) <= min(total(found + d) for d in (-1e-3, 1e-3, -1e-6, 1e-6)) + 1e-12


def test_minimise_finds_many_minima_at_once():
    centres = np.array([0.5, 3.0, -2e4, 500.0])

    def function(v):
        # A quartic, two bowls, and an absolute value: only its sign is known.
        d = v - centres
        gradients = np.array([d[0] ** 3, d[1], d[2], np.sign(d[3])])
        return gradients, np.array([3 * d[0] ** 2, 1.0, 1.0, 0.0])

    found = minimise(function, 4, 1e5)
    np.testing.assert_allclose(found[1:], centres[1:], rtol=1e-9)
    assert found[0] == pytest.approx(0.5, abs=1e-3)


def test_minimise_stays_within_limits():
    assert minimise(lambda v: (-np.exp(-v), np.exp(-v)), 1, 7.0)[0] == 7.0
    assert minimise(lambda v: (np.exp(v), np.exp(v)), 1, 7.0)[0] == -7.0


def test_minima_between_known_ends_are_found_in_any_unit():
    for unit in 10.0 ** np.arange(-200, 201, 50):
        centres = unit * np.array([0.5, -3.0, 2.0, 7.0])
        low, high = centres - unit * np.array([1.0, 0.0, 5.0, 1e-3]), centres + unit

        def function(v, centres=centres):
            d = v - centres
            return np.append(d[:2], np.sign(d[2:])), np.array([1.0, 1.0, 0.0, 0.0])

        found = minimise_between(function, low, high)
        np.testing.assert_allclose(found, centres, rtol=1e-12)


def test_slopes_are_level_where_nothing_bends_and_only_rounding_is_left():
    bounds = LeafBounds(np.zeros(4), np.ones(4), np.full(4, 1e-17))
    slopes = bounds.level(np.array([1e-17, -2e-17, -1e-17, 1e-17]), np.array([0.0, 0.0, 1.0, 0.0]))
    assert slopes.tolist() == [0.0, -2e-17, -1e-17, 0.0]


@pytest.mark.parametrize("power", [-1000, 1000])
def test_quantiles_do_not_depend_on_the_unit_of_prices(power):
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=31), rng.uniform(0.5, 2, 31)
    far = np.ldexp(weights, power)
    assert pinball_minimiser(y, far, 3 * far) == pinball_minimiser(y, weights, 3 * weights)
    assert huber_delta(y, far) == huber_delta(y, weights)


def test_the_delta_of_huber_is_never_0():
    assert huber_delta(np.zeros(5), None) == 1.0
    assert huber_delta(np.array([0.0] * 50 + [7.0]), None) == 7.0
    assert huber_delta(np.array([3.0]), np.array([1e-300])) == 1.0
    y = np.arange(101.0)  # |y - 50|: 0, and 1 .. 50 twice
    assert huber_delta(y, None) == 45.0


def test_steps_that_lead_nowhere_have_no_size():
    one = np.ones(3)
    gaps = np.array([1.0, -2.0, 3.0])
    assert pinball_along(gaps, np.zeros(3), one, one) == 0.0
    assert pinball_along(gaps, one, 0 * one, 0 * one) == 0.0
    assert np.isfinite(pinball_along(gaps, np.full(3, 5e-324), one, one))


def test_leaves_stop_at_their_limits_along_a_line():
    # Losses exp(-F) of two leaves, the second at most 2 steps far, and 0.01 F^2 of a third.
    def derivatives(moves):
        falling = np.exp(-moves[:2])
        return np.append(-falling, 0.02 * moves[2]), np.append(falling, 0.02)

    steps, limits = np.array([0.5, 1.0, 1.0]), np.array([np.inf, 2.0, np.inf])

    def total(size):
        moves = steps * np.minimum(size, limits)
        return np.exp(-moves[:2]).sum() + 0.01 * moves[2] ** 2

    found = minimise_along(derivatives, steps, limits, 100.0)
    sizes = np.linspace(0, 20, 20_001)
    assert total(found) <= min(total(size) for size in sizes)
    assert minimise_along(lambda moves: (-np.ones(1), np.zeros(1)), np.ones(1), np.inf, 9.0) == 9.0
