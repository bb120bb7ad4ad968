"""What columns of files hold, and whether files agree on it."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from costboost import CostBoostClassifier, ParquetTable
from costboost.files.finding import column_kinds, kind_of
from parquet_rows import make_rows, write


def test_columns_that_cannot_be_binned(tmp_path):
    frame = make_rows().assign(day=datetime.date(2026, 1, 1))
    table = ParquetTable(write(frame, tmp_path / "rows.parquet"), label="label")
    with (
        pytest.raises(ValueError, match=r"'day' has the type date32.*leave it out"),
        table.open_for(CostBoostClassifier()),
    ):
        pass


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (pa.bool_(), "numbers"),
        (pa.uint64(), "numbers"),
        (pa.float16(), "numbers"),
        (pa.decimal128(9, 2), "numbers"),
        (getattr(pa, "string_view", pa.string)(), "words"),
        (pa.dictionary(pa.int8(), pa.large_string()), "words"),
        (pa.dictionary(pa.int8(), pa.int64()), "numbered categories"),
        (pa.null(), "nothing"),
        (pa.timestamp("s"), None),
        (pa.list_(pa.int8()), None),
        (pa.binary(), None),
    ],
    ids=str,
)
def test_kinds_of_columns(dtype, kind):
    assert kind_of(dtype) == kind


def kinds(*types, name="x"):
    """Return what a column holds that has these types in as many files."""
    schemas = [pa.schema([("other", pa.date32()), (name, dtype)]) for dtype in types]
    return column_kinds([name], [f"{k}.parquet" for k in range(len(types))], schemas)[name]


def test_files_may_store_one_kind_by_different_types():
    assert kinds(pa.int8(), pa.bool_(), pa.float64(), pa.decimal128(9, 2)) == "numbers"
    assert kinds(pa.string(), pa.dictionary(pa.int8(), pa.string())) == "words"


def test_a_column_of_nulls_may_be_of_any_kind():
    assert kinds(pa.null(), pa.string(), pa.null()) == "words"
    assert kinds(pa.null(), pa.null()) == "nothing"


def test_kinds_that_differ_are_told_with_the_first_file_of_each():
    with pytest.raises(ValueError, match=r"'x' holds words in 1\.parquet, but numbers in 3\.parq"):
        kinds(pa.null(), pa.string(), pa.large_string(), pa.int8())
    with pytest.raises(
        ValueError, match=r"holds numbers in 0\.parquet, but numbered categories in"
    ):
        kinds(pa.int64(), pa.dictionary(pa.int8(), pa.int64()))


def test_only_the_features_must_be_of_kinds_that_can_be_binned():
    assert kinds(pa.int64()) == "numbers"  # though there is a date beside it
    with pytest.raises(ValueError, match=r"1\.parquet: the column 'x' has the type timestamp\[s\]"):
        kinds(pa.int64(), pa.timestamp("s"))


def test_dictionaries_hold_what_their_values_are():
    assert kind_of(pa.dictionary(pa.int8(), pa.date32())) is None
    assert kind_of(pa.dictionary(pa.int8(), pa.null())) == "nothing"
    assert kind_of(pa.dictionary(pa.int8(), pa.bool_())) == "numbered categories"
