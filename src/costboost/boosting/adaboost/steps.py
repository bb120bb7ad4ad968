"""The step alpha: in closed form, or the minimiser of Z.

Z(alpha) = sum q exp(-alpha u) is convex. For |u| <= 1 Schapire and Singer's estimate
1/2 ln((1 + r) / (1 - r)), r = E[u], never overshoots the minimiser, has its sign, and equals it for
u in {-1, +1}; it is AdaBoost's alpha, and the start of the search elsewhere. A minimiser exists
whenever rows on both sides, u > 0 and u < 0, have weight, and is as long as the inverse of the
margins: prices that differ by many powers of ten make it long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import brentq

from costboost.boosting.adaboost.sums import (
    N_CELLS,
    RowLogs,
    Side,
    View,
    largest_log,
    make_tails,
    sum_balance,
    sum_logs,
    sum_outline,
    sum_z,
)
from costboost.boosting.formulas import MAX_ALPHA, Bracket, Tolerance
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.layout import Shards
from costboost.typing import Floats

# Long steps: Z in logs, with separate sums for rows with u > 0 and with u < 0.

ALL: Side = 0
FALLING: Side = 1
RISING: Side = 2


class LogSums(Protocol):
    """Sums of exponentials of one side, in logs."""

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum exp(logs - alpha u); minus infinity without any weight."""


class CellLogs:
    """Log sums over a few cells: q and u as arrays of one shape."""

    def __init__(self, q: Floats, u: Floats) -> None:
        q, u = np.ravel(q), np.ravel(u).astype(float)
        self._sides = [(q, u), *((q * np.abs(u) * side, u) for side in (u > 0.0, u < 0.0))]

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum q exp(-alpha u), or with q |u| for one of the sides."""
        q, u = self._sides[side]
        if not np.any(q > 0.0):
            return -math.inf
        terms = np.log(q[q > 0.0]) - alpha * u[q > 0.0]
        top = float(np.max(terms))
        return top + math.log(math.fsum(np.exp(terms - top).tolist()))


class RowTails:
    """Log sums over all rows, whose logs the shards hold until the next step."""

    def __init__(self, shards: Shards, how: RowLogs) -> None:
        self.shards = shards
        (self._sizes,) = shards.call([make_tails(how=how)])

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum exp(logs - alpha u), exactly whatever the shards."""
        (top,) = self.shards.call([largest_log(side=side, alpha=alpha)])
        if top == -math.inf:
            return -math.inf
        scale = grid_scale(1.0, self._sizes[side])
        (sums,) = self.shards.call([sum_logs(side=side, alpha=alpha, top=float(top), scale=scale)])
        return float(top + math.log(to_floats(sums, scale)[0]))


class Tails:
    """Z at long steps, computed in logs where exponentials would overflow."""

    def __init__(self, sums: LogSums) -> None:
        self._log_sum = sums.log_sum

    def log_z(self, alpha: float) -> float:
        """Return ln sum q exp(-alpha u)."""
        return self._log_sum(ALL, alpha)

    def sides(self, alpha: float) -> tuple[float, float]:
        """Return ln falling and ln rising; minus infinity where no row with weight is."""
        return self._log_sum(FALLING, alpha), self._log_sum(RISING, alpha)

    def gap(self, alpha: float) -> float:
        """Return ln falling - ln rising: it falls with alpha, and is 0 where Z is least.

        Infinite where no row that has weight is on one of the sides: Z falls for ever.
        """
        falling, rising = self.sides(alpha)
        if falling == rising:  # also where neither side has any row
            return 0.0
        return falling - rising

    def mean_size(self) -> float:
        """Return E|u|, the margins' own unit."""
        total = self.log_z(0.0)
        return math.fsum(math.exp(side - total) for side in self.sides(0.0))


# Sums over rows, from which a round's alpha, error and normaliser follow.

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels
_PRECISE = 1e-13  # how far an outline may move the minimiser of Z
# Shares of all weight below this have lost digits on the grid that cells are summed on.
_FAINT = 1e-6


class Sums(Protocol):
    """Sums over rows from which a step is computed."""

    @property
    def reach(self) -> float:
        """A bound of |u|."""

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""

    def log_ratio(self) -> float:
        """Return ln sum q (1 + u) - ln sum q (1 - u); infinite where one of them is 0."""

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""

    def z_alone(self, alpha: float) -> float:
        """Return Z at alpha."""

    def tails(self) -> Tails:
        """Return Z at long steps."""


