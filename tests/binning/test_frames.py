"""DataFrames of every library are one table."""

from __future__ import annotations

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from costboost.binning.binner import fit_binner
from costboost.binning.table_reading import FrameTable, PandasTable, read_table

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


def test_a_row_of_pandas_is_read_as_one_block():
    X = pd.DataFrame({"i": [2**53 + 1, 7], "c": ["x", "y"], "b": [True, False], "f": [0.5, 2.0]})
    table = PandasTable(X)
    assert table.plain.tolist() == [True, False, True, True]
    values, places = table.block(np.array([0, 3]), 0, 1)
    assert values[:, places].tolist() == [[2.0**53, 0.5]]  # rounded, as by `numbers`
    assert table.numbers(0, 0, 1).tolist() == [2.0**53]
    values, places = PandasTable(X[["f"]]).block(np.array([0]), 1, 2)
    assert values[:, places].tolist() == [[2.0]]


def test_columns_are_named_if_all_names_are_strings():
    X = pd.DataFrame({"a": [1.0], 2: ["x"]})
    table = PandasTable(X)
    assert table.names is None
    with pytest.raises(ValueError, match="Column 1 holds String where numbers are expected"):
        table.numbers(1, 0, 1)
    named = FrameTable(nw.from_native(pl.DataFrame({"a": [1.0], "d": ["x"]})))
    assert named.names == ("a", "d")
    with pytest.raises(ValueError, match=r"Column 'd'.*list it in categorical_features"):
        named.numbers(1, 0, 1)


def test_parts_of_a_column_are_those_rows():
    words = pl.DataFrame({"c": ["b", None, "a", "b"], "n": [1, None, 3, 4]})
    table = FrameTable(nw.from_native(words))
    codes, keys = table.keys(0, 1, 4)
    assert [keys[code] if code >= 0 else None for code in codes] == [None, "a", "b"]
    np.testing.assert_array_equal(table.numbers(1, 0, 3), [1, np.nan, 3])
    assert [table.has_keys(j) for j in range(2)] == [True, False]


def test_dates_are_no_categories():
    dates = pl.DataFrame({"t": pl.Series([0, 1]).cast(pl.Date)})
    table = FrameTable(nw.from_native(dates))
    for ask in (lambda: table.is_categorical(0), lambda: table.keys(0, 0, 2)):
        with pytest.raises(ValueError, match=r"'t' holds Date where.*convert it to numbers\.$"):
            ask()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    ("kind", "value"), [("int64", 2**53 + 1), ("int64", -(2**62) - 1), ("uint64", 2**63 + 5)]
)
def test_integers_beyond_those_of_floats_are_rounded(kind, value, missing):
    values = [value, 1, 2, None if missing else 3]
    expected = np.array([np.nan if v is None else float(v) for v in values])
    arrow = pa.table({"a": pa.array(values, pa.type_for_alias(kind))})
    tables = [
        arrow,
        pl.from_arrow(arrow),
        arrow.to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame({"a": pd.array(values, dtype=kind.replace("i", "I").replace("uI", "UI"))}),
    ]
    binner = fit_binner(expected[:, None])
    for X in tables:
        np.testing.assert_array_equal(read_table(X).numbers(0, 0, 4), expected)
        np.testing.assert_array_equal(
            binner.encode(X).ravel(), binner.encode(expected[:, None]).ravel()
        )


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_integers_of_128_bits_are_read_as_floats(kind):
    if not hasattr(pl, kind):
        pytest.skip(f"this polars has no {kind}")
    X = pl.DataFrame({"a": pl.Series([2**100 + 1, None, 7], dtype=getattr(pl, kind))})
    np.testing.assert_array_equal(read_table(X).numbers(0, 0, 3), [2.0**100, np.nan, 7.0])
