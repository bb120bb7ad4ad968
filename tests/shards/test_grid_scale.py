"""The grid that weights are put on: its scale is a power of two, and sums fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.shards.grid import grid_scale

positive = st.floats(min_value=1e-250, max_value=1e250)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50), positive, st.sampled_from([30, 62]))
def test_sums_on_the_grid_do_not_overflow(shares, largest, bits):
    shares[0] = 1.0
    scale = grid_scale(largest, len(shares), bits)
    total = sum(int(share * largest * scale + 0.5) for share in shares)
    assert total < 2**bits
    # Nor is room wasted: n and the largest value are each within a factor of two of theirs.
    assert largest * scale * len(shares) >= 2 ** (bits - 2)


@given(positive, st.integers(1, 2**31))
def test_grid_scale_is_a_power_of_two(largest, n_rows):
    assert np.frexp(grid_scale(largest, n_rows))[0] == 0.5


@given(positive, st.integers(1, 10**9), st.integers(-100, 100))
def test_grid_scale_follows_powers_of_two(largest, n_rows, exponent):
    scaled = grid_scale(largest * 2.0**exponent, n_rows)
    assert scaled * 2.0**exponent == grid_scale(largest, n_rows)


@given(st.integers(1, 1000), st.integers(0, 12))
def test_grid_scale_of_copies(n_rows, exponent):
    # Twice the rows or twice the weights: the same grid.
    assert grid_scale(3.0, n_rows << exponent) == grid_scale(3.0 * 2**exponent, n_rows)


@pytest.mark.parametrize("largest", [1e-300, 1e300, np.finfo(float).max, 5e-324, 1.0])
def test_grid_scale_of_extreme_weights(largest):
    scale = grid_scale(largest, 10**6)
    assert np.isfinite(scale)
    assert scale > 0
    assert largest * scale * 10**6 < 2**62


def test_grid_scale_of_nothing():
    assert grid_scale(0.0, 5) == 1.0
