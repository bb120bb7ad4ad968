"""Newton's method kept inside a bracket: the minimiser of a convex function, or of many at once.

The sign of the slope says on which side of a place the minimiser lies. Where a Newton step leads
out of the bracket that is left, the bracket is halved. Numbers are floats, or arrays of functions
side by side: both go the same way, bit for bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
