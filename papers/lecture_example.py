"""The one-dimensional example of the lecture's page: data, losses, and AdaBoost by brute force.

The lecture draws no data of its own, so these are ours: a wave and a step on [0, 1] with noise, one
answer in ten far off, so that the losses have something to disagree about; and labels whose chance
is a wave as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses import (
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    PinballLoss,
    SquaredLoss,
)

Floats = NDArray[np.float64]

DELTA = 0.3  # where Huber's loss becomes linear


class Example(NamedTuple):
    """Points of [0, 1] as a table of one column, and their answers."""

    X: Floats
    y: NDArray[Any]


def truth(x: Floats) -> Floats:
    """Return the answers without noise."""
    return np.sin(2 * np.pi * x) + (x > 0.6)


def draw_answers(n: int, seed: int) -> Example:
    """Draw noisy answers, one in ten of them far off."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(size=n))
    far = rng.uniform(size=n) < 0.1
    y = truth(x) + rng.normal(0, 0.15, n) + far * rng.normal(2, 1, n)
    return Example(x[:, None], y)


def chance(x: Floats) -> Floats:
    """Return the chance of label 1."""
    return np.asarray(1 / (1 + np.exp(-3 * np.sin(3 * np.pi * x))))


def draw_labels(n: int, seed: int) -> Example:
    """Draw labels 0 and 1."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(size=n))
    return Example(x[:, None], (rng.uniform(size=n) < chance(x)).astype(int))


class Described(NamedTuple):
    """A loss with what the lecture, or algebra, says of it."""

    loss: Any
    name: str
    formula: str
    derivative: str
    minimiser: str
    labels: bool


# Sections 2, 3.1, 3.3 and 3.4. F is the log odds in log loss, twice the lecture's f.
LOSSES = (
    Described(SquaredLoss(), "squared", "(y - F)^2 / 2", "F - y", "mean", False),
    Described(PinballLoss(), "absolute", "|y - F|", "sign(F - y)", "median", False),
    Described(
        HuberLoss(DELTA), "huber", "r^2/2, else d(|r| - d/2)", "r cut at +-d", "between", False
    ),
    Described(
        ExponentialLoss(), "exponential", "exp(-y F)", "-y exp(-y F)", "ln(p/(1-p)) / 2", True
    ),
    Described(LogLoss(), "log", "ln(1 + exp(-y F))", "-y / (1 + exp(y F))", "ln(p/(1-p))", True),
)


@dataclass(frozen=True)
class Flat:
    """A loss without its curvature: a Newton step on it is a fixed step down the gradient."""

    loss: Any

    def value(self, y: Any, raw: Any) -> Any:
        """Return the loss."""
        return self.loss.value(y, raw)

    def gradient(self, y: Any, raw: Any) -> Any:
        """Return its derivative."""
        return self.loss.gradient(y, raw)

    def hessian(self, y: Any, raw: Any) -> Any:
        """Return 1."""
        return np.ones_like(raw)

    def proba(self, raw: Any) -> Any:
        """Return class probabilities."""
        return self.loss.proba(raw)


class Stage(NamedTuple):
    """A round of forward stagewise fitting: a stump, its error and its step."""

    threshold: float
    sign: int
    error: float
    step: float


def stagewise_exponential(example: Example, n_rounds: int) -> list[Stage]:
    """Minimise sum exp(-y (f + lambda h)) over all stumps h and all lambda, round by round.

    By trying every stump with its own best lambda (section 2 of the lecture says that AdaBoost,
    which looks at the weighted error alone, does the same).
    """
    x, y = example.X[:, 0], 2.0 * example.y - 1
    cuts = np.r_[-np.inf, (x[1:] + x[:-1]) / 2]
    f = np.zeros(len(x))
    stages = []
    for _ in range(n_rounds):
        w = np.exp(-y * f)
        found = min(
            (*_best_step(w, y, s * np.where(x > c, 1, -1)), c, s) for c in cuts for s in (1, -1)
        )
        _, backwards, cut, sign = found
        step = -backwards
        h = sign * np.where(x > cut, 1, -1)
        stages.append(Stage(float(cut), sign, float(w[h != y].sum() / w.sum()), step))
        f += step * h
    return stages


def _best_step(w: Floats, y: Floats, h: Any) -> tuple[float, float]:
    """Return the least sum w exp(-lambda y h), and minus its lambda: (1/2) ln(B / A).

    A stump and its reverse reach the same; the smaller pair has the positive step.
    """
    right, wrong = float(w[h == y].sum()), float(w[h != y].sum())
    return 2 * math.sqrt(right * wrong), 0.5 * math.log(wrong / right)
