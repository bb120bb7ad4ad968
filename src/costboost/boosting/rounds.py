"""The loop of rounds and its consumers: early stopping, progress lines, interruption.

A `Loop` of any family yields rounds, and the recipe rounds of all its folds; `consume` takes them
until the loop ends or an observer has seen enough. An observer is any callable that gets a round
and returns True to stop. `take_rounds` is what the trainers of one model make of it.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TextIO, TypeVar

from costboost.runtime.machine import AFTER, EVERY, TerminalLine


class HasNumber(Protocol):
    """A round of any loop."""

    @property
    def number(self) -> int:
        """The round's number, from 0."""


class HasCost(HasNumber, Protocol):
    """A round of one model."""

    @property
    def train_cost(self) -> float:
        """The total cost of decisions, or the mean loss, on the training rows."""


class StoppingPolicy(Protocol):
    """How rounds are taken: early stopping, output, interruption."""

    @property
    def patience(self) -> int | None:
        """Rounds without a fall of the held-out cost before training stops; None never stops."""

    @property
    def tolerance(self) -> float:
        """A fall by less than this share of the best cost does not count."""

    @property
    def verbose(self) -> int | Literal["auto"]:
        """Print a line every so many rounds; 0 prints nothing, "auto" see `ProgressLine`."""

    @property
    def on_interrupt(self) -> Literal["raise", "keep"]:
        """Whether Ctrl-C gives up or keeps the rounds so far."""


Observer = Callable[[Any], bool]
R = TypeVar("R", bound=HasNumber)
C = TypeVar("C", bound=HasCost)


class Loop(Protocol[C]):
    """The rounds of one model on its rows, of any family."""

    @property
    def stop(self) -> str:
        """Why there are no more rounds: "rounds" where all that were wanted are taken."""

    def rounds(self, first: int = 0) -> Iterator[C]:
        """Yield the rounds from number `first` on, until one cannot be taken."""

    def replay(self, rounds: Sequence[C]) -> None:
        """Bring the rows to where they were after the given rounds."""


@dataclass
class EarlyStopping:
    """Stops when the cost of held-out rows has not fallen for `patience` rounds.

    Attributes
    ----------
    judge : callable
        Adds what is new to what it knows and returns the cost of the held-out rows after a round.
    patience : int or None
        None only watches.
    tolerance : float
        A fall by less than this share of the best cost does not count.
    every, last : int
        Rounds between two looks at the held-out rows, and the round that gets a look in any case.
    idle : callable
        Whether the last look saw the same decisions as the one before: the rounds between them
        do not count against the patience.
    costs, looks : list of float, list of int
        The held-out cost at each look, and the number of rounds taken until then.
    best_rounds : int
        The number of rounds at the least cost.
    """

    judge: Callable[[Any], float]
    patience: int | None
    tolerance: float = 0.0
    every: int = 1
    last: int = 0
    idle: Callable[[], bool] = lambda: False
    costs: list[float] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)
    best: float = float("inf")
    best_rounds: int = 0
    spared: int = 0  # rounds since the best that do not count

    def __call__(self, done: HasNumber) -> bool:
        """Judge a round if it is its turn; True when the cost has not fallen for long enough."""
        # Looks may be several rounds apart; the last round is judged in any case, or it could never
        # be best.
        n_rounds = done.number + 1
        if n_rounds % self.every and n_rounds != self.last:
            return False
        self.look(done)
        waited = n_rounds - self.best_rounds - self.spared
        return self.patience is not None and waited >= self.patience

    def look(self, done: HasNumber) -> None:
        """Judge a round."""
        cost = self.judge(done)
        if not self.looks or cost < self.best - self.tolerance * abs(self.best):
            self.best, self.best_rounds, self.spared = cost, done.number + 1, 0
        # Rounds that left all decisions as they were say nothing of whether more would help.
        elif self.idle():
            self.spared += done.number + 1 - self.looks[-1]
        self.costs.append(cost)
        self.looks.append(done.number + 1)


@dataclass
class Printer:
    """Prints a line every `every` rounds: number, `describe(round)`, seconds so far."""

    n_rounds: int
    every: int
    describe: Callable[[Any], str]
    start: float = field(default_factory=time.perf_counter)

    def __call__(self, done: HasNumber) -> bool:
        """Print a round if it is its turn; never stops."""
        number = done.number + 1
        if number % self.every == 0 or number == self.n_rounds:
            seconds = time.perf_counter() - self.start
            print(f"round {number:>4}/{self.n_rounds}   {self.describe(done)}   {seconds:.1f} s")
        return False


@dataclass
class ProgressLine:
    """A line on the terminal with the progress of a long training, cleared at its end.

    Attributes
    ----------
    n_rounds : int
        At most.
    describe : callable
        Says something of a round.
    start : float
        When the fit began, by `time.perf_counter`.
    stream : text stream
    """

    n_rounds: int
    describe: Callable[[Any], str]
    start: float
    stream: TextIO
    _last: float = 0.0

    AFTER: ClassVar[float] = AFTER
    EVERY: ClassVar[float] = EVERY

    def __post_init__(self) -> None:
        self._line = TerminalLine(self.stream)

    def __call__(self, done: HasNumber) -> bool:
        """Update the line if it is time to; never stops."""
        now = time.perf_counter()
        # Rarely enough that writing takes no time of the fit, and only where somebody waits.
        if now - self.start >= self.AFTER and now - self._last >= self.EVERY:
            self._last = now
            line = f"round {done.number + 1}, at most {self.n_rounds}   {self.describe(done)}"
            self._line.write(f"{line}   {now - self.start:.0f} s")
        return False

    def close(self) -> None:
        """Clear the line."""
        self._line.clear()