@dataclass(frozen=True)
class CellSums:
    """Sums over cells (leaf, class): q and u as arrays of one shape.

    `rows`, if given, makes the tails of the rows in these cells: some weigh less than the grid of
    q can tell, and a long step would bring them back. `unit` is what q was multiplied by, at most,
    after it was summed on that grid as shares of all weight.
    """

    q: Floats
    u: Floats
    rows: Callable[[], Tails] | None = None
    unit: float = 1.0

    def tails(self) -> Tails:
        """Return Z at long steps."""
        return Tails(CellLogs(self.q, self.u)) if self.rows is None else self.rows()

    @property
    def reach(self) -> float:
        """The largest margin."""
        return float(np.max(np.abs(self.u), initial=0.0))

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        return float((self.q * (1 + self.u)).sum()), float((self.q * (1 - self.u)).sum())

    def log_ratio(self) -> float:
        """Return ln sum q (1 + u) - ln sum q (1 - u); infinite where one of them is 0."""
        plus, minus = self.balance()
        # Of plain votes the sums are the two sides of Z, which rows know to every digit.
        if self.rows is not None and min(plus, minus) < _FAINT * self.unit and self._is_plain:
            return self.rows().gap(0.0)
        return _log_ratio(plus, minus)

    @property
    def _is_plain(self) -> bool:
        sizes = np.abs(self.u)
        return bool(((sizes == 1.0) | (sizes == 0.0)).all())

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        z = self._terms(alpha)
        return float(z.sum()), -float((self.u * z).sum()), float((self.u**2 * z).sum())

    def z_alone(self, alpha: float) -> float:
        """Return Z at alpha."""
        return float(self._terms(alpha).sum())

    def _terms(self, alpha: float) -> Floats:
        return np.asarray(self.q * np.exp(np.minimum(-alpha * self.u, _STEEP)))


@dataclass(frozen=True)
class RowSums:
    """Sums over the rows of all shards: from moments of one pass, or by a pass of their own.

    Attributes
    ----------
    shards : Shards
    view : View
        How rows are seen.
    known : float64 array of shape (L, K) or None
        The weights by leaf and class. Where rows have no factors, the outline tells them too.
    largest : float
        Bounds weight * factor.
    reach : float
        Bounds |u|.
    """

    shards: Shards
    view: View
    known: Floats | None
    largest: float
    reach: float

    @cached_property
    def cells(self) -> Floats:
        """The weight of the rows of every class in every leaf, (L, K)."""
        return self._pass[1] if self.known is None else self.known

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.cells.sum())

    def tails(self) -> Tails:
        """Return Z at long steps."""
        return Tails(RowTails(self.shards, RowLogs(self.view)))

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u); a pass of its own where moments cancel."""
        plus, minus = self.outline.balance()
        both = plus + minus
        # Where the two sides nearly cancel, or one is tiny, moments have lost digits.
        if abs(plus - minus) > 1e-6 * both and min(plus, minus) > 1e-4 * both:
            return plus, minus
        scale = grid_scale(self.largest * (1 + self.reach), self.shards.n_rows)
        (sums,) = self.shards.call([sum_balance(view=self.view, scale=scale)])
        plus, minus = to_floats(sums, scale, self.total).tolist()
        return plus, minus

    def log_ratio(self) -> float:
        """Return ln sum q (1 + u) - ln sum q (1 - u); infinite where one of them is 0."""
        return _log_ratio(*self.balance())

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha; a pass over rows where alpha is long."""
        found = self.outline.z(alpha)
        # The moments serve every alpha that the search tries, unless their error could move the
        # minimiser.
        if self.outline.error(alpha, *found) <= _PRECISE * max(1.0, abs(alpha)):
            return found
        bound = float(self.largest * np.exp(min(abs(alpha) * self.reach, _STEEP)))
        scale = grid_scale(bound * max(1.0, self.reach**2), self.shards.n_rows)
        question = sum_z(
            view=self.view, alpha=alpha, halvings=halvings(alpha * self.reach), scale=scale
        )
        sums = to_floats(self.shards.call([question])[0], scale, self.total)
        z, descent, curvature = sums.tolist()
        return z, -descent, curvature

    def z_alone(self, alpha: float) -> float:
        """Return Z at alpha."""
        return self.z(alpha)[0]

    @cached_property
    def outline(self) -> ZMoments:
        """Moments of u over cells, made by one pass and cached."""
        moments = self._pass[0] / self.total
        cells = np.flatnonzero(moments[:, 0])
        width = 2.0 * self.reach / N_CELLS
        centres = np.asarray((cells + 0.5) * width - self.reach, dtype=np.float64)
        return ZMoments(moments[cells].T, centres, width)

    @cached_property
    def _pass(self) -> tuple[Floats, Floats]:
        """The moments of an outline, and q by leaf and class."""
        scale = grid_scale(self.largest, self.shards.n_rows)
        ((moments, sums),) = self.shards.call(
            [sum_outline(view=self.view, reach=self.reach, scale=scale)]
        )
        return moments / scale, sums / scale


