"""Formulas of all families: functions of costs, links to probabilities, a search for minimisers.

Rules and losses are made of functions of a `RuleInput`. Links turn margins into probabilities, the
same bit for bit on every machine (see `_link_kernels`); `choices_of` decides without any. A
`Bracket` finds the minimiser of a convex function, or of many at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from costboost.boosting import _link_kernels as kernels
from costboost.typing import Floats, Int64

# Functions of costs, and Cai, Song and Zhang's objectives. Their objective (17),
# sum w0 exp(-sum alpha (a f + b)), holds several algorithms as cases of (a, b, w0): AdaBoost's loop
# takes it round by round, gradient boosting as a loss.

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


# Links.

# The half log of an error of one ulp: what a perfect learner's vote weighs at most.
MAX_ALPHA = 0.5 * math.log((1 - 2.0**-52) / 2.0**-52)


def choices_of(margins: Floats) -> Int64:
    """Return the class of every row by its margins alone, (n, 1) or (n, K), without costs.

    The sign of one margin (ties: the first class), or the largest of K (ties: the first).

    Examples
    --------
    >>> choices_of(np.array([[0.0], [0.1]])).tolist()
    [0, 1]
    >>> choices_of(np.array([[2.0, 3.0, 3.0]])).tolist()
    [1]
    """
    if margins.shape[1] == 1:
        return (margins[:, 0] > 0.0).astype(np.int64)
    return np.asarray(np.argmax(margins, axis=1), dtype=np.int64)


def logistic(log_odds: Floats) -> Floats:
    """Return the probabilities of two classes, (n, 2), whose log odds are given, (n,).

    Examples
    --------
    >>> logistic(np.array([0.0, np.inf])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    return np.column_stack([expit(-log_odds), expit(log_odds)])  # expit is libm's already


def softmax(logits: ArrayLike) -> Floats:
    """Return the probabilities of K classes, (n, K).

    Examples
    --------
    >>> softmax([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    given = np.ascontiguousarray(logits, dtype=np.float64)
    out = np.empty(given.shape)
    kernels.softmax_rows(given, out)
    return out


def log_sides(shares: ArrayLike) -> Floats:
    """Return ln s and -ln(1 - s), (n, 2), of shares strictly between 0 and 1."""
    given = np.ascontiguousarray(shares, dtype=np.float64)
    out = np.empty((len(given), 2))
    kernels.log_sides(given, out)
    return out


def link(margins: Floats, slope: float = 2.0) -> Floats:
    """Return the probabilities that a loss assigns to margins (n, 1) or (n, K), (n, K).

    `slope` is r+ + r-; 2 for the plain exponential loss, whose minimiser is half the log odds, and
    for K classes SAMME's softmax of twice the votes.
    """
    scaled = slope * margins
    return logistic(scaled[:, 0]) if scaled.shape[1] == 1 else softmax(scaled)


def vote_shares(margins: Floats, total_alpha: float) -> Floats:
    """Return each class's share of the votes, (n, K): s = sum_{h = k} alpha / sum alpha."""
    if margins.shape[1] > 1:
        return normalised(margins)
    share = np.clip(0.5 * (1.0 + margins[:, 0] / total_alpha), 0.0, 1.0)
    return np.column_stack([1.0 - share, share])


def normalised(scores: Floats) -> Floats:
    """Return scores with rows scaled to sum 1; a row of zeros becomes uniform.

    Examples
    --------
    >>> normalised(np.array([[0.25, 0.25], [0.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full(scores.shape, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, total, out=uniform, where=total > 0.0))


def scores_of(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return the scores that are calibrated: shares of discrete votes, else margins.

    Two classes: (n,), for the second one; more: (n, K).
    """
    scores = vote_shares(margins, total_alpha) if shares else margins
    return scores[:, -1] if margins.shape[1] == 1 else scores


def voted_proba(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return the probabilities by which AdaMEC decides: shares of votes, or the link's, (n, K).

    Real and Gentle AdaBoost's leaves are not counted by alpha: their margins have no share.
    """
    return vote_shares(margins, total_alpha) if shares else link(margins)


# Newton's method kept inside a bracket. The sign of the slope says on which side of a place the
# minimiser lies; where a Newton step leads out of the bracket that is left, the bracket is halved.
# Numbers are floats, or arrays of functions side by side: both go the same way, bit for bit.

Numbers = Any  # a float, or a float64 array


class Tolerance(NamedTuple):
    """How short a step is as good as none, relative to the place that it is taken from."""

    relative: float
    absolute: Numbers

    def holds(self, step: Numbers, at: Numbers) -> Any:
        """Whether a step is that short."""
        bound = self.relative * abs(at)
        return abs(step) <= _choose(bound > self.absolute, bound, self.absolute)


NEVER = Tolerance(np.nan, np.nan)
_PATIENCE = 32  # passes from one side, before Newton steps are lengthened
_USED_UP = 6  # and that many once they were


@dataclass
class Bracket:
    """Intervals that contain the minimisers, and the points to evaluate next.

    Attributes
    ----------
    at : float, or float64 array of shape (L,)
        Where to look next; the answer once `done`.
    low, high : like `at`
        No answer lies beyond.
    close : Tolerance
        A Newton step inside the bracket that is this short is the last.
    shut : Tolerance
        So is a step in place of Newton's.
    still : Tolerance
        Where a Newton step that leads out is this short, no step is taken at all.
    takes_last : bool
        Whether the last step is taken.
    wary : bool
        Whether Newton's method is left also where it does not halve the slope, and ends of the
        bracket that were never reached are approached in growing steps, not by halves; and whether
        Newton steps grow where many have come from one side: along the tail of an exponential each
        is as short as the last.
    reach : like `at`
        The first of these growing steps.
    freezes : bool
        Whether who has arrived stays; else all go on until the last has.
    inside : bool, or array of them
        Whether the step taken last was Newton's.

    Examples
    --------
    e^x - 3 x is least at ln 3:

    >>> import math
    >>> bracket = Bracket(0.0, -10.0, 10.0, close=Tolerance(1e-7, 1e-13))
    >>> abs(bracket.minimise(lambda x: (math.exp(x) - 3.0, math.exp(x))) - math.log(3.0)) < 1e-15
    True
    """

    at: Numbers
    low: Numbers
    high: Numbers
    close: Tolerance
    shut: Tolerance = NEVER
    still: Tolerance = NEVER
    takes_last: bool = True
    wary: bool = False
    reach: Numbers = 1.0
    freezes: bool = True

    def __post_init__(self) -> None:
        self._ends = self.low, self.high
        self._steepest: Numbers = np.inf
        self._fell: Any = False
        self._run: Numbers = 0
        self._pace: Numbers = 1.0
        self._patience: Numbers = _PATIENCE
        self.done: Any = False
        self.inside: Any = False

    def minimise(
        self, derivatives: Callable[[Numbers], tuple[Numbers, Numbers]], passes: int = 100
    ) -> Numbers:
        """Return the minimisers, given the first two derivatives at any places."""
        for _ in range(passes):
            self.update(*derivatives(self.at))
            if np.all(self.done):
                break
        return self.at

    def update(self, slopes: Numbers, curvatures: Numbers) -> None:
        """Narrow the brackets by the derivatives at `at`.

        Move the points that have not converged.
        """
        at, falling, (first, last) = self.at, slopes < 0.0, self._ends
        # At an end, a function that still falls outwards has its minimum there.
        ended = ((at >= last) & falling) | ((at <= first) & (slopes > 0.0))
        self.low, self.high = _choose(falling, at, self.low), _choose(falling, self.high, at)
        with np.errstate(over="ignore", invalid="ignore"):
            newton = at - slopes / _choose(curvatures > 0.0, curvatures, sys.float_info.min)
        # Without curvature the slope says which way, not how far: where it is rounding's alone,
        # Newton's step would go to the end of the numbers.
        self.inside = (newton > self.low) & (newton < self.high) & (curvatures > 0.0)
        if self.wary:
            self.inside &= abs(slopes) <= 0.5 * self._steepest
            self._steepest = abs(slopes)
        place = self._hurried(newton, falling) if self.wary else newton
        following = _choose(self.inside, place, self._without_newton(falling))
        short = self.close.holds(newton - at, at), self.shut.holds(following - at, at)
        arrives = _choose(self.inside, *short)
        stays = ended | _choose(self.inside, False, self.still.holds(newton - at, at))
        stays = stays | (self.done if self.freezes else False)
        self.at = _choose(stays if self.takes_last else stays | arrives, at, following)
        self.done = stays | arrives

    def _hurried(self, newton: Numbers, falling: Any) -> Numbers:
        """Return where Newton steps lead, growing ones where too many have come from this side."""
        same, self._fell = falling == self._fell, falling
        self._run = _choose(same, self._run + 1, 0)
        late = self.inside & (self._run > self._patience)
        if not np.any(late):
            return newton
        self._patience = _choose(late, _USED_UP, self._patience)
        self._pace = _choose(late, 4.0 * self._pace, _choose(same, self._pace, 1.0))
        with np.errstate(over="ignore"):  # out of the bracket
            farther = _choose(late, self.at + self._pace * (newton - self.at), newton)
        self.inside &= (farther > self.low) & (farther < self.high)
        return farther

    def _without_newton(self, falling: Any) -> Numbers:
        """Halve the bracket, or go out in growing steps while that side of it is open."""
        middle = 0.5 * self.low + 0.5 * self.high
        if not self.wary:
            return middle
        first, last = self._ends
        open_ = _choose(falling, self.high >= last, self.low <= first)
        out = np.clip(_choose(falling, self.at + self.reach, self.at - self.reach), first, last)
        self.reach = _choose(open_ > self.inside, 4.0 * self.reach, self.reach)
        return _choose(open_, out, middle)


def _choose(which: Any, one: Numbers, other: Numbers) -> Any:
    if isinstance(which, np.ndarray):
        return np.where(which, one, other)
    return one if which else other
