"""Binning: codes and edges against naive twins, invariances, and every kind of table."""

from __future__ import annotations

import importlib.util
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from costboost.trees import binning, columns, cutting, encoding
from costboost.trees.binning import MISSING, Binner, fit_binner
from costboost.trees.weighing import weigh_rows
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
    path = Path(binning.__file__).with_name("_binning_kernels.py")
    spec = importlib.util.spec_from_file_location("interpreted_binning_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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


# Categories


@given(
    st.lists(st.sampled_from(["b", "a", "ab", "", "z", None]), min_size=1, max_size=40),
    st.data(),
    st.sampled_from([2, 3, 255]),
)
def test_categories_equal_the_naive_twins(values, data, max_bins):
    size = st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any)
    weights = np.array(data.draw(size))
    X = pd.DataFrame({"a": pd.Categorical(values)})
    binner = fit_binner(X, weights, max_bins=max_bins)
    kept = naive.categories(values, weights, max_bins)
    assert list(binner.categories[0]) == kept
    expected = [kept.index(v) if v in kept else MISSING for v in values]
    assert binner.encode(X).ravel().tolist() == expected
    assert binner.has_missing[0] == (MISSING in np.array(expected)[weights > 0])
    repeated = X.iloc[np.repeat(np.arange(len(X)), weights)]
    assert fit_binner(repeated, max_bins=max_bins) == binner


COLOURS = ["red", None, "blue", "red", "green"]
FRAMES = {
    "pandas category": lambda: pd.DataFrame({"c": pd.Categorical(COLOURS)}),
    "pandas reversed": lambda: pd.DataFrame(
        {"c": pd.Categorical(COLOURS, categories=["red", "unused", "green", "blue"])}
    ),
    "pandas string": lambda: pd.DataFrame({"c": pd.array(COLOURS, dtype="string")}),
    "pandas object": lambda: pd.DataFrame({"c": np.array(COLOURS, dtype=object)}, dtype=object),
    "pandas arrow": lambda: pd.DataFrame({"c": pd.array(COLOURS, dtype="string[pyarrow]")}),
    "polars string": lambda: pl.DataFrame({"c": COLOURS}),
    "polars Categorical": lambda: pl.DataFrame({"c": pl.Series(COLOURS, dtype=pl.Categorical)}),
    "polars Enum": lambda: pl.DataFrame(
        {"c": pl.Series(COLOURS, dtype=pl.Enum(["red", "green", "blue"]))}
    ),
    "pyarrow": lambda: pa.table({"c": COLOURS}),
    "pyarrow dictionary": lambda: pa.table({"c": pa.array(COLOURS).dictionary_encode()}),
    "numpy object": lambda: np.array(COLOURS, dtype=object)[:, np.newaxis],
    "list": lambda: [[colour] for colour in COLOURS],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_categories_are_the_same_in_every_library(kind):
    X = FRAMES[kind]()
    binner = fit_binner(X)
    assert binner.categories == (("blue", "green", "red"),)
    assert binner.is_categorical.tolist() == [True]
    assert binner.has_missing.tolist() == [True]
    assert binner.n_bins.tolist() == [3]
    for other in FRAMES.values():
        assert binner.encode(other()).ravel().tolist() == [2, 255, 0, 2, 1]


def test_unseen_categories_share_the_missing_code():
    binner = fit_binner(pl.DataFrame({"c": ["a", "b"]}))
    assert not binner.has_missing[0]
    codes = binner.encode(pl.DataFrame({"c": ["c", "b", None]}))
    assert codes.ravel().tolist() == [255, 1, 255]


@pytest.mark.parametrize("as_strings", [False, True])
def test_more_categories_than_bins(as_strings):
    # Category k of 0 .. 299 occurs twice if k is odd: the odd ones and the first even ones stay.
    values = np.concatenate([np.arange(300), np.arange(1, 300, 2)])
    kept = sorted([*range(1, 300, 2), *range(0, 210, 2)])
    assert len(kept) == 255
    if as_strings:
        X = pd.DataFrame({"c": [f"{v:03d}" for v in values]})
        binner = fit_binner(X)
        assert binner.categories[0] == tuple(f"{v:03d}" for v in kept)
    else:
        X = column(values)
        binner = fit_binner(X, categorical_features=[0])
        assert binner.categories[0] == tuple(map(float, kept))
    assert binner.has_missing[0]
    expected = [kept.index(v) if v in kept else MISSING for v in values]
    assert binner.encode(X).ravel().tolist() == expected


@pytest.mark.parametrize("chosen", [[1], [False, True], ["b"], np.array([1]), ("b",)])
def test_numbers_named_as_categories(chosen):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [7, 3, 3, 5]})
    binner = fit_binner(X, categorical_features=chosen)
    assert binner.is_categorical.tolist() == [False, True]
    assert binner.categories == (None, (3.0, 5.0, 7.0))
    assert binner.encode(X)[:, 1].tolist() == [2, 0, 0, 1]
    assert binner.encode(np.array([[0, 4.0], [0, np.nan]]))[:, 1].tolist() == [255, 255]
    stored = sparse.csr_array(X.to_numpy())
    np.testing.assert_array_equal(binner.encode(stored), binner.encode(X))
    as_category = fit_binner(X.astype({"b": "category"}))
    assert as_category == binner
    np.testing.assert_array_equal(as_category.encode(X), binner.encode(X))


