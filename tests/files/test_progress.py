"""Progress is a line on a terminal, and silence elsewhere."""

from __future__ import annotations

import io

import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.files import running as module
from costboost.files.running import StepProgress
from parquet_rows import FEATURES, make_rows, write


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_bar(clock):
    stream = Terminal()
    shown = StepProgress(stream=stream)
    clock[0] += 2
    shown("bins", 1, 4, "columns")
    assert stream.getvalue() == ""  # small tables are done before anything is shown
    clock[0] += 2
    shown("bins", 2, 4, "columns")
    shown("bins", 3, 4, "columns")  # too soon to be seen
    clock[0] += 2
    shown("bins", 4, 4, "columns")
    clock[0] += 2
    shown("codes", 1, 1, "parts")
    shown.clear()
    lines = stream.getvalue().split("\r")[1:]
    assert lines[:2] == [
        "costboost: bins     [##########..........] 2/4 columns   4 s",
        "costboost: bins     [####################] 4/4 columns   6 s",
    ]
    assert lines[2].rstrip() == "costboost: codes    [####################] 1/1 parts   8 s"
    assert len(lines[2]) == len(lines[1])  # nothing of the longer line is left
    assert [line.strip() for line in lines[3:]] == ["", ""]  # and nothing at all at the end


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO(), None), (Terminal(), False)])
def test_silence(clock, stream, shown):
    quiet = StepProgress(shown, stream)
    quiet("bins", 0, 1, "columns")
    clock[0] += 9
    quiet("bins", 1, 1, "columns")
    quiet.clear()
    assert stream.getvalue() == ""


def test_a_fit_tells_of_bins_and_codes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "AFTER", 0.0)
    path = write(make_rows(), tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", Costs(fp=1, fn=2), features=FEATURES, progress=True)
    model = CostBoostClassifier("adaboost", n_estimators=2).fit(table)
    told = capsys.readouterr().err
    assert "bins     [####################] 9/9 columns" in told
    assert "codes    [####################] 1/1 parts" in told
    list(model.predict(table))
    assert "240/240 rows" in capsys.readouterr().err
