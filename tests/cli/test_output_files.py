"""Results become files: whole, by the end of their names, and never over another."""

import io
import os
import sys

import matplotlib.figure
import polars as pl
import pytest

from costboost.cli import InputError, ReaderGoneError
from costboost.cli.output import check_output, table_suffixes, write_figure, write_table

FRAME = pl.DataFrame({"a": [1.5, None, -2e300], "b": ["x, y", 'a "quote"', None]})
READERS = {
    ".csv": pl.read_csv,
    ".csv.gz": pl.read_csv,
    ".tsv": lambda data: pl.read_csv(data, separator="\t"),
    ".parquet": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
    ".jsonl": pl.read_ndjson,
    ".ndjson": pl.read_ndjson,
}


def test_files_are_replaced_only_by_force(run, folder, tmp_path):
    output = tmp_path / "d.csv"
    output.write_text("precious")
    ran = run("decide", folder / "model.cb", folder / "new.parquet", "-o", output)
    assert (ran.code, output.read_text()) == (1, "precious")
    assert (
        run("decide", folder / "model.cb", folder / "new.parquet", "-o", output, "--force").code
        == 0
    )
    assert output.read_text().startswith("amount,")


def test_every_ending_is_known_to_the_test():
    assert set(table_suffixes()) == set(READERS)


@pytest.mark.parametrize("suffix", READERS)
def test_a_table_comes_back_from_every_format(suffix, tmp_path):
    path = tmp_path / f"T.x{suffix.upper()}"
    check_output(str(path), False, table_suffixes())
    write_table(FRAME, str(path))
    assert READERS[suffix](io.BytesIO(path.read_bytes())).equals(FRAME)
    assert path.read_bytes()[:2] == b"\x1f\x8b" or suffix != ".csv.gz"
    again = tmp_path / f"again{suffix}"
    write_table(FRAME, str(again))
    assert again.read_bytes() == path.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([path, again])


@pytest.mark.parametrize("path", [None, "-"])
def test_without_a_file_a_table_is_printed_as_csv(path, capsys):
    check_output(path, False, table_suffixes())
    write_table(FRAME, path)
    assert capsys.readouterr().out == FRAME.write_csv()


def test_a_reader_that_has_gone_is_told_apart_from_a_broken_disk(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(ReaderGoneError):
        write_table(FRAME, None)


def test_what_could_not_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    old = tmp_path / "old.csv"
    old.write_text("precious")
    for path, says in (
        (tmp_path, "is a folder, and only regular"),
        (old, "say --force"),
        (tmp_path / "none" / "t.csv", "make it first"),
        (tmp_path / "t.xlsx", r"must end with \.csv, \.csv\.gz"),
        (tmp_path / "csv", "must end with"),
    ):
        with pytest.raises(InputError, match=says):
            check_output(str(path), False, table_suffixes())
    check_output(str(old), True, table_suffixes())
    check_output(str(tmp_path / "any.name"), False)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        check_output(str(tmp_path / "t.csv"), False)
    assert old.read_text() == "precious"


def test_a_table_that_cannot_be_written_leaves_the_old_file(tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("precious")
    with pytest.raises(pl.exceptions.ComputeError):
        write_table(pl.DataFrame({"a": [[1, 2]]}), str(old))  # lists have no place in a CSV
    assert [old.read_text(), *tmp_path.iterdir()] == ["precious", old]


@pytest.mark.parametrize(
    ("name", "start"),
    [("p.png", b"\x89PNG"), ("p.PNG", b"\x89PNG"), ("p.pdf", b"%PDF"), ("p.svg", b"<?xml")],
)
def test_a_picture_is_of_the_kind_that_its_name_says(name, start, tmp_path):
    write_figure(matplotlib.figure.Figure((1, 1)), str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(start)
