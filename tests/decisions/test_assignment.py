"""Rows to limited actions at the least sum of costs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from costboost.decisions.assignment import assign


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 5))
def test_no_exchange_saves_anything(seed, n, m):
    """Optimality from within: prices exist under which every row has its cheapest action."""
    rng = np.random.default_rng(seed)
    regrets = rng.integers(0, 9, size=(n, m))
    capacities = rng.integers(0, n + 1, size=m)
    capacities[-1] += max(0, n - capacities.sum())
    taken, prices = assign(regrets, capacities)
    counts = np.bincount(taken, minlength=m)
    assert np.all(counts <= capacities)
    assert np.all(prices >= 0)
    assert np.all(prices[counts < capacities] == 0)
    chosen = (regrets + prices)[np.arange(n), taken]
    assert np.array_equal(chosen, (regrets + prices).min(axis=1))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 5))
def test_of_rows_that_are_alike_the_first_choose_first(seed, n, m):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 4, size=n)
    regrets = rng.integers(0, 4, size=(4, m))[kinds]
    capacities = rng.integers(0, n + 1, size=m)
    capacities[-1] += max(0, n - capacities.sum())
    taken, _ = assign(regrets, capacities)
    for kind in range(4):
        rows = np.flatnonzero(kinds == kind)
        assert np.all(np.diff(regrets[rows, taken[rows]]) >= 0)


@pytest.mark.parametrize("block", range(8))
def test_least_regret_where_all_places_are_taken(block):
    """Against SciPy, with a column for each place; some actions are one row too full to begin."""
    for seed in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(20, 60)), int(rng.integers(4, 7))
        regrets = rng.integers(0, rng.choice([10, 1000]), size=(n, m))
        capacities = rng.multinomial(n, np.ones(m) / m)
        taken, _ = assign(regrets, capacities)
        assert np.array_equal(np.bincount(taken, minlength=m), capacities)
        places = np.repeat(np.arange(m), capacities)
        rows, columns = linear_sum_assignment(regrets[:, places])
        least = regrets[rows, places[columns]].sum()
        assert regrets[np.arange(n), taken].sum() == least, seed


@pytest.mark.parametrize("n", [5_000, 70_000])
@pytest.mark.parametrize("rounded", [False, True])
def test_samples_of_rows_only_save_time(n, rounded):
    """Beyond some thousand rows prices start from a sample, and the result is the optimum."""
    rng = np.random.default_rng(0)
    regrets = rng.integers(0, 30 if rounded else 2**55, size=(n, 4))
    capacities = np.array([n // 10, n // 5, n // 2, n - n // 10 - n // 5 - n // 2])
    taken, prices = assign(regrets, capacities)
    assert np.bincount(taken, minlength=4).tolist() == capacities.tolist()
    chosen = (regrets + prices)[np.arange(n), taken]
    assert np.array_equal(chosen, (regrets + prices).min(axis=1))


def least(regrets, capacities):
    n, m = regrets.shape
    fits = (
        taken
        for taken in itertools.product(range(m), repeat=n)
        if all(np.bincount(taken, minlength=m) <= capacities)
    )
    return min(sum(regrets[i, a] for i, a in enumerate(taken)) for taken in fits)


@pytest.mark.parametrize("seed", range(12))
def test_least_regret_and_savings_against_all_assignments(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(2, 4))
    regrets = rng.integers(0, [4, 2**59][seed % 2], size=(n, m))
    capacities = rng.integers(0, n + 1, size=m)
    capacities[0] += max(0, n - capacities.sum())
    taken, savings = assign(regrets, capacities)
    total = int(regrets[np.arange(n), taken].sum())
    assert total == least(regrets, capacities)
    for a in range(m):
        more = capacities + (np.arange(m) == a)
        assert savings[a] == total - least(regrets, more)


def test_equal_rows_fill_the_cheap_places():
    regrets = np.array([[0, 5]] * 4)
    taken, savings = assign(regrets, np.array([2, 4]))
    assert sorted(taken.tolist()) == [0, 0, 1, 1]
    assert savings.tolist() == [5, 0]


def test_one_action_that_holds_all_is_taken():
    taken, savings = assign(np.zeros((3, 1), dtype=np.int64), np.array([3]))
    assert taken.tolist() == [0, 0, 0]
    assert savings.tolist() == [0]
    taken, savings = assign(np.array([[0, 7]]), np.array([0, 1]))
    assert (taken.tolist(), savings.tolist()) == ([1], [7, 0])
