"""Binning every kind of table: categories, frames of any library, sparse and damaged ones."""

from __future__ import annotations

import tracemalloc

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from costboost.binning.binner import MISSING, fit_binner
from costboost.binning.frames import FrameTable
from costboost.binning.weighing import weigh_rows
from naive import binning as naive


def column(values):
    return np.array(values, dtype=np.float64)[:, np.newaxis]


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


def many_types(n, seed=0):
    """A pandas frame with columns of every type that can be binned."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-40, 40, n)
    holes = rng.random(n) < 0.2
    kinds = rng.choice(["ash", "oak", "yew"], n).astype(object)
    frame = {
        "f8": np.where(holes, np.nan, numbers / 8),
        "kind": pd.Categorical(np.where(holes, None, kinds)),
        "f4": (numbers / 3).astype(np.float32),
        "inf": np.where(holes, np.inf, numbers),
        "i1": numbers.astype(np.int8),
        "i8": numbers.astype(np.int64) * 2**55 + rng.integers(0, 3, n),
        "u8": (numbers + 40).astype(np.uint64) * 2**56 + rng.integers(0, 3, n).astype(np.uint64),
        "bool": numbers > 0,
        "nullable": pd.array(np.where(holes, None, numbers), dtype="Int64"),
        "f2": numbers.astype(np.float16),
        "big endian": numbers.astype(">f8"),
        "string": kinds,
        "interval": pd.cut(numbers, [-50, 0, 50]),
        "object": numbers.astype(object),
    }
    return pd.DataFrame(frame)


@pytest.mark.parametrize("n", [1, 7, 500, 30_000])
@pytest.mark.parametrize(
    "columns", [None, ["f8"], ["f8", "f4"], ["i1", "i8"], ["i8", "u8"], ["bool"], ["bool", "f4"]]
)
def test_pandas_is_read_as_narwhals_reads_it(n, columns):
    train = many_types(500) if columns is None else many_types(500)[columns]
    X = many_types(n, seed=1)[list(train.columns)]
    by_narwhals = [FrameTable(nw.from_native(frame)) for frame in (train, X)]
    binner = fit_binner(train)
    assert binner == fit_binner(by_narwhals[0])
    expected = binner.encode(by_narwhals[1])
    for n_threads in (1, 2):
        np.testing.assert_array_equal(binner.encode(X, n_threads=n_threads), expected)
    some = np.arange(len(train.columns))[::2]
    np.testing.assert_array_equal(binner.encode(X, columns=some)[:, some], expected[:, some])
    scattered = pd.DataFrame({name: X[name] for name in X})  # every column a block of its own
    np.testing.assert_array_equal(binner.encode(scattered), expected)


def test_numbers_in_pandas_need_no_narwhals(monkeypatch):
    X = many_types(30)[["f8", "i1", "bool", "f4", "u8"]]
    monkeypatch.setattr(nw, "from_native", None)
    assert fit_binner(X).encode(X).shape == X.shape


def test_pandas_columns_that_changed_their_type_are_refused():
    X = many_types(30)[["f8", "f4", "kind"]]
    binner = fit_binner(X)
    for changed, message in (
        (X.assign(f4="x"), "'f4' holds String where numbers are expected"),
        (X.assign(f8=1j), "'f8' holds an object of type complex"),
        (X.assign(kind=1.5), "'kind' holds numbers"),
        (X.assign(kind=7), "'kind' holds numbers"),
        (X.assign(f8=pd.Timestamp(0)), "'f8' holds Datetime"),
    ):
        for frame in (changed, changed[:1]):
            with pytest.raises((ValueError, TypeError), match=message):
                binner.encode(frame)


def test_names_that_stand_twice_are_refused():
    X = pd.DataFrame(np.ones((3, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="unique"):
        fit_binner(X)


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
        ([1, 1], r"shape \(2,\); it must hold one weight for each of the 3 rows"),
        (np.ones((3, 1)), "one weight for each"),
        ([1, np.nan, 1], "row 1: sample_weight is nan"),
        ([1, 1, -2], "row 2: sample_weight is -2;"),
        ([1, np.inf, 1], "row 1: sample_weight is inf"),
        ([0, 0, 0], "zero for every row"),
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


# ---------------------------------------------------------------- columns that no tree looks at


@pytest.mark.parametrize("kind", ["pandas", "polars", "object"])
def test_columns_that_are_not_encoded_are_of_the_same_kind(kind):
    def table(**columns):
        if kind == "object":
            return np.array(list(zip(*columns.values(), strict=True)), dtype=object)
        return (pd.DataFrame if kind == "pandas" else pl.DataFrame)(columns)

    number, word = [1.0, 2.0, 3.0], ["ash", "oak", "elm"]
    binner = fit_binner(table(a=number, b=number, c=word))
    assert binner.encode(table(a=number, b=number, c=word), columns=[0])[:, 1].tolist() == [0] * 3
    with pytest.raises((ValueError, TypeError), match=r"b|1"):
        binner.encode(table(a=number, b=word, c=word), columns=[0])
    with pytest.raises((ValueError, TypeError), match="were strings in training"):
        binner.encode(table(a=number, b=number, c=number), columns=[0])
    missing = [None, None, None]
    binner.encode(table(a=number, b=number, c=missing), columns=[0])
