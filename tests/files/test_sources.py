"""Rows of files, read as they are asked for: the same as in memory, whatever types files have."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.binning.table_reading import read_table
from costboost.costs import expression
from costboost.files.finding import column_kinds, cut_parts, read_files
from costboost.files.sources import FileRows, ParquetColumns, RowGroups, make_folder, prices_of
from parquet_rows import FEATURES, make_rows, write


def stretches_of(*paths):
    """Return all row groups of some files as one part."""
    (part,) = cut_parts(read_files(paths)[0], 10**9)
    return part


def rows_of(tmp_path, *tables, **said):
    """Write tables to files, a row group for every two rows; return them as the rows of a part."""
    paths = [str(tmp_path / f"{k}.parquet") for k in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table, path, row_group_size=2)
    names = tables[0].column_names
    kinds = column_kinds(names, paths, [table.schema for table in tables])
    given = {"label": names[0], "weight": None, "prices": (), **said}
    return FileRows(
        stretches_of(*paths), ParquetColumns(tuple(names), tuple(kinds.values()), **given)
    )


def words_of(table, j, start, stop):
    """Return a column of categories as its words, None where missing."""
    codes, keys = table.keys(j, start, stop)
    return [None if code < 0 else keys[code] for code in codes]


def test_wide_numbers_are_read_as_in_memory(tmp_path):
    frame = pd.DataFrame(
        {
            "wide": np.array([2**62, 2**53 + 1, -(2**63), 5]),
            "unsigned": np.array([2**64 - 1, 0, 1, 2], dtype=np.uint64),
            "maybe": pd.array([1, None, 3, 4], "Int64"),
            "yes": pd.array([True, None, False, True], "boolean"),
            "half": np.array([0.5, 1, 2, 4], dtype=np.float16),
            "y": [0, 1, 0, 1],
        }
    )
    table = ParquetTable(write(frame, tmp_path / "rows.parquet", 3), label="y", part_rows=9)
    with table.open_for(CostBoostClassifier()) as opened:
        (part,) = opened.X.cluster.parts
        mine, theirs = part.raw.X, read_table(frame.drop(columns="y").astype({"half": "f4"}))
        for j in range(5):
            np.testing.assert_array_equal(mine.numbers(j, 0, 4), theirs.numbers(j, 0, 4))
            np.testing.assert_array_equal(mine.numbers(j, 1, 3), theirs.numbers(j, 1, 3))


def test_numbers_of_any_type_are_floats_with_nan_for_nulls(tmp_path):
    rows = rows_of(
        tmp_path,
        pa.table({"x": pa.array([1, None, 3], pa.int8())}),
        pa.table({"x": pa.array([True, None], pa.bool_())}),
        pa.table({"x": pa.nulls(2)}),
        pa.table({"x": pa.array([0.1, -0.0, None, 1e300], pa.float64())}),
        pa.table({"x": pa.array(["2.50", None], pa.string()).cast(pa.decimal128(9, 2))}),
        pa.table({"x": pa.array([], pa.int64())}),
    )
    nan = np.nan
    expected = np.array([1, nan, 3, 1, nan, nan, nan, 0.1, -0.0, nan, 1e300, 2.5, nan])
    found = rows.X.numbers(0, 0, 13)
    assert found.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(rows.X.numbers(0, 4, 9), expected[4:9])


def test_small_floats_stay_small(tmp_path):
    rows = rows_of(tmp_path, pa.table({"x": pa.array([0.1, None], pa.float32())}))
    assert rows.X.numbers(0, 0, 2).dtype == np.float32


def test_words_of_files_with_other_dictionaries_are_the_same_words(tmp_path):
    rows = rows_of(
        tmp_path,
        pa.table({"x": pa.array(["elm", None, "ash", "elm", "oak"])}),
        pa.table({"x": pa.nulls(2)}),
        pa.table({"x": pa.array(["oak", "fir", None, "ash"]).dictionary_encode()}),
        pa.table({"x": pa.array(["ash", "elm"], pa.large_string())}),
    )
    expected = ["elm", None, "ash", "elm", "oak", None, None, "oak", "fir", None, "ash", "ash"]
    assert words_of(rows.X, 0, 0, 13) == [*expected, "elm"]
    assert words_of(rows.X, 0, 6, 9) == [None, "oak", "fir"]
    keys = rows.X.keys(0, 0, 13)[1]
    assert sorted(keys) == ["ash", "elm", "fir", "oak"]


def test_words_where_numbers_are_expected_are_refused_by_name(tmp_path):
    rows = rows_of(tmp_path, pa.table({"n": [1, 2], "x": ["a", "b"]}))
    assert [rows.X.has_keys(j) for j in range(2)] == [False, True]
    with pytest.raises(ValueError, match=r"'x' holds words where numbers .*categorical_features"):
        rows.X.numbers(1, 0, 2)


def test_whole_columns_are_let_go_and_others_are_kept_for_the_next_rows(tmp_path):
    rows = rows_of(tmp_path, pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}))
    table = rows.X
    assert table.numbers(0, 0, 3).tolist() == [1, 2, 3]
    assert table.numbers(1, 0, 2).tolist() == [4, 5]
    os.unlink(tmp_path / "0.parquet")
    assert table.numbers(1, 2, 3).tolist() == [6]
    assert table.numbers(1, 0, 3).tolist() == [4, 5, 6]
    with pytest.raises(ValueError, match="cannot be read any more"):
        table.numbers(0, 0, 3)


def test_labels_are_as_numpy_would_hold_them(tmp_path):
    named = pa.table({"y": pa.array(["no", "yes", "no"]).dictionary_encode()})
    assert rows_of(tmp_path, named).y.tolist() == ["no", "yes", "no"]
    flags = rows_of(tmp_path, pa.table({"y": [True, False, True]})).y
    assert (flags.dtype, flags.tolist()) == (np.bool_, [True, False, True])
    mixed = rows_of(tmp_path, pa.table({"y": [1, 2]}), pa.table({"y": [0.5]})).y
    assert (mixed.dtype, mixed.tolist()) == (np.float64, [1, 2, 0.5])
    lacking = rows_of(tmp_path, pa.table({"y": pa.array(["no", None])})).y
    assert lacking.tolist() == ["no", None]


def test_weights_are_float64_or_none(tmp_path):
    small = pa.table({"y": [0, 1], "w": pa.array([0.1, 0.0], pa.float32())})
    whole = pa.table({"y": [0], "w": pa.array([3], pa.int8())})
    found = rows_of(tmp_path, small, whole, weight="w").weights
    assert found.tobytes() == np.array([np.float32(0.1), 0, 3], np.float64).tobytes()
    assert rows_of(tmp_path, small).weights is None


def test_prices_are_the_columns_named_or_all_for_a_function(tmp_path):
    first = pa.table({"y": [0, 1], "a": pa.array([1, 2], pa.int8()), "b": [0.5, 1.5]})
    second = pa.table({"b": [7.0], "y": [1], "a": [4]})  # other types, in another order
    named = rows_of(tmp_path, first, second, prices=("b", "a")).frame
    assert named.to_pydict() == {"b": [0.5, 1.5, 7.0], "a": [1, 2, 4]}
    whole = rows_of(tmp_path, first, second, prices=None).frame
    expected = pd.DataFrame({"y": [0, 1, 1], "a": [1, 2, 4], "b": [0.5, 1.5, 7.0]})
    pd.testing.assert_frame_equal(whole[["y", "a", "b"]], expected, check_dtype=False)


def test_which_columns_costs_are_read_from():
    assert prices_of(None) == ()
    assert prices_of(Costs(fp=1, fn=4)) == ()
    assert prices_of(Costs(fp="fee", fn=expression("0.5 * amount + fee"))) == ("fee", "amount")
    assert prices_of(Costs(fp="fee", fn=lambda X: X["amount"])) is None


def source_of(path, folder, features=("a", "b")):
    columns = ParquetColumns(features, ("numbers",) * len(features), "label", None, ())
    return RowGroups(stretches_of(path), columns, folder)


def test_a_source_says_where_its_rows_are_and_may_travel(tmp_path):
    path = write(make_rows(), tmp_path / "rows.parquet", 100)
    source = source_of(path, make_folder(tmp_path / "codes"))
    assert (
        str(source) == f"In {path}, row groups (0, 1, 2): rows are counted from the first of these."
    )
    again = pickle.loads(pickle.dumps(source))
    assert again == source
    np.testing.assert_array_equal(again.read().y, make_rows()["label"])


def test_what_is_kept_belongs_to_these_rows_and_features(tmp_path):
    folder, written = make_folder(tmp_path / "codes"), []

    def keep(source, about):
        def fill(codes):
            written.append(about)
            codes[:] = len(written)

        return source.keep("codes", about, (3,), np.uint8, fill)[0]

    path = write(make_rows(), tmp_path / "rows.parquet")
    other = write(make_rows(), tmp_path / "other.parquet")
    assert keep(source_of(path, folder), "bins") == 1
    assert keep(source_of(path, folder), "bins") == 1
    assert keep(source_of(path, folder), "other bins") == 2
    assert keep(source_of(path, folder, ("b", "a")), "bins") == 3
    assert keep(source_of(other, folder), "bins") == 4
    write(make_rows(seed=1), tmp_path / "rows.parquet")
    assert keep(source_of(path, folder), "bins") == 5


def test_every_kind_of_column_is_read_as_in_memory(tmp_path):
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet", 70)
    kinds = column_kinds(FEATURES, [path], read_files([path])[1])
    columns = ParquetColumns(tuple(FEATURES), tuple(kinds.values()), "label", "weight", ())
    mine, theirs = FileRows(stretches_of(path), columns).X, read_table(frame[FEATURES])
    for j, name in enumerate(FEATURES):
        assert mine.is_categorical(j) == theirs.is_categorical(j), name
        if mine.has_keys(j):
            assert words_of(mine, j, 60, 200) == words_of(theirs, j, 60, 200), name
        else:
            found, expected = mine.numbers(j, 60, 200), theirs.numbers(j, 60, 200)
            np.testing.assert_array_equal(found, expected)
