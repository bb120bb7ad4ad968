"""Held-out rows: what a model says of them after each round, and how good that is.

Every family follows its rounds on the rows of an eval_set with a `Follower`, which knows how its
trees add up; what it says (`Answers`, of a regression `Predictions`) is measured here, by one
`Judge` for all. The first set stops training; the others are only watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.shards.layout import blocks_of

Floats = NDArray[np.float64]
Codes = NDArray[Any]

METRICS = ("auto", "cost", "log_loss", "brier")
"""What early stopping goes by; "auto" is cost, and of the recipe log loss."""


class HeldOut(NamedTuple):
    """One eval_set as the user gave it, checked: costs and weights may be None."""

    name: str
    X: Any
    y: NDArray[Any]
    costs: Any
    weights: Floats | None


class Watched(NamedTuple):
    """Held-out rows: a table for outside learners, or codes; what is said of them.

    `costs` are bound, None for regression; `prices` are pinball loss's, (n, 2).
    """

    X: Any
    codes: NDArray[np.uint8] | None
    y: NDArray[Any]
    costs: Any
    weights: Floats | None
    prices: Floats | None = None


class Said(Protocol):
    """What a model says of held-out rows."""

    def measure(self, metric: Any) -> float:
        """Return how bad that is: by the name of a metric, or by a user's."""


@dataclass(frozen=True)
class Answers:
    """What a classifier says of held-out rows.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        As the user wrote them.
    y : integer array of shape (n,)
        The numbers of the true classes.
    proba : callable
        Returns class probabilities, (n, K); asked only where they matter.
    decided : integer array of shape (n,)
        Numbers of the actions taken.
    costs : Costs
        Bound, of these rows.
    weights : float64 array of shape (n,) or None
    """

    classes: NDArray[Any]
    y: NDArray[np.integer[Any]]
    proba: Callable[[], Floats]
    decided: NDArray[np.integer[Any]]
    costs: Costs
    weights: Floats | None

    def measure(self, metric: Any) -> float:
        """Return how bad the answers are: by the name of a metric, or by a user's."""
        if callable(metric):
            return ask_metric(metric, self.classes[self.y], self.proba(), self.weights)
        return float(np.average(self.row_losses(metric), weights=self.weights))

    def row_losses(self, metric: str) -> Floats:
        """Return the loss of each row, shape (n,), whose weighted mean is the metric."""
        proba = None if metric == "cost" else self.proba()
        out = np.empty(len(self.y))
        for rows in blocks_of(len(out)):
            y = self.y[rows].astype(np.intp)
            if proba is None:
                costs, decided = self.costs[rows], self.decided[rows]
                out[rows] = costs.of_decisions(y, decided, encoded=True)
                continue
            said = proba[rows]
            right = said[np.arange(len(y)), y]
            if metric == "log_loss":
                out[rows] = -np.log(np.maximum(right, 1e-15))
            else:  # Brier (1950), halved, so that with two classes it is (p - y)^2
                out[rows] = 0.5 * (np.sum(said**2, axis=1) - right**2 + (1.0 - right) ** 2)
        return out

    def constant_cost(self) -> float:
        """Return the mean cost of the cheapest constant; inf where even hindsight costs as much."""
        prices = self.costs.of_labels(self.y.astype(np.intp), encoded=True)
        constant = float(np.average(prices, axis=0, weights=self.weights).min())
        least = float(np.average(prices.min(axis=1), weights=self.weights))
        return constant if least < constant else np.inf


@dataclass(frozen=True)
class Predictions:
    """What a regression says of held-out rows.

    Attributes
    ----------
    y : float64 array of shape (n,)
        The true numbers.
    predicted : float64 array of shape (n,)
    mean_loss : callable
        Returns the mean loss, asked for where no other metric was given.
    weights : float64 array of shape (n,) or None
    """

    y: Floats
    predicted: Floats
    mean_loss: Callable[[], float]
    weights: Floats | None

    def measure(self, metric: Any) -> float:
        """Return the mean loss, or what a user's metric says."""
        if callable(metric):
            return ask_metric(metric, self.y, self.predicted.copy(), self.weights)
        return self.mean_loss()


def ask_metric(metric: Any, truth: NDArray[Any], said: Floats, weights: Floats | None) -> float:
    """Return what a user's metric says; it gets `sample_weight=` where there are weights."""
    extra = {} if weights is None else {"sample_weight": weights}
    return float(metric(truth, said, **extra))


class Follower(Protocol):
    """A model of a growing number of rounds, on held-out rows."""

    def follow(self, done: Any) -> Said:
        """Add a round; return what the model says now."""


def class_actions(costs: Costs, answers: Codes) -> Codes:
    """Return class numbers as numbers of actions: the same, where the actions are the classes."""
    if not costs.is_square:
        raise ValueError(
            "This method decides for a class, and cannot stop by the cost of other actions, which "
            f'are {costs.actions}. Use early_stopping_metric="log_loss".'
        )
    return answers


class Decisions:
    """The decisions at looks at held-out rows: whether they change, and beat a constant."""

    def __init__(self) -> None:
        self._last_two: tuple[Codes | None, Codes | None] = (None, None)
        self._constant: float | None = None

    def note(self, answers: Answers, *, by_cost: bool = True) -> None:
        """Keep the decisions of a look; `by_cost` says whether training stops by what they cost."""
        if by_cost:
            self._last_two = (self._last_two[1], answers.decided)
        if self._constant is None:
            self._constant = answers.constant_cost()

    def idle(self) -> bool:
        """Whether the last look decided nothing differently: the cost cannot have moved."""
        before, last = self._last_two
        return before is not None and last is not None and np.array_equal(before, last)

    def beat_no_constant(self, least: float) -> bool:
        """Whether one answer for all rows would have cost no more than the cheapest look."""
        return self._constant is not None and least >= self._constant


class Judge:
    """Says after each round how bad the answers on the first set are; watches the others.

    Attributes
    ----------
    results : dict
        For each set, by name, the metric after each round.
    decisions : Decisions
        On the first set; none are noted where cost is not what counts.
    """

    def __init__(self, metric: Any, followers: Sequence[tuple[str, Follower]]) -> None:
        self.metric, self.followers = metric, followers
        self.results: dict[str, list[float]] = {name: [] for name, _ in followers}
        self.decisions = Decisions()

    def __call__(self, done: Any) -> float:
        """Follow all sets; return the metric on the first."""
        for i, (name, follower) in enumerate(self.followers):
            said = follower.follow(done)
            self.results[name].append(said.measure(self.metric))
            if i == 0 and self.metric == "cost":
                assert isinstance(said, Answers)
                self.decisions.note(said)
        return self.results[self.followers[0][0]][-1]

    def beats_no_constant(self) -> bool:
        """Whether one answer for all rows would have cost no more than the best round."""
        found = self.results[self.followers[0][0]]
        return self.decisions.beat_no_constant(min(found, default=np.inf))
