"""Which files make a table, whether they stayed as they were, and how they are cut into parts."""

from __future__ import annotations

import os
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest

from costboost import ParquetTable
from costboost.files.finding import DataFile, cut_parts, find_files, read_files
from costboost.files.sources import FileRows, ParquetColumns
from parquet_rows import N, make_rows, write


def data_file(path, *group_rows):
    return DataFile(path, 0, 0, group_rows)


def groups_of(parts):
    """Return (path, row group) in the order in which parts are read."""
    return [[(s.file.path, g) for s in part for g in s.groups] for part in parts]


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


def test_files_of_a_folder_are_those_of_its_folders_too_by_name(tmp_path):
    for name in ("b/2.parquet", "a.pq", "b/1.parquet", "notes.txt", "b/c.parquet.crc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "d.parquet").mkdir()  # a folder, whatever its name
    inside = [str(tmp_path / name) for name in ("a.pq", "b/1.parquet", "b/2.parquet")]
    assert find_files(tmp_path) == inside
    assert find_files(str(tmp_path / "**" / "*.parquet")) == inside[1:]
    assert find_files([tmp_path / "b" / "2.parquet", str(tmp_path)]) == [inside[2], *inside]


def test_a_file_whose_name_is_a_pattern_is_itself(tmp_path):
    for name in ("rows[1].parquet", "rows1.parquet"):
        (tmp_path / name).touch()
    assert find_files(tmp_path / "rows[1].parquet") == [str(tmp_path / "rows[1].parquet")]


def test_row_groups_are_counted_without_reading_them(tmp_path, monkeypatch):
    write(make_rows(), tmp_path / "rows.parquet", [100, 0, N - 101, 1])
    monkeypatch.chdir(tmp_path)
    (file,), (schema,) = read_files(["rows.parquet"])
    assert file.path == str(tmp_path / "rows.parquet")  # whatever folder is the current one later
    assert file.group_rows == (100, 0, N - 101, 1)
    assert schema.names == list(make_rows())


def test_files_that_changed_or_are_gone_are_refused(tmp_path):
    path = write(make_rows(), tmp_path / "rows.parquet")
    (file,), _ = read_files([path])
    file.check()
    os.utime(path, ns=(file.changed, file.changed + 1))
    with pytest.raises(ValueError, match=r"rows\.parquet was changed after"):
        file.check()
    os.utime(path, ns=(file.changed, file.changed))
    file.check()
    os.unlink(path)
    with pytest.raises(ValueError, match=r"cannot be read any more: No such file"):
        file.check()


@pytest.mark.parametrize("seed", range(20))
def test_parts_keep_the_order_and_are_as_large_as_they_may_be(seed):
    rng = np.random.default_rng(seed)
    files = [
        data_file(f"{k}", *rng.choice([0, 1, 5, 30], rng.integers(0, 6)).tolist())
        for k in range(rng.integers(1, 5))
    ]
    n_rows = int(rng.integers(1, 60))
    parts = cut_parts(files, n_rows)
    everything = [(file.path, g) for file in files for g in range(len(file.group_rows))]
    assert list(chain.from_iterable(groups_of(parts))) == everything
    sizes = [[s.file.group_rows[g] for s in part for g in s.groups] for part in parts]
    assert all(sum(own) <= n_rows or np.count_nonzero(own) == 1 for own in sizes)
    assert all(sum(own) + following[0] > n_rows for own, following in pairwise(sizes))


def test_files_without_row_groups_make_no_part():
    assert cut_parts([data_file("none"), data_file("neither")], 10) == []
    assert groups_of(cut_parts([data_file("none"), data_file("some", 3)], 10)) == [[("some", 0)]]


def test_a_file_that_is_listed_twice_is_read_where_it_stands(tmp_path):
    paths = [
        write(pd.DataFrame({"x": x}), tmp_path / f"{x[0]}.parquet", 1) for x in ([1, 2], [3, 4])
    ]
    listed = [paths[0], paths[1], paths[0], paths[0]]
    files, _ = read_files(find_files(listed))
    for n_rows, n_parts in ((100, 1), (3, 3), (1, 8)):
        parts = cut_parts(files, n_rows)
        rows = [
            FileRows(part, ParquetColumns(("x",), ("numbers",), "x", None, ())) for part in parts
        ]
        assert len(parts) == n_parts
        assert np.concatenate([part.y for part in rows]).tolist() == [1, 2, 3, 4, 1, 2, 1, 2]
