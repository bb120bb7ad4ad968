"""The sums over rows from which a round's alpha, error and normaliser follow.

With costs that are constant per class, rows of one leaf and one class are alike: everything is a
sum over a few cells, known from the tree's own histograms. With an exponent per row, one pass over
the rows of every shard makes an outline of Z that serves all alphas. Both offer the same sums to
`steps.py`:

    balance()   sum q (1 + u), sum q (1 - u)
    z(alpha)    Z = sum q exp(-alpha u), and its derivatives Z', Z''
    tails()     the same far from 0, where numbers do not hold it (`tails.py`)

where q is the normalised weight, with the rule's factor or without it, and u the effective margin,
with the rule's exponent or without it. All sums are exact, so they do not depend on the shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.messages.logs import RowLogs
from costboost.boosting.adaboost.messages.summing import (
    N_CELLS,
    BalanceSums,
    OutlineSums,
    View,
    ZSums,
)
from costboost.boosting.adaboost.tails import CellLogs, RowTails, Tails
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards

Floats = NDArray[np.float64]

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels
_PRECISE = 1e-13  # how far an outline may move the minimiser of Z


class Sums(Protocol):
    """What `steps.py` asks for."""

    @property
    def reach(self) -> float:
        """A bound of |u|."""

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""

    def z_alone(self, alpha: float) -> float:
        """Return Z at alpha."""

    def tails(self) -> Tails:
        """Return what Z is at long steps."""


@dataclass(frozen=True)
class CellSums:
    """Sums over cells (leaf, class): q and u as arrays of one shape.

    `rows`, if given, makes the tails of the rows in these cells: some weigh less than the grid of
    q can tell, and a long step would bring them back.
    """

    q: Floats
    u: Floats
    rows: Callable[[], Tails] | None = None

    def tails(self) -> Tails:
        """Return what Z is at long steps."""
        return Tails(CellLogs(self.q, self.u)) if self.rows is None else self.rows()

    @property
    def reach(self) -> float:
        """The largest margin."""
        return float(np.max(np.abs(self.u), initial=0.0))

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        return float((self.q * (1 + self.u)).sum()), float((self.q * (1 - self.u)).sum())

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
    """Sums over the rows of all shards: from their outline, or by a pass of their own.

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
        """Return what Z is at long steps."""
        return Tails(RowTails(self.shards, RowLogs(self.view)))

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u); where something cancels, by their own pass."""
        plus, minus = self.outline.balance()
        both = plus + minus
        if abs(plus - minus) > 1e-6 * both and min(plus, minus) > 1e-4 * both:
            return plus, minus
        scale = grid_scale(self.largest * (1 + self.reach), self.shards.n_rows)
        (sums,) = self.shards.call([BalanceSums(self.view, scale)])
        plus, minus = to_floats(sums, scale, self.total).tolist()
        return plus, minus

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha; a long step takes a pass of its own."""
        found = self.outline.z(alpha)
        if self.outline.error(alpha, *found) <= _PRECISE * max(1.0, abs(alpha)):
            return found
        bound = float(self.largest * np.exp(min(abs(alpha) * self.reach, _STEEP)))
        scale = grid_scale(bound * max(1.0, self.reach**2), self.shards.n_rows)
        question = ZSums(self.view, alpha, halvings(alpha * self.reach), scale)
        sums = to_floats(self.shards.call([question])[0], scale, self.total)
        z, descent, curvature = sums.tolist()
        return z, -descent, curvature

    def z_alone(self, alpha: float) -> float:
        """Return Z at alpha."""
        return self.z(alpha)[0]

    @cached_property
    def outline(self) -> ZMoments:
        """Z in outline."""
        moments = self._pass[0] / self.total
        cells = np.flatnonzero(moments[:, 0])
        width = 2.0 * self.reach / N_CELLS
        centres = np.asarray((cells + 0.5) * width - self.reach, dtype=np.float64)
        return ZMoments(moments[cells].T, centres, width)

    @cached_property
    def _pass(self) -> tuple[Floats, Floats]:
        """The moments of an outline, and q by leaf and class."""
        scale = grid_scale(self.largest, self.shards.n_rows)
        ((moments, sums),) = self.shards.call([OutlineSums(self.view, self.reach, scale)])
        return moments / scale, sums / scale


@dataclass(frozen=True)
class ZMoments:
    """Z in outline: sums over cells of u from which Z follows at any alpha.

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
        """Bound by how much the minimiser may be wrong, given the sums at alpha."""
        half = 0.5 * self.width
        lost = half * (abs(alpha) * half) ** 3 / 6.0 * z  # of Z'
        return lost / curvature if curvature > 0.0 else np.inf


def halvings(steepest: float) -> int:
    """Return how often the kernels halve exponents of such a size: to 1/32 or less."""
    size = 32.0 * min(abs(steepest), _STEEP)
    return max(0, int(np.frexp(size)[1])) if size > 1.0 else 0