@dataclass(frozen=True)
class ZMoments:
    """Moments of q over a grid of margins u, from which Z follows at any alpha without rows.

    With u = c + width * d, |d| <= 1/2, in the cell around c,

        sum q exp(-alpha u) = sum_cells exp(-alpha c) sum_k (-alpha width)^k / k! sum q d^k

    and the sums of q d^k, k = 0 ... 3, are taken once. What is left out is below
    (alpha width / 2)^4 / 24 of Z, less than rounding for the steps that are taken.

    Attributes
    ----------
    moments : float64 array of shape (4, N)
        The sums of q d^k in the cells that hold any row.
    centres : float64 array of shape (N,)
        The middles of these cells.
    width : float
    """

    moments: Floats
    centres: Floats
    width: float

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        q, u = self.moments[0], self.centres * self.moments[0] + self.width * self.moments[1]
        return float(np.sum(q + u)), float(np.sum(q - u))

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        c, width, x = self.centres, self.width, -alpha * self.width
        q, q1, q2, q3 = self.moments * np.exp(np.minimum(-alpha * c, _STEEP))
        p = q + x * (q1 + x / 2 * (q2 + x / 3 * q3))
        p1 = width * (q1 + x * (q2 + x / 2 * q3))  # sum q (u - c) exp(x d)
        p2 = width**2 * (q2 + x * q3)
        slope, curvature = c * p + p1, c * (c * p + 2.0 * p1) + p2
        return float(np.sum(p)), -float(np.sum(slope)), float(np.sum(curvature))

    def error(self, alpha: float, z: float, slope: float, curvature: float) -> float:
        """Bound the error of the minimiser, given the sums at alpha."""
        half = 0.5 * self.width
        lost = half * (abs(alpha) * half) ** 3 / 6.0 * z  # of Z'
        return lost / curvature if curvature > 0.0 else np.inf


def _log_ratio(plus: float, minus: float) -> float:
    """Return ln(plus / minus); 0 where both are 0."""
    if plus > 0.0 and minus > 0.0:
        return math.log(plus / minus)
    return math.inf if plus > 0.0 else -math.inf if minus > 0.0 else 0.0


def halvings(steepest: float) -> int:
    """Return how many halvings bring exponents of this size to 1/32 or less, for the kernels."""
    size = 32.0 * min(abs(steepest), _STEEP)
    return max(0, int(np.frexp(size)[1])) if size > 1.0 else 0


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


def half_log(sums: Sums, n_classes: int = 2) -> float:
    """Return 1/2 [ln(sum q (1 + u) / sum q (1 - u)) + ln(K - 1)].

    Where one of the sums is 0, that is infinite: then +-`MAX_ALPHA`.
    """
    ratio = sums.log_ratio()
    if math.isinf(ratio):
        return math.copysign(MAX_ALPHA, ratio)
    alpha = 0.5 * (ratio + math.log(n_classes - 1))
    return alpha if abs(alpha) > NEGLIGIBLE else 0.0


def search(sums: Sums) -> float:
    """Return the minimiser of Z; MAX_ALPHA where Z falls for ever."""
    return minimiser(sums).alpha


class StepSize(NamedTuple):
    """A step, and whether Z falls for ever because no row with weight opposes it."""

    alpha: float
    endless: bool


def minimiser(sums: Sums, near: float = MAX_ALPHA) -> StepSize:
    """Return the minimiser of Z: Newton's method kept inside a bracket, up to +-near.

    The search begins at Schapire and Singer's estimate. A minimiser further out is looked for in
    the log domain.
    """
    plus, minus = sums.balance()
    if abs(plus - minus) <= NEGLIGIBLE * (plus + minus):  # E[u] = 0, or margins that small
        return _far_minimiser(sums.tails(), near)
    # -Z'(0) = sum q u = (plus - minus) / 2 says on which side the minimiser is.
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
        # Still at the open end: if Z falls there too, the minimiser is further out than `near`.
        open_ = not bracket.inside and end in (bracket.low, bracket.high)
        if open_ and sums.z(end)[1] * end < 0.0:
            break
        if bracket.done:
            return StepSize(bracket.at, endless=False)
    return _far_minimiser(sums.tails(), near)


def _far_minimiser(tails: Tails, near: float) -> StepSize:
    """Return a minimiser at +-near or beyond, by bisection in logs.

    The gap of logarithms is a straight line where margins have one size, and falls anywhere: its
    secants get there without derivatives, where Newton's steps on Z would be one unit each.
    """
    gap = tails.gap(0.0)
    if abs(gap) <= NEGLIGIBLE:
        return StepSize(0.0, endless=False)
    sign = math.copysign(1.0, gap)
    if math.isinf(gap):
        # As far as an error of one ulp would let margins of size 1 go, in the margins' own unit.
        return StepSize(sign * MAX_ALPHA / tails.mean_size(), endless=True)

    def forward(step: float) -> float:
        return sign * tails.gap(sign * step)

    low, high = 0.0, near
    while forward(high) > 0.0:
        low, high = high, 8.0 * high
        if high > LONGEST:
            return StepSize(sign * high, endless=False)
    alpha = brentq(forward, low, high, xtol=TOLERANCE * high, rtol=8.0 * 2.0**-52)
    return StepSize(sign * float(alpha), endless=False)
