"""Minimisers of a loss: one constant for all rows, one for every leaf, one step for a whole tree.

Pinball loss (and absolute, a case of it) has its minimiser at one of the residuals, a weighted
quantile. All others are found by Newton's method kept inside a bracket, by the gradient's sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.formulas import MAX_ALPHA, Bracket, Tolerance
from costboost.typing import Floats

FARTHEST = MAX_ALPHA  # where a constant that ought to be infinite ends
_SHORT = Tolerance(1e-13, 1e-16)
_FAR = 1e300
_NEAR = 2.0**-20  # of the unit: a first step this short is long enough
PASSES = 100


def pinball_minimiser(residuals: Floats, over: Floats, under: Floats) -> float:
    """Return the v that minimises sum over (v - r)+ + under (r - v)+; halfway between two.

    The gradient at v is the `over` of the residuals below less the `under` of those above: the
    first residual where it stops being negative, and if it is 0 from there on to the next, the
    middle.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(4)
    >>> pinball_minimiser(np.array([1.0, 2.0, 4.0, 9.0]), one, one)
    3.0
    >>> pinball_minimiser(np.array([1.0, 2.0, 4.0, 9.0]), one, 9 * one)
    9.0
    """
    order = np.argsort(residuals, kind="stable")
    r = residuals[order]
    # Prices on an integer grid: their sums do not depend on the order of equal residuals.
    # The power of two itself need not be a float.
    power = 61 - math.frexp(float(max(over.max(), under.max())))[1] - math.frexp(2.0 * len(r))[1]
    above = np.rint(np.ldexp(under[order], power)).astype(np.int64)
    below = np.rint(np.ldexp(over[order], power)).astype(np.int64)
    gradient = np.cumsum(above + below) - above.sum()
    first = int(np.searchsorted(gradient, 0, side="left"))
    first = min(first, len(r) - 1)
    last = min(int(np.searchsorted(gradient, 0, side="right")), len(r) - 1)
    return float(0.5 * r[first] + 0.5 * r[last])


def near_one(values: Floats) -> Floats:
    """Return values times the power of two that takes the largest to between 1/2 and 1."""
    return np.asarray(np.ldexp(values, -math.frexp(float(np.max(values)))[1]))


def pinball_by_leaf(
    residuals: Floats, over: Floats, under: Floats, leaves: NDArray[np.uint16], n_leaves: int
) -> Floats:
    """Return the minimiser of every leaf, (L,); 0 for a leaf without rows of positive price."""
    alive = np.flatnonzero((over > 0.0) | (under > 0.0))
    order = alive[np.argsort(leaves[alive], kind="stable")]
    bounds = np.searchsorted(leaves[order], np.arange(n_leaves + 1))
    values = np.zeros(n_leaves)
    for leaf in range(n_leaves):
        rows = order[bounds[leaf] : bounds[leaf + 1]]
        if len(rows):
            values[leaf] = pinball_minimiser(residuals[rows], over[rows], under[rows])
    return values


def pinball_along(gaps: Floats, steps: Floats, over: Floats, under: Floats) -> float:
    """Return the lambda that minimises pinball loss along a step: residuals y - F - lambda step.

    Each row is a pinball in lambda itself, around gap / step; a negative step swaps its prices.
    """
    moves = steps != 0.0
    if not moves.any():
        return 0.0
    size, back = near_one(np.abs(steps[moves])), steps[moves] < 0.0
    above = np.where(back, under[moves], over[moves]) * size
    below = np.where(back, over[moves], under[moves]) * size
    alive = (above > 0.0) | (below > 0.0)
    if not alive.any():
        return 0.0
    with np.errstate(over="ignore"):  # a step too short to get anywhere
        ratios = np.clip(gaps[moves] / steps[moves], -_FAR, _FAR)
    return pinball_minimiser(ratios[alive], above[alive], below[alive])


def minimise(
    function: Callable[[Floats], tuple[Floats, Floats]],
    n_leaves: int,
    limit: Any,
    *,
    unit: Any = 1.0,
) -> Floats:
    """Return the minimisers of L convex functions, within +-limit, by their derivatives.

    `unit` is how far they move before they change much.
    """
    short = Tolerance(_SHORT.relative, _SHORT.absolute * np.minimum(unit, 1.0))
    reach = np.clip(1.0, _NEAR * unit, unit / _NEAR)
    return _minimise(function, np.zeros(n_leaves), -limit, limit, short, reach)


class LeafBounds(NamedTuple):
    """Intervals beyond which L convex functions are straight lines.

    Attributes
    ----------
    low, high : float64 arrays of shape (L,)
        Between which the minimisers lie.
    flat : float64 array of shape (L,)
        A slope this small, where nothing bends, is the rounding of one that is 0.
    """

    low: Floats
    high: Floats
    flat: Floats

    def level(self, slopes: Floats, curvatures: Floats) -> Floats:
        """Return the slopes, without those that only rounding parts from 0."""
        return np.where((curvatures <= 0.0) & (np.abs(slopes) <= self.flat), 0.0, slopes)


def minimise_between(
    function: Callable[[Floats], tuple[Floats, Floats]], low: Floats, high: Floats
) -> Floats:
    """Return the minimisers of L convex functions that are known to lie in [low, high], (L,).

    Where that is less than 1 wide, they are found to a share of its width.
    """
    short = Tolerance(_SHORT.relative, _SHORT.absolute * np.minimum(high - low, 1.0))
    return _minimise(function, np.clip(0.0, low, high), low, high, short, (high - low) / 4.0)


def _minimise(
    function: Callable[[Floats], tuple[Floats, Floats]],
    start: Floats,
    low: Any,
    high: Any,
    short: Tolerance,
    reach: Any,
) -> Floats:
    bracket = Bracket(
        start,
        low,
        high,
        close=short,
        shut=short,
        still=short,
        takes_last=False,
        wary=True,
        reach=reach,
    )
    return np.asarray(bracket.minimise(function, PASSES))


def minimise_along(
    function: Callable[[Floats], tuple[Floats, Floats]],
    steps: Floats,
    limits: Floats,
    reach: float,
    unit: float = 1.0,
) -> float:
    """Return the lambda at which leaves that move by steps * min(lambda, limits) lose least.

    `function` gives the derivatives of the loss by leaf, (L,), at such moves. A leaf with a limit
    falls until it is there: convex, then flat, so that the sum is convex. No answer lies beyond
    +-`reach`; `unit` is the lambda of a move that changes the loss much.

    Examples
    --------
    Two leaves of loss (1 - F)^2 and exp(-F), the second no farther than 3:

    >>> import numpy as np
    >>> def derivatives(moves):
    ...     falling = np.exp(-moves[1])
    ...     return np.array([2 * (moves[0] - 1), -falling]), np.array([2.0, falling])
    >>> minimise_along(derivatives, np.array([0.1, 1.0]), np.array([np.inf, 3.0]), 100.0)
    10.0
    """

    def at(size: Floats) -> tuple[Floats, Floats]:
        gradients, hessians = function(steps * np.minimum(size, limits))
        moving = np.where(size < limits, steps, 0.0)
        parts = (gradients * moving, hessians * moving * moving)
        gradient, hessian = (np.array([math.fsum(part.tolist())]) for part in parts)
        return gradient, hessian

    return float(minimise(at, 1, reach, unit=unit)[0])


def huber_delta(y: Floats, weights: Floats | None, level: float = 0.9) -> float:
    """Return the quantile of |y - median|: beyond it, residuals count linearly."""
    weights = np.ones(len(y)) if weights is None else weights
    weights = near_one(weights)  # tenths of the smallest numbers would be rounded away
    middle = pinball_minimiser(y, weights, weights)
    delta = pinball_minimiser(np.abs(y - middle), (1 - level) * weights, level * weights)
    largest = float(np.max(np.abs(y - middle)))
    return delta if delta > 0.0 else (largest if largest > 0.0 else 1.0)
