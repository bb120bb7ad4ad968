"""Consume rounds: early stopping on held-out cost, progress, interruption.

The loops of `rounds.py`, `gradient.py` and `pnorm.py` yield rounds; `consume` takes them until the
loop ends or an observer has seen enough. An observer is any callable that gets a round and returns
True to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar


class HasNumber(Protocol):
    """A round of any loop."""

    @property
    def number(self) -> int:
        """The round's number, from 0."""

    @property
    def train_cost(self) -> float:
        """What the decisions, or the loss, amount to on the training rows."""


R = TypeVar("R", bound=HasNumber)
Observer = Callable[[Any], bool]


@dataclass
class EarlyStopping:
    """Stops when the cost of held-out rows has not fallen for `patience` rounds.

    Attributes
    ----------
    judge : callable
        Adds a round to what it knows and returns the cost of the held-out rows.
    patience : int or None
        None only watches.
    tolerance : float
        A fall by less than this share of the best cost does not count.
    costs : list of float
        The held-out cost after each round.
    """

    judge: Callable[[Any], float]
    patience: int | None
    tolerance: float = 0.0
    costs: list[float] = field(default_factory=list)
    best: float = float("inf")
    best_rounds: int = 0

    def __call__(self, done: HasNumber) -> bool:
        """Judge a round; True when the cost has not fallen for `patience` rounds."""
        cost = self.judge(done)
        self.costs.append(cost)
        if self.best_rounds == 0 or cost < self.best - self.tolerance * abs(self.best):
            self.best, self.best_rounds = cost, len(self.costs)
        return self.patience is not None and len(self.costs) - self.best_rounds >= self.patience


@dataclass
class Printer:
    """Prints a line every `every` rounds."""

    n_rounds: int
    every: int
    watch: EarlyStopping | None = None

    def __call__(self, done: HasNumber) -> bool:
        """Print a round if it is its turn; never stops."""
        number = done.number + 1
        if number % self.every == 0 or number == self.n_rounds:
            held_out = f"   held-out cost {self.watch.costs[-1]:.6g}" if self.watch else ""
            print(f"round {number:>4}/{self.n_rounds}   cost {done.train_cost:.6g}{held_out}")
        return False


@dataclass(frozen=True)
class Outcome:
    """The rounds that were taken, and whether the user ended them."""

    rounds: list[Any]
    interrupted: bool


def consume(
    rounds: Iterable[R],
    observers: Sequence[Observer] = (),
    *,
    on_interrupt: Literal["raise", "keep"] = "raise",
) -> Outcome:
    """Take rounds until they end, an observer stops them, or the user does.

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
        return Outcome(taken, interrupted=True)
    return Outcome(taken, interrupted=False)
