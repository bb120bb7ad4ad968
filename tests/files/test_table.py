"""What a ParquetTable refuses when it is made, and what it knows of its files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from parquet_rows import FEATURES, N, make_rows, write


@pytest.fixture
def path(tmp_path):
    return write(make_rows(), tmp_path / "rows.parquet")


def test_what_it_knows(path):
    table = ParquetTable(path, label="label", weight="weight", row_id="id")
    assert table.features == tuple(FEATURES)
    assert (len(table), table.files) == (N, [path])
    assert repr(table) == "ParquetTable(1 file, 240 rows, 9 features, label='label')"
    assert ParquetTable(path).features == (*FEATURES, "label", "weight", "id")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"label": "lable"}, "label='lable' is no column of these files: they have"),
        ({"weight": "w"}, "weight='w' is no column"),
        ({"row_id": "row"}, "row_id='row' is no column"),
        ({"features": ["a", "z"]}, "features has 'z', which is no column"),
        ({"features": []}, "at least one"),
        ({"features": "a"}, "must be a list of columns"),
        ({"features": ["a", "a"]}, "names a column twice"),
        ({"label": "label", "features": ["a", "label"]}, "'label', which is the label"),
        ({"weight": "a", "features": ["a"]}, "'a', which is the weight"),
        ({"label": "a", "weight": "a"}, "must be different columns"),
        ({"weight": "word"}, "weights must be numbers"),
        ({"costs": Costs(fp=1, fn="prices")}, "The costs read 'prices', which is no column"),
        ({"costs": Costs(fp=1, fn=[1.0, 2.0])}, "Name the column that holds the prices"),
        ({"part_rows": 0}, "part_rows=0"),
    ],
)
def test_what_does_not_fit_the_files_is_refused(path, options, match):
    with pytest.raises(ValueError, match=match):
        ParquetTable(path, **options)


def test_files_that_do_not_belong_together(tmp_path):
    frame = make_rows()
    write(frame, tmp_path / "1.parquet")
    write(frame.drop(columns="a"), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet does not have the columns of .*: .*\['a'\]"):
        ParquetTable(tmp_path)
    write(frame.assign(a="x"), tmp_path / "2.parquet")
    table = ParquetTable(tmp_path, label="label")
    with (
        pytest.raises(ValueError, match=r"'a' holds numbers in .*1\.parquet, but words in .*2"),
        table.open_for(CostBoostClassifier()),
    ):
        pass


def test_files_without_rows(tmp_path):
    with pytest.raises(ValueError, match="hold no rows"):
        ParquetTable(write(make_rows().iloc[:0], tmp_path / "rows.parquet"))


def test_columns_of_the_same_name(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="two columns 'a'"):
        ParquetTable(tmp_path)
