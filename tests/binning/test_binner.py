"""Binning: codes and edges against naive twins, invariances, memory, and the result."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from costboost.binning import columns, cutting, encoding
from costboost.binning.binner import MISSING, Binner, fit_binner
from interpreted import load_interpreted
from naive import binning as naive

# Few distinct values make ties and heavy values; all floats make everything else.
LEVELS = st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1.0, 1.5, 3.0, 1e30, np.inf, np.nan])
FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
COLUMNS = st.one_of(
    st.lists(LEVELS, min_size=1, max_size=60),
    st.lists(FLOATS, min_size=1, max_size=60),
    st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=200),
)
MAX_BINS = st.sampled_from([2, 3, 4, 7, 16, 255])

large = pytest.mark.skipif(
    not encoding.kernels.is_compiled(), reason="too many rows for interpreted kernels"
)


@st.composite
def weighted_columns(draw):
    values = draw(COLUMNS)
    sizes = st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))
    weights = draw(sizes.filter(any))
    return np.array(values), np.array(weights)


def column(values, dtype=np.float64):
    return np.array(values, dtype=dtype)[:, np.newaxis]


def interpreted_kernels():
    (module,) = load_interpreted("binning._binning_kernels", hide_cython=False)
    assert not module.is_compiled()
    return module


def mixed_matrix(n=400, seed=0, dtype=np.float32):
    """Columns of different kinds: continuous, few values, heavy zeros, skewed, all missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(dtype)
    X[:, 1] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.6, 2] = 0
    X[:, 3] = np.exp(3 * X[:, 3])
    X[rng.random(n) < 0.2, 4] = np.nan
    X[:, 5] = np.nan
    return X


# Edges


@given(weighted_columns(), MAX_BINS)
def test_edges_equal_the_naive_twins(data, max_bins):
    values, weights = data
    binner = fit_binner(column(values), weights, max_bins=max_bins)
    assert binner.edges[0].tolist() == naive.edges(values, weights, max_bins)
    assert binner.has_missing[0] == np.isnan(values[weights > 0]).any()
    assert binner.n_bins[0] == len(binner.edges[0]) + 1 <= max_bins


@given(weighted_columns(), MAX_BINS)
def test_weight_k_equals_k_copies(data, max_bins):
    values, weights = data
    X = column(values)
    weighted = fit_binner(X, weights, max_bins=max_bins)
    assert weighted == fit_binner(np.repeat(X, weights, axis=0), max_bins=max_bins)
    assert weighted == fit_binner(X, weights * 0.125, max_bins=max_bins)
    assert weighted == fit_binner(X[weights > 0], weights[weights > 0], max_bins=max_bins)


@given(weighted_columns(), MAX_BINS, st.randoms(use_true_random=False))
def test_edges_do_not_depend_on_the_order_of_rows(data, max_bins, random):
    values, weights = data
    weights = weights * 0.1 + (weights > 0) / 3  # sums of these depend on their order in floats
    order = list(range(len(values)))
    random.shuffle(order)
    straight = fit_binner(column(values), weights, max_bins=max_bins)
    assert straight == fit_binner(column(values)[order], weights[order], max_bins=max_bins)


@given(weighted_columns(), MAX_BINS)
def test_weighted_float32_equals_weighted_float64(data, max_bins):
    # Weights below 2 ** 32 are sorted with float32 values as one integer each.
    values, weights = data[0].astype(np.float32), data[1]
    values[::3] *= -1  # also NaN with a sign, which must still sort last
    for chosen in (None, [0]):
        options = {"max_bins": max_bins, "categorical_features": chosen}
        small = fit_binner(column(values, np.float32), weights, **options)
        assert small == fit_binner(column(values, np.float64), weights, **options)


