"""Arrays and sparse matrices, read column by column."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from binning_cases import mixed_matrix
from costboost.binning.binner import fit_binner


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative", "read-only", "swapped"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layouts_give_the_same_codes(layout, dtype):
    X = mixed_matrix(dtype=dtype)
    binner = fit_binner(X)
    codes = binner.encode(X)
    other = {
        "C": X.copy,
        "F": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "negative": lambda: X[::-1].copy()[::-1],
        "read-only": X.copy,
        "swapped": lambda: X.astype(X.dtype.newbyteorder()),
    }[layout]()
    other.flags.writeable = layout != "read-only"
    assert fit_binner(other) == binner
    np.testing.assert_array_equal(binner.encode(other), codes)
    assert codes.flags.c_contiguous
    assert codes.dtype == np.uint8


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.longdouble, np.int8, np.uint16, np.int32, np.int64, bool]
)
def test_types_of_numbers(dtype):
    X = np.random.default_rng(0).integers(0, 120, (300, 3)).astype(dtype)
    reference = X.astype(np.float64)
    for max_bins in (5, 255):
        binner = fit_binner(X, max_bins=max_bins)
        assert binner == fit_binner(reference, max_bins=max_bins)
        np.testing.assert_array_equal(binner.encode(X), binner.encode(reference))


@settings(max_examples=50)
@given(st.integers(0, 1000), st.sampled_from([3, 20, 255]), st.booleans())
def test_sparse_equals_dense(seed, max_bins, weighted):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-30, 30, (150, 4)) * (rng.random((150, 4)) < 0.3) / 4
    dense[:, 3] = rng.random(150)  # no zeros to leave out
    dense[rng.random((150, 4)) < 0.05] = np.nan
    weights = rng.integers(0, 4, 150) if weighted else None
    binner = fit_binner(dense, weights, max_bins=max_bins, categorical_features=[1])
    for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        X = make(dense)
        assert binner == fit_binner(X, weights, max_bins=max_bins, categorical_features=[1])
        np.testing.assert_array_equal(binner.encode(X), binner.encode(dense))


def test_sparse_duplicates_are_summed_and_the_input_is_untouched():
    X = sparse.csr_matrix(([1.0, 2.0, 5.0], [0, 0, 0], [0, 2, 3, 3]), shape=(3, 1))
    binner = fit_binner(X)
    assert binner.edges[0].tolist() == [1.5, 4.0]  # 0 | 3 | 5
    assert binner.encode(X).ravel().tolist() == [1, 2, 0]
    assert X.nnz == 3


def test_wide_sparse_matrices_are_not_made_dense():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 5_000, 10_000), rng.integers(0, 2_000, 10_000)
    X = sparse.coo_array((rng.random(10_000), cells), shape=(5_000, 2_000))
    tracemalloc.start()
    binner = fit_binner(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # dense floats would be 80 MB
    assert binner.n_features == 2_000
