"""Tables wider than the first cache, and columns that are cut by comparing; see also `trees`."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.shards import _tree_kernels
from interpreted import load_interpreted

NOWHERE, NONE = np.zeros(0, dtype=np.uint32), np.zeros(0)


@pytest.fixture(scope="module", params=["installed", "interpreted"])
def kernels(request):
    if request.param == "installed":
        return _tree_kernels
    return load_interpreted("shards._tree_kernels")[0]


def added_up(codes, values):
    """Return the sum of values by column and code, (d, 256)."""
    return np.array(
        [[values[column == code].sum() for code in range(256)] for column in codes.T],
        dtype=np.int64,
    )


@pytest.mark.parametrize("d", [1, 13, 14, 15, 27, 29, 43])
@pytest.mark.parametrize("factored", [False, True])
def test_columns_of_a_wide_table_are_added_up_in_turns(kernels, d, factored):
    rng = np.random.default_rng(d)
    ends = np.array([3, 60])
    begins = np.array([0, 3])
    codes = rng.integers(0, 256, size=(60, d)).astype(np.uint8)
    weights, scales = rng.integers(1, 99, 60).astype(float), np.array([1.0, 4.0])
    factors = rng.integers(1, 9, 60).astype(float) if factored else NONE
    hist = np.zeros((2, d, 256), dtype=np.int64)
    where = (codes, NOWHERE, True, begins, ends)
    kernels.class_histogram(*where, weights, factors, scales, hist.reshape(-1))
    values = (weights * (factors if factored else 1.0)).astype(int)
    expected = [added_up(codes[a:b], values[a:b]) for a, b in zip(begins, ends, strict=True)]
    assert_array_equal(hist, [expected[0], 4 * expected[1]])


@pytest.mark.parametrize("n", [2047, 2048, 2049, 9000])
def test_blocks_of_rows_meet(n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 256, size=(n, 29)).astype(np.uint8)
    where = (codes, NOWHERE, True, np.array([0]), np.array([n]))
    values = rng.integers(1, 1 << 40, n)
    hist = np.zeros((29, 256), dtype=np.int64)
    rest = (values.astype(float), NONE, np.ones(1), hist.reshape(-1))
    _tree_kernels.class_histogram(*where, *rest)
    assert_array_equal(hist, added_up(codes, values))
    gradients, hessians = rng.integers(-(1 << 20), 1 << 20, n), rng.integers(0, 1 << 16, n)
    pairs, part = np.zeros((29, 256, 2), dtype=np.int64), np.zeros(29 * 256, dtype=np.int64)
    packed = (gradients * 2**29 + hessians, 29, 8191, part, pairs.reshape(-1))
    _tree_kernels.packed_histogram(*where, *packed)
    assert_array_equal(pairs[..., 0], added_up(codes, gradients))
    assert_array_equal(pairs[..., 1], added_up(codes, hessians))
    assert not part.any()


def first(n, *, missing=False):
    goes = np.zeros(256, dtype=np.uint8)
    goes[:n] = 1
    goes[255] = missing
    return goes


CUTS = [first(n, missing=missing) for n in (0, 1, 100, 254, 255) for missing in (False, True)]
SUBSETS = [np.random.default_rng(0).integers(0, 2, 256).astype(np.uint8), 1 - first(1)]


@pytest.mark.parametrize("goes_left", [*CUTS, *SUBSETS])
@pytest.mark.parametrize("numbers", [(0, 1), (7, 3), (65535, 0)])
def test_a_column_on_its_own_is_cut_as_one_among_others(kernels, goes_left, numbers):
    rng = np.random.default_rng(1)
    codes = rng.permutation(np.repeat(np.arange(256), 3)).astype(np.uint8)[:, None]
    begins, ends = np.array([0, 100, 100]), np.array([100, 100, 768])
    found = []
    for table, column in ((codes, 0), (np.hstack([codes[::-1], codes]), 1)):
        leaves = np.full(768, 9, dtype=np.uint16)
        where = (table, column, goes_left, NOWHERE, True, begins, ends)
        n_left = kernels.assign_split(*where, *numbers, leaves)
        assert n_left == goes_left[codes[:, 0]].sum()
        found.append(leaves)
    assert_array_equal(found[0], np.where(goes_left[codes[:, 0]], *numbers))
    assert_array_equal(*found)