@given(COLUMNS, MAX_BINS)
def test_float32_equals_float64(values, max_bins):
    small = column(values, np.float32)
    large = small.astype(np.float64)
    binner = fit_binner(small, max_bins=max_bins)
    assert binner == fit_binner(large, max_bins=max_bins)
    np.testing.assert_array_equal(binner.encode(small), binner.encode(large))


def test_few_values_are_kept_and_cut_halfway():
    binner = fit_binner(column([3, 1, 1, 2, 10]))
    assert binner.edges[0].tolist() == [1.5, 2.5, 6.5]
    assert binner.encode(column([1, 2, 3, 10])).ravel().tolist() == [0, 1, 2, 3]


def test_quantiles_by_hand():
    # 8 rows in 4 bins: 2 rows each.
    assert fit_binner(column(range(8)), max_bins=4).edges[0].tolist() == [1.5, 3.5, 5.5]


def test_a_heavy_value_gets_a_bin_alone_and_wastes_none():
    values = [-3, -2, -1] + 90 * [0] + [1, 2, 3, 4]
    # -3..-1 | 0 | 1, 2 | 3, 4
    assert fit_binner(column(values), max_bins=4).edges[0].tolist() == [-0.5, 0.5, 2.5]


def test_all_bins_are_used_by_a_continuous_column():
    X = np.random.default_rng(0).normal(size=(5_000, 1))
    binner = fit_binner(X)
    counts = np.bincount(binner.encode(X).ravel(), minlength=255)
    assert binner.n_bins[0] == 255
    assert counts.min() >= 19
    assert counts.max() <= 20


def test_edges_of_extreme_values_separate_them():
    tiny = np.nextafter(1.0, 2.0)
    values = [-np.inf, -1.7e308, 0.0, 5e-324, 1.0, tiny, 1.7e308, np.inf]
    binner = fit_binner(column(values))
    assert binner.encode(column(values)).ravel().tolist() == list(range(8))
    assert np.all(np.diff(binner.edges[0]) > 0)


def test_tiny_positive_weights_still_count_as_rows():
    binner = fit_binner(column([1, 2, 3]), [1e-200, 1e200, 0])
    assert binner.edges[0].tolist() == [1.5]


def test_a_column_without_values_has_one_bin_and_no_edges():
    binner = fit_binner(column([np.nan, np.nan]))
    assert binner.n_bins.tolist() == [1]
    assert binner.encode(column([np.nan, 7.0])).ravel().tolist() == [255, 0]


@given(weighted_columns(), MAX_BINS)
def test_numeric_categories_equal_the_naive_twins(data, max_bins):
    values, weights = data
    binner = fit_binner(column(values), weights, max_bins=max_bins, categorical_features=[0])
    kept = naive.categories(values.tolist(), weights, max_bins)
    assert list(binner.categories[0]) == kept
    expected = [kept.index(v) if v in kept else MISSING for v in values.tolist()]
    assert binner.encode(column(values)).ravel().tolist() == expected


# Codes


@given(COLUMNS, COLUMNS, MAX_BINS)
def test_codes_equal_the_naive_twins_and_grow_with_the_value(train, test, max_bins):
    binner = fit_binner(column(train), max_bins=max_bins)
    values = np.sort(np.concatenate([train, test, binner.edges[0]]))
    codes = binner.encode(column(values)).ravel()
    expected = [naive.code(v, binner.edges[0]) for v in values]
    assert codes.tolist() == expected
    assert np.all(np.diff(codes.astype(int)) >= 0)


@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
def test_codes_of_skewed_columns(scale):
    # Edges crowd in one cell of the guide: the search window is wide.
    X = np.exp(scale * np.random.default_rng(1).normal(size=(3_000, 1)))
    binner = fit_binner(X)
    np.testing.assert_array_equal(
        binner.encode(X).ravel(), np.searchsorted(binner.edges[0], X.ravel(), side="left")
    )


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


