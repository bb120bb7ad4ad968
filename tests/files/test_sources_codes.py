"""Codes in files: kept, found again, checked, and never left half written."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.files import sources as module
from costboost.files.sources import CodesFolder, make_folder
from parquet_rows import FEATURES, make_rows, write

SHAPE = (100, 7)


def fill(codes):
    codes[:] = np.arange(700, dtype=np.int64).reshape(SHAPE) % 251


def refuse(codes):
    raise AssertionError("the codes were there already")


def make(folder, about="these", write=fill):
    return folder.array("codes", about, SHAPE, np.uint8, write)


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "codes")


def test_codes_are_written_once(folder):
    first = make(folder)
    assert not first.flags.writeable
    again = make(folder, write=refuse)
    np.testing.assert_array_equal(first, again)
    assert first[3, 4] == 25
    (name,) = os.listdir(folder.path)
    assert name.startswith("codes-")
    assert name.endswith(".npy")


def test_other_codes_have_another_name(folder):
    edges = np.linspace(0, 1, 2000)  # longer than a repr shows
    nearly = edges.copy()
    nearly[1000] += 1e-9
    for about in ("these", ("these", 2), {"edges": edges}, {"edges": nearly}):
        make(folder, about)
    assert len(os.listdir(folder.path)) == 4


@pytest.mark.parametrize("damage", ["a byte", "the end", "everything"])
def test_damaged_codes_are_written_again(folder, damage):
    expected = np.array(make(folder))
    path = Path(folder.path, os.listdir(folder.path)[0])
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    kept = {"a byte": data, "the end": data[:-10], "everything": b""}[damage]
    path.write_bytes(kept)
    with pytest.warns(UserWarning, match="is damaged: it is written again"):
        found = make(folder)
    np.testing.assert_array_equal(found, expected)


def test_a_failure_leaves_nothing_behind(folder):
    def fail(codes):
        codes[:] = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(folder, write=fail)
    assert os.listdir(folder.path) == []


def test_a_full_disk_is_told_of(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"disk of .* is full.*700 bytes.*cache=") as caught:
        make(folder)
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(folder.path) == []


def test_room_is_made_without_fallocate(folder, monkeypatch):
    expected = make(folder, "one")
    monkeypatch.delattr(module.os, "posix_fallocate")
    np.testing.assert_array_equal(make(folder, "another"), expected)


def test_too_little_space_is_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"need 1000000000\.0 GB, but .* has only"):
        make_folder(tmp_path).check_space(10**18)


def test_temporary_folders_are_removed():
    folder = make_folder(None)
    make(folder)
    folder.close()
    assert not os.path.exists(folder.path)


def test_given_folders_stay(folder):
    make(folder)
    folder.close()
    assert len(os.listdir(folder.path)) == 1
    assert folder == CodesFolder(folder.path, temporary=False)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is no folder"):
        make_folder(tmp_path / "file")


def test_fits_share_a_cache(tmp_path):
    path = write(make_rows(), tmp_path / "rows.parquet")
    given = {"label": "label", "features": FEATURES, "part_rows": 100}
    table = ParquetTable(path, cache=tmp_path / "codes", **given)
    model = CostBoostClassifier("adaboost", n_estimators=3, random_state=0)
    first = model.fit(table, costs=Costs(fp=1, fn=2)).predict_proba(make_rows()[FEATURES])
    files = {f: os.stat(tmp_path / "codes" / f).st_mtime_ns for f in os.listdir(tmp_path / "codes")}
    assert len(files) == 6  # codes of three parts, and the numbers of their rows
    again = model.fit(table, costs=Costs(fp=1, fn=2)).predict_proba(make_rows()[FEATURES])
    assert first.tobytes() == again.tobytes()
    now = {f: os.stat(tmp_path / "codes" / f).st_mtime_ns for f in os.listdir(tmp_path / "codes")}
    assert now == files
    model.set_params(max_bins=5).fit(table)
    assert len(os.listdir(tmp_path / "codes")) == 9  # the rows are in the same order


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_new_folder_is_its_owners_alone_and_one_that_is_there_stays_as_it_is(tmp_path):
    assert stat.S_IMODE(os.stat(make_folder(tmp_path / "new").path).st_mode) == 0o700
    (tmp_path / "old").mkdir(mode=0o755)
    before = os.stat(tmp_path / "old").st_mode
    assert os.stat(make_folder(tmp_path / "old").path).st_mode == before
    with closing(make_folder(None)) as own:
        assert stat.S_IMODE(os.stat(own.path).st_mode) == 0o700
