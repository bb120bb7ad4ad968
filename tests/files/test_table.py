"""What a ParquetTable refuses when it is made, and what it knows of its files."""

from __future__ import annotations

import datetime
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.files.finding import cut_parts
from costboost.files.kinds import kind_of
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


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ValueError, match="There is no file"):
        ParquetTable(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="holds no files that end in"):
        ParquetTable(tmp_path)
    with pytest.raises(ValueError, match="empty list"):
        ParquetTable([])
    with pytest.raises(ValueError, match="must be a file, a folder, a pattern"):
        ParquetTable(3)
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"text\.parquet cannot be read as a Parquet file"):
        ParquetTable(tmp_path)


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


def test_columns_that_cannot_be_binned(tmp_path):
    frame = make_rows().assign(day=datetime.date(2026, 1, 1))
    table = ParquetTable(write(frame, tmp_path / "rows.parquet"), label="label")
    with (
        pytest.raises(ValueError, match=r"'day' has the type date32.*leave it out"),
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


def test_parts_are_neighbouring_row_groups(tmp_path):
    frame = make_rows()
    for k in range(3):
        write(frame.iloc[80 * k : 80 * (k + 1)], tmp_path / f"{k}.parquet", 30)
    files = ParquetTable(tmp_path)._files
    parts = cut_parts(files, 100)
    rows = [sum(stretch.n_rows for stretch in part) for part in parts]
    assert sum(rows) == N
    assert all(70 < n <= 100 for n in rows[:-1])
    order = [(s.file.path, g) for part in parts for s in part for g in s.groups]
    assert order == [(file.path, g) for file in files for g in range(3)]
    assert [sum(s.n_rows for s in part) for part in cut_parts(files, 1)] == [30, 30, 20] * 3


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


def test_without_pyarrow_the_extra_is_named():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import costboost\n"
        "try:\n    costboost.ParquetTable\n"
        "except ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'costboost[parquet]'" in run.stdout


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
    from costboost.binning.reading import read_table

    table = ParquetTable(write(frame, tmp_path / "rows.parquet", 3), label="y", part_rows=9)
    with table.open_for(CostBoostClassifier()) as opened:
        (part,) = opened.X.cluster.parts
        mine, theirs = part.raw.X, read_table(frame.drop(columns="y").astype({"half": "f4"}))
        for j in range(5):
            np.testing.assert_array_equal(mine.numbers(j, 0, 4), theirs.numbers(j, 0, 4))
            np.testing.assert_array_equal(mine.numbers(j, 1, 3), theirs.numbers(j, 1, 3))
