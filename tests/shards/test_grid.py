"""Exact sums, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.shards.grid import (
    REMAINDER,
    exact_count,
    exact_sum,
    grid_scale,
    rounded,
    to_floats,
)

few = settings(max_examples=100, deadline=None)
doubles = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(doubles)
@few
def test_doubles_of_all_sizes_are_added_without_rounding(values):
    total = sum((Fraction(value) for value in values), Fraction(0))
    assert Fraction(exact_sum(np.array(values)), 1 << 1200) == total


@given(doubles, st.randoms())
@few
def test_exact_sums_do_not_depend_on_order_and_parts(values, chance):
    whole = exact_sum(np.array(values))
    chance.shuffle(values)
    cut = len(values) // 3
    assert exact_sum(np.array(values[:cut])) + exact_sum(np.array(values[cut:])) == whole


def test_the_nearest_number_is_returned():
    values = [1.0, 2.0**-53, 2.0**-105, 1e300, -1e300, 5e-324, -5e-324]
    assert rounded(exact_sum(np.array(values))) == math.fsum(values) == 1.0 + 2.0**-52
    assert rounded(exact_sum(np.array([5e-324]))) == 5e-324
    assert rounded(exact_sum(np.zeros(0))) == 0.0
    assert rounded(exact_sum(np.full(3, -1e-300))) == math.fsum([-1e-300] * 3)


def test_many_equal_numbers_do_not_overflow():
    largest = np.full(100_000, np.nextafter(2.0, 1.0))
    assert exact_sum(largest) == 100_000 * exact_sum(largest[:1])
    assert exact_sum(-largest) == -exact_sum(largest)


def test_counts_are_exact_sums():
    assert exact_count(7) == exact_sum(np.full(7, 1.0))
    assert rounded(exact_count(10**15)) == 1e15


def test_units_and_remainders_are_put_together():
    sums = np.array([[[3, 2**39], [-3, 2**38]]])
    np.testing.assert_array_equal(to_floats(sums, 2.0, total=5.0), [[0.35, -0.275]])
    # The product of scale and total would be infinite.
    assert to_floats(np.array([2**60, 0]), 2.0**1000, 2.0**500) == 0.0
    assert to_floats(np.array([0, int(REMAINDER)]), 2.0**1000, 2.0**-500) == 2.0**-500


@pytest.mark.parametrize("largest", [math.inf, math.nan])
def test_sums_that_overflow_are_refused_with_a_remedy(largest):
    with pytest.raises(ValueError, match="use larger units"):
        grid_scale(largest, 10)


@pytest.mark.parametrize("largest", [1e-300, 5e-324, 1e-5, 1.0, 1e300, 1.7e308])
@pytest.mark.parametrize("n_rows", [1, 1000, 10**9])
@pytest.mark.parametrize("bits", [30, 62])
def test_scales_use_the_grid_without_overflow(largest, n_rows, bits):
    scale = grid_scale(largest, n_rows, bits)
    assert n_rows * Fraction(scale) * Fraction(largest) < 2**bits
    if largest > 1e-290:  # smaller ones have no finite scale that is large enough
        assert 8 * n_rows * Fraction(scale) * Fraction(largest) >= 2**bits
