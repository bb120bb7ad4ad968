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
from costboost.binning.table_reading import DenseTable, ObjectTable, SparseTable, weigh_rows


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


@pytest.mark.filterwarnings("ignore:Column .* has .* categories")
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


def test_numbers_stay_small_where_that_loses_nothing():
    for dtype, held in (("f4", 4), ("f2", 4), ("i2", 4), ("?", 4), ("i4", 8), ("f8", 8)):
        table = DenseTable(np.ones((3, 2), dtype=dtype))
        assert table.itemsize() == held
        assert table.numbers(1, 0, 3).dtype.itemsize == held
        assert next(iter(table.copy_columns([1]))).dtype.itemsize == held
    exact = np.array([[2**24 + 1]], dtype=np.int32)  # which float32 cannot hold
    assert DenseTable(exact).numbers(0, 0, 1).tolist() == [2**24 + 1]


def test_fields_of_packed_records_are_read():
    records = np.zeros(4, dtype=[("flag", "u1"), ("x", "<f8", (2,))])
    records["x"] = np.arange(8.0).reshape(4, 2)
    X = records["x"]
    assert not X.flags.aligned
    table = DenseTable(X)
    assert table.array.flags.aligned
    assert [part.tolist() for part in table.copy_columns([1, 0])] == [[1, 3, 5, 7], [0, 2, 4, 6]]


@pytest.mark.parametrize("weights", [None, [1, 0, 2, 1, 0], [1, 1, 0, 1, 1], [0, 0, 0, 0, 1]])
def test_samples_of_a_sparse_column_are_those_of_the_dense_one(weights):
    dense = np.array([[0.0, 3], [2, 0], [0, 0], [2, np.nan], [-1, 0]])
    rows = weigh_rows(weights, 5)

    def totals(table, j):
        ((values, units),) = table.samples([j], rows)
        units = np.ones(len(values), dtype=int) if units is None else units
        found = {}
        for value, unit in zip(values.tolist(), units.tolist(), strict=True):
            assert unit > 0
            found[str(value)] = found.get(str(value), 0) + unit
        return found

    sparse_table = SparseTable(sparse.csr_array(dense))
    for j in range(2):
        assert totals(sparse_table, j) == totals(DenseTable(dense), j)
        np.testing.assert_array_equal(sparse_table.numbers(j, 1, 4), dense[1:4, j])


def test_columns_of_objects_are_read_in_part():
    table = ObjectTable(np.array([["a", 1], [None, 2.5], ["a", None]], dtype=object))
    assert [table.is_categorical(j) for j in range(2)] == [True, False]
    codes, keys = table.keys(0, 1, 3)
    assert (codes.tolist(), keys) == ([-1, 0], ["a"])
    np.testing.assert_array_equal(table.numbers(1, 1, 3), [2.5, np.nan])
    with pytest.raises(ValueError, match="Column 0 holds strings where numbers are expected"):
        table.numbers(0, 0, 3)
