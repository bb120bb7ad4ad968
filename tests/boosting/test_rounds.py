"""What a user sees of a long fit."""

import io
from dataclasses import dataclass
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
from costboost.boosting.rounds import (
    EarlyStopping,
    Printer,
    ProgressLine,
    reporter,
    take_rounds,
)

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


@dataclass
class Round:
    number: int
    train_cost: float = 0.0


def naive_stop(costs, idle, patience, tolerance, every, last):
    """Return (rounds looked at, best, where it stops) by the words of the documentation."""
    looks, best, best_at, spared, stops = [], None, 0, 0, None
    for n in range(1, len(costs) + 1):
        if n % every != 0 and n != last:
            continue
        cost = costs[n - 1]
        if best is None or best - cost > tolerance * abs(best):
            best, best_at, spared = cost, n, 0
        elif idle[n - 1]:
            spared += n - looks[-1]
        looks.append(n)
        if patience is not None and n - best_at - spared >= patience:
            stops = n
            break
    return looks, best_at, stops


@pytest.mark.parametrize("seed", range(40))
def test_stopping_early_does_as_its_words_say(seed):
    rng = np.random.default_rng(seed)
    n = 25
    costs = rng.integers(-6, 7, n).astype(float)  # ties among them
    idle = rng.random(n) < 0.4
    patience, every = [None, 1, 2, 3, 6][seed % 5], [1, 1, 3][seed % 3]
    tolerance = [0.0, 0.25][seed % 2]
    at = []
    watch = EarlyStopping(
        lambda done: at.append(done.number) or costs[done.number],
        patience,
        tolerance,
        every,
        last=n,
        idle=lambda: bool(idle[at[-1]]),
    )
    stops = None
    for number in range(n):
        if watch(Round(number)):
            stops = number + 1
            break
    looks, best_at, expected = naive_stop(costs, idle, patience, tolerance, every, n)
    assert (watch.looks, watch.best_rounds, stops) == (looks, best_at, expected)
    assert watch.costs == [costs[k - 1] for k in looks]
    assert watch.best == costs[best_at - 1]


@dataclass
class Policy:
    patience: int | None = None
    tolerance: float = 0.0
    verbose: int = 0
    on_interrupt: str = "raise"


def rounds_from(first):
    return (Round(k, 10.0 - k) for k in range(first, 8))


@pytest.mark.parametrize("n_before", [0, 2])
def test_rounds_beyond_the_best_are_dropped_only_where_patience_asks_for_it(n_before):
    costs = [5.0, 4.0, 1.0, 3.0, 2.0, 6.0, 7.0, 8.0]
    before = list(rounds_from(0))[:n_before]
    for patience, kept, seen in ((None, 8, 8), (3, 3, 6), (5, 3, 8)):
        taken = take_rounds(
            rounds_from, Policy(patience), 8, previous=before, judge=lambda r: costs[r.number]
        )
        assert [r.number for r in taken.rounds] == list(range(kept))
        assert taken.costs == costs[:seen]
        assert taken.limit is None
        assert not taken.interrupted
    unwatched = take_rounds(rounds_from, Policy(3), 8, previous=before)
    assert [r.number for r in unwatched.rounds] == list(range(8))
    assert unwatched.costs == []


def test_a_user_who_ends_the_rounds_sets_the_limit():
    taken = take_rounds(rounds_from, Policy(), 8, observer=lambda done: done.number == 4)
    assert (len(taken.rounds), taken.limit, taken.interrupted) == (5, 5, False)

    def interrupted(first):
        yield from list(rounds_from(first))[:3]
        raise KeyboardInterrupt

    taken = take_rounds(interrupted, Policy(on_interrupt="keep"), 8, previous=[Round(0)])
    assert (len(taken.rounds), taken.limit, taken.interrupted) == (4, 4, True)
    with pytest.raises(KeyboardInterrupt):
        take_rounds(interrupted, Policy(), 8)

    def at_once(first):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):  # there is nothing to keep
        take_rounds(at_once, Policy(on_interrupt="keep"), 8)


def test_lines_tell_both_costs(capsys):
    take_rounds(rounds_from, Policy(verbose=3), 8, judge=lambda r: 0.5 + r.number)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["3/8", "6/8", "8/8"]
    assert [line.split("   ")[-3:-1] for line in lines] == [
        [f"cost {10 - k}", f"held-out cost {k + 0.5:g}"] for k in (2, 5, 7)
    ]
