"""How long a step to take: alpha in closed form, or the minimiser of Z.

Z(alpha) = sum q exp(-alpha u) is convex. For |u| <= 1 Schapire and Singer's estimate
1/2 ln((1 + r) / (1 - r)), r = E[u], never overshoots the minimiser, has its sign, and equals it for
u in {-1, +1}; it is AdaBoost's alpha, and the start of the search elsewhere. A minimiser exists
whenever rows on both sides, u > 0 and u < 0, have weight, and is as long as the inverse of the
margins: prices that differ by many powers of ten make it long.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq

from costboost.boosting.adaboost.normalizer import Sums
from costboost.boosting.adaboost.tails import Tails
from costboost.boosting.bracket import Bracket, Tolerance
from costboost.boosting.links import MAX_ALPHA

# A learner that comes back right after its own step has E[u] = 0, but for rounding: no step.
NEGLIGIBLE = 1e-12
# Steps beyond are refused: margins are sums of them.
LONGEST = 1e300
TOLERANCE = 1e-13
# Newton's method doubles the digits: after a step this short, relatively, there is nothing to gain.
CLOSE = Tolerance(1e-7, TOLERANCE)
SHUT = Tolerance(TOLERANCE, TOLERANCE)
# Where Z bends less than this, in units of the largest margin, rounding hides its slope.
FLAT = 1e-6


def half_log(sums: Sums, n_classes: int = 2, max_alpha: float = MAX_ALPHA) -> float:
    """Return 1/2 [ln(sum q (1 + u) / sum q (1 - u)) + ln(K - 1)], at most `max_alpha`.

    Written as a ratio of two sums so that nothing cancels as the error vanishes.
    """
    plus, minus = sums.balance()
    if minus <= 0.0:
        return max_alpha if plus > 0.0 else 0.0
    if plus <= 0.0:
        return -max_alpha
    alpha = min(0.5 * (math.log(plus / minus) + math.log(n_classes - 1)), max_alpha)
    return alpha if abs(alpha) > NEGLIGIBLE else 0.0


def search(sums: Sums) -> float:
    """Return the minimiser of Z; where Z falls for ever, the longest step that means anything."""
    return minimiser(sums).alpha


class Step(NamedTuple):
    """A step, and whether Z falls for ever: no row with weight is on the other side."""

    alpha: float
    endless: bool


def minimiser(sums: Sums, near: float = MAX_ALPHA) -> Step:
    """Return the minimiser of Z: Newton's method kept inside a bracket, up to +-near.

    The search begins at Schapire and Singer's estimate. A minimiser further out is looked for in
    the log domain.
    """
    plus, minus = sums.balance()
    if abs(plus - minus) <= NEGLIGIBLE * (plus + minus):  # E[u] = 0, or margins that small
        return _far_minimiser(sums.tails(), near)
    low, high = (0.0, near) if plus > minus else (-near, 0.0)
    end = high if plus > minus else low
    start = 0.5 * math.log(plus / minus) if plus > 0.0 and minus > 0.0 else 0.0
    start = start if low < start < high else 0.5 * (low + high)
    bracket = Bracket(start, low, high, close=CLOSE, shut=SHUT)
    for _ in range(100):
        z, slope, curvature = sums.z(bracket.at)
        if curvature < FLAT * sums.reach**2 * z:
            break
        bracket.update(slope, curvature)
        open_ = not bracket.inside and end in (bracket.low, bracket.high)
        if open_ and sums.z(end)[1] * end < 0.0:
            break
        if bracket.done:
            return Step(bracket.at, endless=False)
    return _far_minimiser(sums.tails(), near)


def _far_minimiser(tails: Tails, near: float) -> Step:
    """Return the minimiser by the gap between what falls and what rises, +-near or beyond.

    The gap of logarithms is a straight line where margins have one size, and falls anywhere: its
    secants get there without derivatives, where Newton's steps on Z would be one unit each.
    """
    gap = tails.gap(0.0)
    if abs(gap) <= NEGLIGIBLE:
        return Step(0.0, endless=False)
    sign = math.copysign(1.0, gap)
    if math.isinf(gap):
        # As far as an error of one ulp would let margins of size 1 go, in the margins' own unit.
        return Step(sign * MAX_ALPHA / tails.mean_size(), endless=True)

    def forward(step: float) -> float:
        return sign * tails.gap(sign * step)

    low, high = 0.0, near
    while forward(high) > 0.0:
        low, high = high, 8.0 * high
        if high > LONGEST:
            return Step(sign * high, endless=False)
    alpha = brentq(forward, low, high, xtol=TOLERANCE * high, rtol=8.0 * 2.0**-52)
    return Step(sign * float(alpha), endless=False)