def reporter(
    verbose: int | Literal["auto"],
    n_rounds: int,
    describe: Callable[[Any], str],
    start: float,
    every: int = 1,
) -> Printer | ProgressLine | None:
    """Return the observer that reports rounds: a printer, a progress line, or None.

    `every` is the number of rounds between two of which there is something to tell.
    """
    if verbose == "auto":
        return ProgressLine(n_rounds, describe, start, sys.stderr) if _someone_looks() else None
    return Printer(n_rounds, every * -(-verbose // every), describe) if verbose else None


@contextmanager
def reported(
    verbose: int | Literal["auto"],
    n_rounds: int,
    describe: Callable[[Any], str],
    start: float,
    every: int = 1,
) -> Iterator[list[Observer]]:
    """Context with the observers that `reporter` makes; clears the progress line at its end."""
    shown = reporter(verbose, n_rounds, describe, start, every)
    try:
        yield [] if shown is None else [shown]
    finally:
        if isinstance(shown, ProgressLine):
            shown.close()


def _someone_looks() -> bool:
    """Whether this is the main thread of the process at a terminal: workers would write across."""
    main = threading.current_thread() is threading.main_thread()
    # Threads and worker processes of a search share one terminal.
    in_main_process = multiprocessing.current_process().name == "MainProcess"
    return main and in_main_process and bool(getattr(sys.stderr, "isatty", lambda: False)())


@dataclass(frozen=True)
class TakenRounds:
    """The rounds that were taken, and whether the user ended them."""

    rounds: list[Any]
    interrupted: bool


def consume(
    rounds: Iterable[R],
    observers: Sequence[Observer] = (),
    *,
    on_interrupt: Literal["raise", "keep"] = "raise",
) -> TakenRounds:
    """Collect rounds until they end, an observer returns True, or Ctrl-C is pressed.

    With on_interrupt="keep", Ctrl-C ends training and the rounds so far are kept; without a single
    round there is nothing to keep, and the interruption goes on.
    """
    taken: list[R] = []
    try:
        for done in rounds:
            taken.append(done)
            # Every observer sees every round, also the one that ends it.
            answers = [observer(done) for observer in observers]
            if any(answers):
                break
    except KeyboardInterrupt:
        if on_interrupt != "keep" or not taken:
            raise
        return TakenRounds(taken, interrupted=True)
    return TakenRounds(taken, interrupted=False)


@dataclass(frozen=True)
class Taken:
    """The rounds of one model.

    Attributes
    ----------
    rounds : list
        Those kept: all of them, or until the least held-out cost.
    costs : list of float
        The held-out cost after each round, if it was watched.
    limit : int or None
        How many rounds there were when the user ended them, by Ctrl-C or a callback; models still
        to come are to be no longer.
    interrupted : bool
        Whether it was Ctrl-C: no more models are to come.
    """

    rounds: list[Any]
    costs: list[float]
    limit: int | None
    interrupted: bool = False


def take_rounds(
    rounds: Callable[[int], Iterable[C]],
    policy: StoppingPolicy,
    n_rounds: int,
    *,
    previous: Sequence[C] = (),
    judge: Callable[[C], float] | None = None,
    idle: Callable[[], bool] = lambda: False,
    observer: Observer | None = None,
    start: float | None = None,
) -> Taken:
    """Take the rounds of one model after `previous` ones: early stopping, output, interruption.

    Parameters
    ----------
    rounds : callable
        ``rounds(first)`` yields the rounds from number ``first`` on.
    policy : StoppingPolicy
    n_rounds : int
        At most.
    previous : sequence of rounds
        Taken already; they are judged again, so that the best of all rounds is known.
    judge : callable, optional
        Returns the cost of held-out rows after a round.
    idle : callable, optional
        Whether that round decided nothing differently.
    observer : callable, optional
        Called with every round; True stops.
    start : float, optional
        When the fit began, by `time.perf_counter`; now by default.

    Returns
    -------
    Taken
    """
    watch = None
    if judge is not None:
        watch = EarlyStopping(judge, policy.patience, policy.tolerance, idle=idle)
        # Earlier rounds are judged again: the best of all rounds may be among them.
        for done in previous:
            watch.look(done)
    stop_requested = False

    def describe(done: C) -> str:
        held_out = "" if watch is None else f"   held-out cost {watch.costs[-1]:.6g}"
        return f"cost {done.train_cost:.6g}{held_out}"

    def ask(done: C) -> bool:
        nonlocal stop_requested
        stop_requested = observer is not None and observer(done)
        return stop_requested

    observers: list[Observer] = [] if watch is None else [watch]
    start = time.perf_counter() if start is None else start
    with reported(policy.verbose, n_rounds, describe, start) as shown:
        observers += [*shown, ask]
        outcome = consume(rounds(len(previous)), observers, on_interrupt=policy.on_interrupt)
    taken = [*previous, *outcome.rounds]
    # Models of this fit that are still to be trained take no more rounds than this one did.
    limit = len(taken) if outcome.interrupted or stop_requested else None
    if watch is not None and watch.costs and policy.patience is not None:
        taken = taken[: watch.best_rounds]
    costs = [] if watch is None else watch.costs
    return Taken(taken, costs, limit, outcome.interrupted)
