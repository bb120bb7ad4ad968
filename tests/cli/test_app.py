"""The commands by their names, and the exit codes of what their parser says."""

import os
import subprocess
import sys

import pytest
import typer

from costboost import __version__, versions
from costboost.cli import commands as apps

COMMANDS = (
    "train", "decide", "monitor", "evaluate", "challenge", "compare", "explain", "report",
    "inspect", "demo", "versions",
)  # fmt: skip


def test_help_names_every_command(run):
    ran = run("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)
    assert run("--version").out == f"costboost {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert "Usage: costboost" in ran.out
    assert "--debug" in ran.out
    assert command == "demo" or "--json" in ran.out


def test_completion_scripts_are_made():
    run = subprocess.run(
        [sys.executable, "-m", "costboost"],
        env={**os.environ, "_COSTBOOST_COMPLETE": "source_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_COSTBOOST_COMPLETE" in run.stdout


def test_a_demo_of_few_rows(run, monkeypatch):
    from costboost import demo

    given = []
    monkeypatch.setattr(demo, "main", given.append)
    assert run("demo", "--rows", "3000", "-o", "here").code == 0
    assert given == [["--rows", "3000", "--seed", "0", "--output", "here"]]


def test_a_demo_of_too_few_rows_is_refused(run):
    ran = run("demo", "--rows", "999")
    assert ran.code == 2
    assert "--rows" in ran.err


def test_there_are_no_other_commands():
    assert set(typer.main.get_command(apps.app).commands) == set(COMMANDS)


def doing(what):
    """Return a stand-in for the work of a command."""

    def work():
        if isinstance(what, BaseException):
            raise what
        return what

    return work


@pytest.mark.parametrize(
    ("what", "code"), [(None, 0), (typer.Exit(), 0), (typer.Exit(7), 7), ("a text", 0)]
)
def test_a_command_that_ends_gives_its_own_code(what, code, monkeypatch):
    monkeypatch.setattr(versions, "show_versions", doing(what))
    assert apps.call(["versions"]) == code


@pytest.mark.parametrize("what", [KeyboardInterrupt(), typer.Abort(), typer.Exit(130)])
def test_an_interruption_comes_through_in_every_dress(what, monkeypatch):
    monkeypatch.setattr(versions, "show_versions", doing(what))
    with pytest.raises(KeyboardInterrupt):
        apps.call(["versions"])


def test_usage_that_a_command_finds_wrong_is_shown_with_its_name(monkeypatch, capsys):
    monkeypatch.setattr(versions, "show_versions", doing(typer.BadParameter("not so")))
    assert apps.call(["versions"]) == 2
    assert "not so" in capsys.readouterr().err


def test_other_errors_are_left_to_whoever_called(monkeypatch):
    monkeypatch.setattr(versions, "show_versions", doing(OSError("the disk")))
    with pytest.raises(OSError, match="the disk"):
        apps.call(["versions"])
