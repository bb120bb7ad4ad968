"""What is shown: no markup from tables, bars after two seconds only, JSON for machines."""

import io
import json
import warnings

import numpy as np
import pytest
from rich.console import Console

from costboost.cli import ReaderGoneError
from costboost.cli import output as screens
from costboost.cli.main import main
from costboost.cli.output import Screen, plain


def test_nothing_from_a_table_is_markup(run, folder, tmp_path, table):
    odd = table.rename({"hour": "[red]hour[/red]", "weekday": ":smile:"})
    odd.write_csv(tmp_path / "t.csv")
    given = ("--target", "fraud", "--positive", "yes", "--fp", "8", "--fn", "amount")
    more = ("--method", "adamec", "--rounds", "3", "-o", tmp_path / "m.cb")
    ran = run("train", tmp_path / "t.csv", *given, *more)
    assert ran.code == 0, ran.err
    assert "[red]hour[/red]" in ran.out
    assert ":smile:" in ran.out
    assert "[red]hour[/red]" in run("inspect", tmp_path / "m.cb").out


@pytest.fixture
def terminal(monkeypatch):
    made = Screen(False)
    made.err = Console(file=io.StringIO(), force_terminal=True, width=80)
    return made


def test_bars_appear_for_what_takes_long(terminal, monkeypatch):
    with terminal.working("Quick", 3) as advance:
        advance()
    assert terminal.err.file.getvalue() == ""
    monkeypatch.setattr(screens, "PATIENCE", 0.0)
    with terminal.working("Slow", 3) as advance:
        for _ in range(3):
            advance()
        screens.threading.Event().wait(0.3)
    assert "Slow" in terminal.err.file.getvalue()
    assert "3/3" in terminal.err.file.getvalue()


def test_no_bars_for_machines_and_files(capsys, monkeypatch):
    monkeypatch.setattr(screens, "PATIENCE", 0.0)
    for made in (Screen(True), Screen(False)):
        with made.working("Slow", 3):
            screens.threading.Event().wait(0.1)
    assert capsys.readouterr().err == ""


def test_warnings_become_notes(capsys):
    made = Screen(False)
    with made.listening():
        warnings.warn("careful", stacklevel=1)
        warnings.warn("careful", stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert made.notes == ["careful"]
    assert capsys.readouterr().out == "note: careful\n"


def test_json_holds_nothing_but_json(capsys):
    made = Screen(True)
    made.say("not shown")
    made.note("kept")
    values = {"a": np.float64(1.5), "b": np.arange(2), "c": float("nan"), 3: (np.bool_(True), None)}
    made.result({"found": values})
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "found": {"a": 1.5, "b": [0, 1], "c": None, "3": [True, None]}, "notes": ["kept"],
    }  # fmt: skip
    assert plain({"x": np.datetime64("2026-01-01")}) == {"x": "2026-01-01"}


class Broken(io.StringIO):
    """A stream that fails as a pipe without a reader, or a full disk, does."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def write(self, text):
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised"),
    [(BrokenPipeError(), ReaderGoneError), (OSError(28, "No space left on device"), OSError)],
)
def test_a_command_ends_its_work_though_nobody_reads(error, raised, monkeypatch):
    monkeypatch.setattr("sys.stdout", Broken(error))
    made = Screen(False)
    made.say("not shown")
    made.table(["a"], [["b"]])
    made.out.print("nor this")
    with pytest.raises(raised):
        made.result({})


def test_without_standard_output_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    made = Screen(False)
    made.say("not shown")
    made.result({})


@pytest.mark.parametrize("as_json", [False, True])
def test_letters_that_are_not_known_are_written_by_their_numbers(as_json, monkeypatch):
    data = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(data, encoding="ascii"))
    made = Screen(as_json)
    made.say("h\N{LATIN SMALL LETTER A WITH DIAERESIS}ndler")
    made.result({"h\N{LATIN SMALL LETTER A WITH DIAERESIS}": 1})
    said = data.getvalue().decode("ascii")
    assert json.loads(said) == {"h\xe4": 1} if as_json else said == "h\\xe4ndler\n"


@pytest.mark.parametrize("width", ["0", "00", ""])
def test_no_width_is_the_usual_one(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    assert main(["versions", "--json"]) == 0
    Screen(False).say("shown")
    assert capsys.readouterr().out.endswith("shown\n")
