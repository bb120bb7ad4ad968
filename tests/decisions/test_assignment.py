"""Rows to limited actions at the least sum of costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