@given(weighted_columns(), MAX_BINS)
def test_numeric_categories_equal_the_naive_twins(data, max_bins):
    values, weights = data
    binner = fit_binner(column(values), weights, max_bins=max_bins, categorical_features=[0])
    kept = naive.categories(values.tolist(), weights, max_bins)
    assert list(binner.categories[0]) == kept
    expected = [kept.index(v) if v in kept else MISSING for v in values.tolist()]
    assert binner.encode(column(values)).ravel().tolist() == expected


def test_categories_of_other_types_go_by_their_names():
    X = pd.DataFrame({"c": pd.cut([1.0, 5.0, 9.0], [0, 4, 6, 10])})
    assert fit_binner(X).categories[0] == ("(0, 4]", "(4, 6]", "(6, 10]")


def test_none_means_no_categories():
    X = pd.DataFrame({"a": [1, 2], "c": ["x", "y"]})
    assert not fit_binner(X[["a"]], categorical_features=None).is_categorical.any()
    with pytest.raises(ValueError, match=r"Column 'c' holds String.*categorical_features"):
        fit_binner(X, categorical_features=None)
    with pytest.raises(ValueError, match="Column 0 holds strings where numbers"):
        fit_binner([["x"], ["y"]], categorical_features=[])


def test_kinds_of_categories_may_not_change():
    strings = fit_binner(pd.DataFrame({"c": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"'c' holds numbers.*strings in training"):
        strings.encode(pd.DataFrame({"c": [1.0, 2.0]}))
    assert strings.encode(pd.DataFrame({"c": [np.nan]})).tolist() == [[255]]
    numbers = fit_binner(column([1, 2]), categorical_features=[0])
    with pytest.raises(ValueError, match=r"the category 'x'.*numbers in training"):
        numbers.encode(pd.DataFrame({"c": ["x"]}))
    with pytest.raises(ValueError, match="Column 'c' holds String where numbers"):
        fit_binner(column([1, 2])).encode(pd.DataFrame({"c": ["x"]}))


# Frames of numbers


def test_frames_of_numbers_and_nulls():
    expected = np.array([[1, 1, 0.5, 1, 3], [np.nan, np.nan, np.nan, 0, 2], [3, 0, 2.5, 1, 1]])
    a, b, f, t, i = (
        [1, None, 3],
        [True, None, False],
        [0.5, None, 2.5],
        [True, False, True],
        [3, 2, 1],
    )
    nullable = {
        "a": pd.array(a, dtype="Int64"),
        "b": pd.array(b, dtype="boolean"),
        "f": pd.array(f, dtype="Float32"),
        "t": t,
        "i": np.array(i, dtype=np.int8),
    }
    arrow = {
        "a": pd.array(a, dtype="int64[pyarrow]"),
        "b": pd.array(b, dtype="bool[pyarrow]"),
        "f": pd.array(f, dtype="float[pyarrow]"),
        "t": t,
        "i": np.array(i, dtype=np.float16),
    }
    values = {"a": a, "b": b, "f": f, "t": t, "i": i}
    polars = pl.DataFrame(values, schema_overrides={"f": pl.Float32, "i": pl.UInt8})
    objects = pd.DataFrame(values, dtype=object)
    reference = fit_binner(expected)
    frames = [pd.DataFrame(nullable), pd.DataFrame(arrow), polars, pa.table(values), objects]
    for X in frames:
        binner = fit_binner(X)
        assert binner.feature_names == tuple("abfti")
        assert not binner.is_categorical.any()
        for ours, theirs in zip(binner.edges, reference.edges, strict=True):
            assert ours.tolist() == theirs.tolist()
        np.testing.assert_array_equal(binner.encode(X), reference.encode(expected))
        np.testing.assert_array_equal(reference.encode(X), reference.encode(expected))
        np.testing.assert_array_equal(binner.encode(expected), reference.encode(expected))


def test_columns_of_nothing_but_nulls():
    for X in (pl.DataFrame({"n": [None, None]}), pd.DataFrame({"n": [None, None]}, dtype=object)):
        binner = fit_binner(X)
        assert binner.n_bins.tolist() == [1]
        assert binner.encode(X).tolist() == [[255], [255]]


def test_masked_arrays_are_missing_where_masked():
    X = np.ma.masked_array([[1], [2], [3]], mask=[[0], [1], [0]])
    assert fit_binner(X).encode(X).ravel().tolist() == [0, 255, 1]


def test_objects_that_are_numbers():
    X = np.array([[1, 2.5, True], [None, np.float32(1), False]], dtype=object)
    binner = fit_binner(X)
    assert not binner.is_categorical.any()
    assert binner.encode(X).tolist() == [[0, 1, 1], [255, 0, 0]]


def test_names_are_checked_as_scikit_learn_does():
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    binner = fit_binner(X)
    with pytest.raises(ValueError, match="must be in the same order"):
        binner.encode(X[["b", "a"]])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c\n.*now missing:\n- b\n"):
        binner.encode(X.rename(columns={"b": "c"}))
    np.testing.assert_array_equal(binner.encode(X.to_numpy()), binner.encode(X))
    assert fit_binner(pd.DataFrame(np.ones((2, 2)))).feature_names is None


# Sparse matrices


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


# Damaged input

ONES = np.ones((3, 2))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "Reshape your data"),
        (np.ones((0, 2)), r"0 sample\(s\) .* minimum of 1 is required"),
        (np.ones((2, 0)), r"0 feature\(s\) .* minimum of 1 is required"),
        (ONES + 1j, "Complex data not supported"),
        (sparse.csr_array(ONES + 1j), "Complex data not supported"),
        (np.zeros((2, 2), dtype="datetime64[s]"), "turn dates into numbers"),
        (np.zeros((2, 2), dtype="S3"), "decode bytes"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), "Column 't' holds Datetime"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (np.array([["x"], [1]], dtype=object), "both strings and numbers"),
        (np.array([["x"], [1.5]], dtype=object), "both strings and numbers"),
    ],
)
def test_tables_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(X)


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], object()])
@pytest.mark.parametrize("categorical", ["from_dtype", [0]])
def test_objects_that_are_refused(value, categorical):
    X = np.array([[1.0], [2.0]], dtype=object)
    X[0, 0] = value
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        fit_binner(X, categorical_features=categorical)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1], r"shape \(2,\), but X has 3 rows"),
        (np.ones((3, 1)), "one weight per row"),
        ([1, np.nan, 1], r"sample_weight\[1\] is nan"),
        ([1, 1, -2], r"sample_weight\[2\] is -2.0"),
        ([1, np.inf, 1], r"sample_weight\[1\] is inf"),
        ([0, 0, 0], "zero everywhere"),
    ],
)
def test_weights_that_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES, weight)


