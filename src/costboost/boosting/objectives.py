"""Functions of costs that rules and losses share, and Cai, Song and Zhang's objectives.

Their objective (17), sum w0 exp(-sum alpha (a f + b)), holds several algorithms as cases of (a, b,
w0): AdaBoost's loop takes it round by round, gradient boosting as a loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costboost.typing import Floats

Beta = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class RuleInput:
    """Input of a rule's functions: costs, labels and round, as arrays of one shape.

    Attributes
    ----------
    cost : ndarray
        The scaled cost of getting the row wrong; with K > 2 classes, `Rule.wrong` and
        `Rule.wrong_factor` see the cost of the wrong answer that was given.
    row_cost : ndarray or None
        The mean cost of the row's wrong answers, whatever answer was given; None: `cost`.
    sign : ndarray
        y, +1 or -1 (K > 2 classes: +1).
    n_rounds : int
        The number of rounds asked for.
    n_classes : int
    ratio : float
        The mean cost of the positives over that of the negatives.
    beta : callable or None
        The user's own beta(sign, c) for AdaCost.
    objective : tuple (a, b, w0) or None
        Gradient-CSB's objective, evaluated at these rows.
    free : bool
        Whether no mistake costs anything, on these rows and on all others.

    Examples
    --------
    >>> import numpy as np
    >>> at = RuleInput(cost=np.array([1.0, 5.0]), sign=np.array([-1, 1]), n_rounds=100)
    >>> (at.cost * at.sign).tolist()
    [-1.0, 5.0]
    """

    cost: Floats
    sign: Floats
    n_rounds: int = 1
    n_classes: int = 2
    ratio: float = 1.0
    beta: Beta | None = None
    objective: tuple[Floats, Floats, Floats] | None = None
    row_cost: Floats | None = None
    free: bool = False


Function = Callable[[RuleInput], Floats]


def one(at: RuleInput) -> Floats:
    """Return 1 for every row."""
    return np.ones_like(at.cost)


def zero(at: RuleInput) -> Floats:
    """Return 0 for every row."""
    return np.zeros_like(at.cost)


def cost(at: RuleInput) -> Floats:
    """Return the cost of every row; with K > 2 classes, of the wrong answer it was given."""
    return at.cost


def row_cost(at: RuleInput) -> Floats:
    """Return the cost of every row, whatever wrong answer it was given."""
    return at.cost if at.row_cost is None else at.row_cost


def cost_or_one(at: RuleInput) -> Floats:
    """First weights proportional to cost; where nothing costs anything, all rows are alike."""
    return one(at) if at.free else at.cost


OBJECTIVES: dict[str, Callable[[RuleInput], tuple[Floats, Floats, Floats]]] = {
    "adaboost": lambda at: (at.sign, zero(at), one(at)),
    "adacost": lambda at: (at.sign / 2, -at.cost / 2, cost_or_one(at)),
    "adac1": lambda at: (at.cost * at.sign, zero(at), one(at)),
    "asymboost": lambda at: (at.cost * at.sign, zero(at), one(at)),
}
