"""Payments, a model of them, and the command line run in this process."""

from importlib import import_module
from typing import NamedTuple

import pytest

from payments import TRAIN, payments

pytest.importorskip("polars")
pytest.importorskip("typer")

from costboost.cli.main import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def table():
    return payments()


@pytest.fixture(scope="session")
def folder(tmp_path_factory, table):
    """A folder with the table, later and new rows, and a model trained by the command line."""
    made = tmp_path_factory.mktemp("cli")
    table.write_csv(made / "payments.csv")
    payments(400, 4).write_csv(made / "later.csv")
    payments(300, 5).drop("fraud").write_parquet(made / "new.parquet")
    more = ("--time", "day", "--current", "blocked", "--currency", "EUR")
    model = str(made / "model.cb")
    assert main(["train", str(made / "payments.csv"), *TRAIN, *more, "-o", model]) == 0
    return made


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command line; return its code and what it printed."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def arriving(run, monkeypatch):
    """Run a command whose work is not done; return the arguments of the work."""

    def call(command, *arguments):
        given = []
        one_model = command in ("evaluate", "explain", "inspect", "report")
        module = import_module(f"costboost.cli.{'models' if one_model else command}")
        monkeypatch.setattr(module, command, lambda *parts, **more: given.append((parts, more)))
        ran = run(command, *arguments)
        assert ran.code == 0, ran.err
        ((parts, more),) = given
        return parts, more

    return call