def test_weights_on_the_grid():
    assert weigh_rows(None, 3) == (None, None, None, 3)
    assert weigh_rows([0.3, 0.3, 0.3], 3) == (None, None, None, 3)
    some = weigh_rows([0, 2, 2], 3)
    assert some.rows.tolist() == [1, 2]
    assert some.kept is None
    assert some.every.tolist() == [0, 1, 1]
    assert some.total == 2
    uneven = weigh_rows([1, 0, 3], 3)
    assert (uneven.kept / uneven.kept[0]).tolist() == [1, 3]
    assert uneven.total == uneven.every.sum()


@pytest.mark.parametrize("max_bins", [1, 256, 2.5, "many", None])
def test_max_bins_that_are_refused(max_bins):
    with pytest.raises(ValueError, match="between 2 and 255"):
        fit_binner(ONES, max_bins=max_bins)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("auto", "from_dtype"),
        ([2], "between 0 and 1"),
        ([-1], "between 0 and 1"),
        ([True], "has 1 booleans, but X has 2"),
        (["a"], "have no names"),
        ([0.5], "booleans, indices or names"),
        ([[0], [1]], "booleans, indices or names"),
    ],
)
def test_categorical_features_that_are_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES, categorical_features=chosen)


def test_categorical_names_must_exist():
    with pytest.raises(ValueError, match=r"'z', which is no column of X: its columns are \['a'\]"):
        fit_binner(pd.DataFrame({"a": [1]}), categorical_features=["z"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones((3, 3))}, "X has 3 features, but Binner is expecting 2 features as input"),
        ({"positions": [0, 1]}, "positions must be 3 integers"),
        ({"positions": [0.0, 1.0, 2.0]}, "positions must be 3 integers"),
        ({"positions": [0, 1, 3]}, "between 0 and 2, got 0 to 3"),
        ({"positions": [0, 1, -1]}, "between 0 and 2, got -1 to 1"),
        ({"out": np.empty((2, 2), np.uint8)}, "at least 3 rows and exactly 2 columns"),
        ({"out": np.empty((3, 2))}, "writeable uint8 array"),
        ({"columns": [2]}, "between 0 and 1"),
        ({"columns": [-1]}, "between 0 and 1"),
    ],
)
def test_encode_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES).encode(**{"X": ONES, **arguments})
