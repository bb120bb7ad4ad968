"""Bounds on mean costs: against slow twins, and by simulation: as often right as promised."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from costboost import Costs
from costboost.costs import uncertain
from costboost.guarantee import (
    METHODS,
    CostBound,
    cost_bound,
    mean_bound,
    mean_p_value,
    rate_p_value,
    rounded_up,
    wealth_p_value,
)

# Slow twins


def naive_p_value(x, mean, delta):
    """Play the game row by row; return 1 over the largest wealth."""
    n, wealth, most = len(x), 1.0, 1.0
    total, squares, variance = 0.5, 0.25, 0.25
    for t, value in enumerate(x, start=1):
        bet = math.sqrt(2 * math.log(1 / delta) / (n * variance))
        bet = min(bet, 0.75 / (1 - mean))
        wealth *= 1 + bet * (mean - value)
        most = max(most, wealth)
        total += value
        squares += (value - total / (t + 1)) ** 2
        variance = squares / (t + 1)
    return 1 / most


def naive_bound(x, delta, p_value):
    """Return the first mean on a fine grid, from the seen one upwards, that is rejected."""
    if np.mean(x) == 1:
        return 1.0
    for mean in np.linspace(np.mean(x), 1, 2001)[:-1]:
        if p_value(x, mean, delta) <= delta:
            return mean
    return 1.0


def naive_hoeffding_bentkus(x, mean, delta):
    n, seen = len(x), float(np.mean(x))
    if seen >= mean:
        return 1.0
    kl = sum(a * math.log(a / b) for a, b in ((seen, mean), (1 - seen, 1 - mean)) if a > 0)
    tail = sum(
        math.comb(n, k) * mean**k * (1 - mean) ** (n - k) for k in range(math.ceil(sum(x)) + 1)
    )
    return min(math.exp(-n * kl), math.e * tail)


unit = st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.5, 1.0]), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(unit, st.sampled_from([0.5, 0.9, 0.99]))
def test_bounds_are_those_of_slow_twins(x, confidence):
    delta = 1 - confidence
    twins = {"betting": naive_p_value, "hoeffding-bentkus": naive_hoeffding_bentkus}
    for method, twin in twins.items():
        p = mean_p_value(x, 0.7, 0, 1, confidence=confidence, method=method, random_state=None)
        assert p == pytest.approx(min(1, twin(x, 0.7, delta)), rel=1e-9)
        found = mean_bound(x, 0, 1, confidence=confidence, method=method, random_state=None)
        assert found == pytest.approx(naive_bound(x, delta, twin), abs=1 / 1900)
    bound = np.mean(x) + math.sqrt(math.log(1 / delta) / (2 * len(x)))
    assert_allclose(
        mean_bound(x, 0, 1, confidence=confidence, method="hoeffding"), min(1, bound), rtol=1e-9
    )


@settings(max_examples=25, deadline=None)
@given(unit, st.integers(-5000, 5000), st.floats(1e-3, 1e3))
def test_bounds_move_and_scale_with_the_prices(x, thousandths, size):
    x, low = np.array(x), thousandths / 1000
    for method in METHODS:
        plain = mean_bound(x, 0, 1, method=method)
        # limits and values rounded alike
        values = np.clip(low + size * x, low, low + size)
        moved = mean_bound(values, low, low + size, method=method)
        assert moved == pytest.approx(low + size * plain, rel=1e-6, abs=1e-6 * size)
        assert np.mean(x) <= plain <= 1


def test_the_wealth_of_a_fair_game_stays_what_it_was_on_average():
    """Over all outcomes of a small game, weighted by their probabilities, exactly."""
    q = 0.3  # mean of a coin
    for n in (1, 4, 8):
        total = 0.0
        for code in range(2**n):
            x = np.array([(code >> k) & 1 for k in range(n)], dtype=float)
            weight = q ** x.sum() * (1 - q) ** (n - x.sum())
            before = np.array(
                [math.sqrt(2 * math.log(20) / (n * _variance(x[:t]))) for t in range(n)]
            )
            bets = np.minimum(before, 0.75 / (1 - q))
            total += weight * np.prod(1 + bets * (q - x))
            assert wealth_p_value(x, before, q) <= 1
        assert total == pytest.approx(1, abs=1e-12)


def _variance(x):
    if not len(x):
        return 0.25
    means = (0.5 + np.cumsum(x)) / (np.arange(len(x)) + 2)
    return (0.25 + np.sum((x - means) ** 2)) / (len(x) + 1)


def test_the_rate_p_value_is_the_binomial_tail():
    tail = sum(
        math.comb(30, k) * Fraction(1, 20) ** k * Fraction(19, 20) ** (30 - k) for k in range(3)
    )
    assert rate_p_value(2, 30, 0.05) == pytest.approx(float(tail))
    assert rate_p_value(30, 30, 1) == 0
    assert rate_p_value(0, 0, 0.05) == 1


# Simulations: six kinds of data whose mean is known

SIZES = (20, 200, 1000)


def _wrong_probabilities(generator, n):
    """Bills of decisions by probabilities that are far from right; returns the costs."""
    p = generator.beta(1, 9, n)
    y = generator.random(n) < p
    said = p**0.3  # much too large
    costs = Costs(fp=8, fn=40).bind([0, 1])
    return costs.of_decisions(y.astype(int), costs.decide(np.stack([1 - said, said], axis=1))) / 40


def _true_wrong():
    # positive where p ** 0.3 > 1 / 6: false alarms 8 (1 - p), misses 40 p
    cut = (8 / 48) ** (1 / 0.3)
    law = stats.beta(1, 9)
    missed = law.expect(lambda p: p, lb=0, ub=cut) * 40
    return (missed + law.expect(lambda p: 1 - p, lb=cut, ub=1) * 8) / 40


KINDS = {
    "rare": (lambda g, n: (g.random(n) < 0.003).astype(float), lambda: 0.003),
    "rarer than rows": (lambda g, n: (g.random(n) < 2e-4).astype(float), lambda: 2e-4),
    "six decades": (
        lambda g, n: np.where(g.random(n) < 0.05, 10 ** g.uniform(-6, 0, n), 0.0),
        lambda: 0.05 * (1 - 1e-6) / math.log(1e6),
    ),
    "ties": (lambda g, n: g.choice([0, 0.2, 1.0], n, p=[0.5, 0.4, 0.1]), lambda: 0.18),
    "nearly always full": (lambda g, n: (g.random(n) < 0.97).astype(float), lambda: 0.97),
    "wrong probabilities": (_wrong_probabilities, _true_wrong),
}


def misses(kind, n, repetitions, confidence, method):
    """Return how often the bound lies below the true mean."""
    draw, mean = KINDS[kind]
    true, generator = mean(), np.random.default_rng([n, repetitions])
    delta, failed = 1 - confidence, 0
    for _ in range(repetitions):
        x = draw(generator, n)
        # The bound lies below the mean exactly where a mean that is no larger is rejected.
        p = mean_p_value(x, true, 0, 1, confidence=confidence, method=method, random_state=None)
        failed += p <= delta
    return failed


def most_misses(repetitions, delta):
    """Return how many misses a right bound exceeds once in a million simulations."""
    return stats.binom.ppf(1 - 1e-6, repetitions, delta)


@pytest.mark.parametrize("kind", KINDS)
def test_coverage_in_short(kind):
    for method in ("betting", "hoeffding-bentkus"):
        assert misses(kind, 200, 300, 0.9, method) <= most_misses(300, 0.1)


@pytest.mark.scale
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_coverage_over_ten_thousand_repetitions(kind, n):
    for confidence in (0.9, 0.95, 0.99):
        for method in ("betting", "hoeffding-bentkus"):
            failed = misses(kind, n, 10_000, confidence, method)
            assert failed <= most_misses(10_000, 1 - confidence), (confidence, method)


def test_p_values_and_bounds_agree():
    generator = np.random.default_rng(0)
    for kind, (draw, _) in KINDS.items():
        x = draw(generator, 150)
        bound = mean_bound(x, 0, 1)
        for factor in (0.999, 1.001):
            p = mean_p_value(x, min(bound * factor, 0.9999999), 0, 1)
            assert (p <= 0.05) == (factor > 1 and bound < 1), kind


# Costs of decisions, and words


def test_the_bound_of_decisions():
    y = np.array([0, 1] * 100)
    decided = np.where(np.arange(200) < 10, 1 - y, y)
    bound = cost_bound(y, decided, costs={"fp": 8, "fn": 40})
    assert (bound.low, bound.high, bound.n_rows, bound.mean) == (0, 40, 200, 1.2)
    paid = np.where(decided == y, 0, np.where(y == 1, 40, 8))
    assert bound.upper == mean_bound(paid, 0, 40)
    named = np.array(["good", "bad"])
    again = cost_bound(named[y], named[decided], costs=Costs(fp=8, fn=40, positive="bad"))
    assert again == bound
    frame = pd.DataFrame({"amount": np.full(200, 40.0)})
    by_column = Costs(fp=8, fn="amount")
    assert cost_bound(y, decided, costs=by_column, X=frame, cap=40) == bound
    negative = cost_bound(y, decided, costs=Costs(fp=8, fn=40, tp=-10, benefits=True))
    assert negative.low == -10
    assert negative.upper < bound.upper


def test_the_order_of_the_rows_is_shuffled_by_the_seed():
    sorted_ones = np.repeat([0.0, 1.0], [500, 40])
    bounds = {mean_bound(sorted_ones, 0, 1, random_state=seed) for seed in (0, 1, None)}
    assert len(bounds) == 3
    assert mean_bound(sorted_ones, 0, 1) == mean_bound(sorted_ones, 0, 1, random_state=0)


def test_sentences():
    bound = CostBound(0.6001, 0.5, 0.95, 900, 0.0, 10.0, "betting")
    assert bound.sentence("EUR").endswith("is at most EUR 0.61.")
    assert str(bound).startswith("With 95 % confidence the average bill of such rows")
    few = cost_bound([0, 1], [0, 1], costs={"fp": 8, "fn": 40})
    assert few.upper <= 40
    nothing = CostBound(40.0, 0.0, 0.95, 1, 0.0, 40.0, "betting")
    assert str(nothing) == "1 row allow no promise below 40, the most that a row can cost."


@given(st.floats(-1e9, 1e9))
def test_amounts_are_rounded_up_never_down(amount):
    shown = rounded_up(amount)
    assert shown >= amount
    assert shown - amount <= max(1.01, 0.01 * abs(amount))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_bound([0.5, 2], 0, 1), r"contain 2, outside of \[0, 1\]"),
        (
            lambda: cost_bound([0, 1], [0, 1], costs=Costs(fp=1, fn=uncertain(5, low=0.5, high=2))),
            "not known exactly",
        ),
        (lambda: mean_bound([0.5], 1, 0), "the lower one first"),
        (lambda: mean_bound([0.5], 0, math.inf), "finite limits"),
        (lambda: mean_bound([[0.5]], 0, 1), "one number per row"),
        (lambda: mean_bound([0.5], 0, 1, confidence=95), "confidence=95"),
        (lambda: mean_bound([0.5], 0, 1, method="bets"), "method"),
        (
            lambda: cost_bound([0, 1], [0, 1], costs=Costs(fp=1, fn=[2, 3])),
            "cap=...; here",
        ),
        (lambda: cost_bound([0, 1], [0, 0], costs=Costs(fp=1, fn=[2, 3]), cap=2), "above cap=2"),
        (
            lambda: cost_bound([0, 1], [0, 0], costs=Costs(fp=1, fn=3), floor=1),
            "A row costs 0, below floor=1",
        ),
        (
            lambda: cost_bound([0, 1], [0, 1], costs=Costs(fp=1, fn=3), cap=math.inf),
            "finite amount",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
