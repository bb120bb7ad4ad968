"""What a user sees of a long fit."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting import rounds
from costboost.boosting.rounds import Printer, ProgressLine, reporter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 0).astype(int)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(rounds, "sys", SimpleNamespace(stderr=stream))
    return stream


ESTIMATORS = [
    CostBoostClassifier(n_estimators=20, random_state=0),
    CostBoostClassifier("adamec", n_estimators=3, random_state=0),
    GradientBoostClassifier(n_estimators=3, random_state=0),
    GradientBoostRegressor(n_estimators=3, random_state=0),
    PNormBoostClassifier(n_estimators=3, random_state=0),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_long_fits_tell_on_a_terminal(model, terminal, monkeypatch):
    monkeypatch.setattr(ProgressLine, "AFTER", 0.0)
    monkeypatch.setattr(ProgressLine, "EVERY", 0.0)
    model.fit(X, Y)
    written = terminal.getvalue()
    assert "round 1, at most " in written
    assert written.endswith("\r")
    assert written.split("\r")[-2].strip() == ""  # cleared
    terminal.truncate(0)
    model.set_params(verbose=0).fit(X, Y)
    assert terminal.getvalue().strip("\0") == ""
    model.set_params(verbose="auto")


def test_short_fits_tell_nothing(terminal, capsys):
    GradientBoostClassifier(n_estimators=3, random_state=0).fit(X, Y)
    assert terminal.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_nobody_looks(monkeypatch):
    assert reporter("auto", 10, str, 0.0) is None  # pytest's stderr is no terminal
    monkeypatch.setattr(rounds, "sys", SimpleNamespace(stderr=Terminal()))
    assert isinstance(reporter("auto", 10, str, 0.0), ProgressLine)
    worker = SimpleNamespace(current_process=lambda: SimpleNamespace(name="LokyProcess-1"))
    monkeypatch.setattr(rounds, "multiprocessing", worker)
    assert reporter("auto", 10, str, 0.0) is None


@pytest.mark.parametrize(("verbose", "every", "found"), [(1, 10, 10), (15, 10, 20), (4, 1, 4)])
def test_lines_are_printed_where_there_is_something_to_tell(verbose, every, found):
    shown = reporter(verbose, 100, str, 0.0, every)
    assert isinstance(shown, Printer)
    assert shown.every == found
    assert reporter(0, 100, str, 0.0, every) is None