@large
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(weighted):
    X = mixed_matrix(n=50_000)
    weights = np.random.default_rng(2).random(len(X)) if weighted else None
    alone = fit_binner(X, weights)
    assert fit_binner(X, weights, n_threads=2) == alone
    assert fit_binner(X, weights, n_threads=5) == alone
    np.testing.assert_array_equal(alone.encode(X, n_threads=2), alone.encode(X))
    stored = sparse.csr_array(np.nan_to_num(X))
    alone = fit_binner(stored, weights)
    assert fit_binner(stored, weights, n_threads=2) == alone
    np.testing.assert_array_equal(alone.encode(stored, n_threads=2), alone.encode(stored))


def test_positions_place_rows_and_columns_leave_others_alone():
    X = mixed_matrix()
    binner = fit_binner(X)
    codes = binner.encode(X)
    positions = np.random.default_rng(0).permutation(len(X))
    for table in (X, pd.DataFrame(X), sparse.csc_array(np.nan_to_num(X))):
        expected = binner.encode(table)
        np.testing.assert_array_equal(
            binner.encode(table, positions=positions)[positions], expected
        )
        out = np.full((len(X) + 3, 6), 77, dtype=np.uint8)
        assert binner.encode(table, positions=positions + 3, out=out, columns=[3, 0]) is out
        np.testing.assert_array_equal(out[positions + 3][:, [0, 3]], expected[:, [0, 3]])
        assert (out[:3] == 77).all()
        assert (out[:, [1, 2, 4, 5]] == 77).all()
    assert (binner.encode(X, columns=[1])[:, 0] == 0).all()
    np.testing.assert_array_equal(binner.encode(X[:0]), codes[:0])


def test_interpreted_kernels_give_the_same(monkeypatch):
    weights = np.random.default_rng(0).integers(0, 3, 400)
    tables = [mixed_matrix(), mixed_matrix(dtype=np.float64)]
    tables[1][:3, 0] = [np.inf, -np.inf, 1e308]

    def results():
        for X in tables:
            for max_bins in (4, 255):
                for weight in (None, weights):
                    binner = fit_binner(X, weight, max_bins=max_bins)
                    yield binner, binner.encode(X, positions=np.arange(400)[::-1])

    compiled = list(results())
    interpreted = interpreted_kernels()
    for module in (columns, cutting, encoding):
        monkeypatch.setattr(module, "kernels", interpreted)
    for (binner, codes), (other, other_codes) in zip(compiled, results(), strict=True):
        assert binner == other
        np.testing.assert_array_equal(codes, other_codes)


@large
def test_encoding_needs_little_memory():
    X = np.random.default_rng(0).normal(size=(300_000, 8)).astype(np.float32)
    binner = fit_binner(X)
    for table, extra in ((X, 100_000), (X.astype(np.int64), 2 * 9_000_000)):
        out = np.empty(X.shape, dtype=np.uint8)
        tracemalloc.start()
        binner.encode(table, out=out, n_threads=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < extra


@large
def test_fitting_needs_few_bytes_a_row():
    X = np.random.default_rng(0).normal(size=(3_000_000, 2)).astype(np.float32)
    weights = np.ones(len(X))
    weights[0] = 2
    for weight, per_row in ((None, 32), (weights, 48)):
        tracemalloc.start()
        fit_binner(X, weight, n_threads=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < per_row * len(X) + (1 << 26)


# The result


def test_binner_is_a_value():
    X = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": ["x", "y", "x"]})
    binner = fit_binner(X)
    binner.encode(X)
    copy = pickle.loads(pickle.dumps(binner))
    assert copy == binner
    assert binner != fit_binner(X.iloc[:2])
    assert binner != fit_binner(X, max_bins=9)
    assert binner != 1
    assert repr(binner) == "Binner(n_features=2, max_bins=255, n_categorical=1)"
    for array in (copy.edges[0], copy.has_missing, copy.n_bins, copy.is_categorical):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        binner.max_bins = 3
    assert isinstance(binner, Binner)
