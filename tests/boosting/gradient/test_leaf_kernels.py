"""Derivatives on grids and in leaves, compiled and interpreted, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.gradient import _leaf_kernels
from costboost.boosting.gradient._gradient_kernels import Derivatives
from costboost.boosting.gradient.rows import read_both

few = settings(max_examples=25, deadline=None)
NONE, EVERY = np.zeros(0), np.zeros(0, dtype=np.uint8)


@given(st.integers(0, 2**32), st.integers(1, 50))
@few
def test_packed_pairs_come_apart_again(seed, n):
    rng = np.random.default_rng(seed)
    g, h = rng.normal(size=n), rng.uniform(size=n)
    packed, totals = np.zeros(n, dtype=np.int64), np.zeros(4, dtype=np.int64)
    rows = Derivatives(*read_both(g, h, NONE), False, np.empty((2, 16)))
    _leaf_kernels.pack_pairs(rows, 2.0**10, 2.0**12, 29, packed, totals)
    wide = np.zeros((n, 2), dtype=np.int64)
    total = _leaf_kernels.widen_pairs(rows, 2.0**10, 2.0**12, wide)
    np.testing.assert_array_equal(packed >> 29, wide[:, 0])
    np.testing.assert_array_equal(packed & (2**29 - 1), wide[:, 1])
    np.testing.assert_array_equal(wide[:, 0], np.trunc(g * 2.0**10 + np.copysign(0.5, g)))
    gradients = wide[:, 0]
    assert totals.tolist() == [np.abs(gradients).sum(), gradients.sum(), wide[:, 1].sum(), n]
    assert total == wide[:, 1].sum()


def test_a_single_leaf_is_that_of_all_rows(kernels, by_leaf):
    gradients, hessians = np.arange(5.0), np.ones(5)
    block = np.empty((2, 3))
    rows = kernels.Derivatives(*read_both(gradients, hessians, NONE), False, block)
    found = []
    for leaves in (np.ones(1, dtype=np.uint16), np.ones(5, dtype=np.uint16)):
        out = np.zeros((2, 4), dtype=np.int64)
        by_leaf.sum_by_leaf(rows, leaves, EVERY, 4.0, 2.0, out)
        found.append(out.tolist())
    assert found[0] == found[1] == [[0, 0, 0, 0], [40, 0, 10, 0]]


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17])
def test_blocks_end_where_the_rows_do(kernels, by_leaf, n):
    rng = np.random.default_rng(n)
    gradients, hessians = rng.integers(-9, 9, n) / 4, rng.integers(0, 9, n) / 4
    rows = kernels.Derivatives(*read_both(gradients, hessians, NONE), False, np.empty((2, 16)))
    vectors, steps = np.zeros((n, 2), np.int32), rng.integers(-3, 3, (n, 2)) / 2
    keep, out = rng.integers(0, 2, n).astype(np.uint8), np.zeros((1, 4), np.int64)
    by_leaf.put_vectors(rows, 4.0, 1, vectors)
    np.testing.assert_array_equal(vectors, np.stack([0 * gradients, 4 * gradients], axis=1))
    by_leaf.sum_along(rows, steps, 1, keep, 8.0, 16.0, out)
    alive = keep == 1 if n else slice(0)
    step = steps[alive, 1]
    expected = 8 * gradients[alive] @ step, 16 * hessians[alive] @ step**2
    assert out[0].tolist() == [expected[0], 0, expected[1], 0]
