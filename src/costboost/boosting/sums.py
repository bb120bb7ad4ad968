"""The sums over rows from which a round's alpha, error and normaliser follow.

With costs that are constant per class, rows of one leaf and one class are alike: everything is a
sum over a few cells, known from the tree's own histograms. With an exponent per row, a sum is a
pass over the rows of every shard; an outline of those needs one pass for all alphas. All offer the
same two sums to `steps.py`:

    balance()   sum q (1 + u), sum q (1 - u)
    z(alpha)    Z = sum q exp(-alpha u), and its derivatives Z', Z''

where q is the normalised weight, with the rule's factor or without it, and u the effective margin,
with the rule's exponent or without it. All sums are exact, so they do not depend on the shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _row_kernels as kernels
from costboost.trees.shards import Shard, Shards, grid_scale

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
_Rows = tuple[Floats, NDArray[np.uint16], Int64, Floats, Floats, Floats]

_REMAINDER = 2.0**40  # as in the kernels
_STEEP = 500.0  # exponents are cut here, far from overflow


@dataclass(frozen=True)
class Hypothesis:
    """What a learner returned, seen from the rows: leaves, and how each of them votes.

    Attributes
    ----------
    votes : int64 array of shape (L,)
        The class each leaf votes for.
    sizes : float64 array of shape (L,)
        How strongly; 1 for discrete votes.
    by_row : bool
        Whether rows of one leaf vote with different strength, in `shard.data["sizes"]`.
    """

    votes: Int64
    sizes: Floats
    by_row: bool = False

    def right(self, n_classes: int) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is right for a row of the class."""
        return np.asarray(self.votes[:, None] == np.arange(n_classes))


class Sums(Protocol):
    """What `steps.py` asks for."""

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""


@dataclass(frozen=True)
class CellSums:
    """Sums over cells (leaf, class): q and u as arrays of one shape."""

    q: Floats
    u: Floats

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        return float(np.sum(self.q * (1 + self.u))), float(np.sum(self.q * (1 - self.u)))

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        z = self.q * np.exp(np.minimum(-alpha * self.u, _STEEP))
        return float(np.sum(z)), -float(np.sum(self.u * z)), float(np.sum(self.u**2 * z))


@dataclass(frozen=True)
class RowTerms:
    """A rule's effective margins and factors for every row of a shard and every answer, (m, K).

    A margin is positive at the row's own class, negative elsewhere; factors may be a view.
    """

    u: Floats
    f: Floats

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes that differ in strength from row to row."""
        return replace(self, u=self.u * sizes[:, None])


def plain_margins(shard: Shard, n_classes: int, wrong: float = 1.0) -> Floats:
    """Return (m, K): 1 at every row's own class, -wrong elsewhere."""
    table = np.where(np.eye(n_classes, dtype=bool), 1.0, -wrong)
    return np.repeat(table, np.diff(shard.starts), axis=0)


@dataclass(frozen=True)
class RowSums:
    """Sums over the rows of all shards.

    `terms` gives a shard's `RowTerms`; `total` is the sum of the unnormalised weights, `largest`
    bounds weight * factor, and `reach` bounds |u|.
    """

    shards: Shards
    hypothesis: Hypothesis
    terms: Callable[[Shard], RowTerms]
    total: float
    largest: float
    reach: float

    def with_terms(self, *, exponent: bool, factor: bool, code: bool) -> RowSums:
        """Return the sums with exponents or factors left out of u or q.

        With `code` a wrong vote counts -1 / (K - 1), as SAMME codes it.
        """

        def chosen(shard: Shard) -> RowTerms:
            terms = self.terms(shard)
            n_classes = terms.u.shape[1]
            if code or not exponent:
                wrong = 1.0 / (n_classes - 1) if code else 1.0
                terms = replace(terms, u=plain_margins(shard, n_classes, wrong))
                sizes = shard.data.get("sizes")
                terms = terms if sizes is None else terms.times(sizes)
            return terms if factor else replace(terms, f=np.broadcast_to(1.0, terms.u.shape))

        return self if exponent and factor and not code else replace(self, terms=chosen)

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        scale = grid_scale(self.largest * (1 + self.reach), self.shards.n_rows)

        def part(shard: Shard) -> Int64:
            out = np.zeros((2, 2), dtype=np.int64)
            kernels.balance_rows(*self._rows(shard), scale, out)
            return out

        plus, minus = to_float(self.shards.sum(part), scale, self.total)
        return plus, minus

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        bound = steepest(self.largest, alpha, self.reach)
        scale = grid_scale(bound * max(1.0, self.reach**2), self.shards.n_rows)
        table = exponentials(alpha, self.reach)

        def part(shard: Shard) -> Int64:
            out = np.zeros((3, 2), dtype=np.int64)
            kernels.normalizer_rows(*self._rows(shard), alpha, table, scale, out)
            return out

        z, descent, curvature = to_float(self.shards.sum(part), scale, self.total)
        return z, -descent, curvature

    def outline(self) -> Outline:
        """Return the sums over cells of u: one pass, then no more for any number of alphas."""
        scale = grid_scale(self.largest, self.shards.n_rows)

        def part(shard: Shard) -> Int64:
            out = np.zeros((Outline.N_CELLS, 4), dtype=np.int64)
            kernels.outline_rows(*self._rows(shard), self.reach, scale, out)
            return out

        moments = self.shards.sum(part)
        cells = np.flatnonzero(moments[:, 0])
        width = 2.0 * self.reach / Outline.N_CELLS
        return Outline(self, moments[cells] / scale / self.total, cells, width)

    def _rows(self, shard: Shard) -> _Rows:
        """Return what all kernels take first."""
        votes, terms = self.hypothesis, self.terms(shard)
        return shard.data["weights"], shard.leaves, votes.votes, votes.sizes, terms.u, terms.f


@dataclass(frozen=True)
class Outline:
    """Z in outline: sums over cells of u from which Z follows at any alpha.

    With u = c + width * d, |d| <= 1/2, in the cell around c,

        sum q exp(-alpha u) = sum_cells exp(-alpha c) sum_k (-alpha width)^k / k! sum q d^k

    and the sums of q d^k, k = 0 ... 3, are taken once. What is left out is below
    (alpha width / 2)^4 / 24 of Z, less than rounding for the steps that are taken.

    Attributes
    ----------
    rows : RowSums
        What is outlined.
    moments : float64 array of shape (N, 4)
    cells : int64 array of shape (N,)
        The numbers of the cells that hold any row.
    width : float
    """

    rows: RowSums
    moments: Floats
    cells: Int64
    width: float

    N_CELLS: ClassVar[int] = 1024

    @cached_property
    def centres(self) -> Floats:
        """The middles of the cells."""
        return np.asarray((self.cells + 0.5) * self.width - self.rows.reach)

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u); near 0 their difference is taken exactly."""
        q, u = self.moments[:, 0], self.centres * self.moments[:, 0]
        u = u + self.width * self.moments[:, 1]
        plus, minus = float(np.sum(q + u)), float(np.sum(q - u))
        return (plus, minus) if abs(plus - minus) > 1e-6 * (plus + minus) else self.rows.balance()

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        c, width = self.centres, self.width
        x = -alpha * width
        p = self.moments @ np.array([1.0, x, x**2 / 2, x**3 / 6])
        p1 = self.moments[:, 1:] @ np.array([1.0, x, x**2 / 2])  # sum q d exp(x d)
        p2 = self.moments[:, 2:] @ np.array([1.0, x])
        e = np.exp(np.minimum(-alpha * c, _STEEP))
        slope = -(c * p + width * p1)
        bend = c * c * p + 2.0 * c * width * p1 + width**2 * p2
        return float(e @ p), float(e @ slope), float(e @ bend)

    def error(self, alpha: float) -> float:
        """Bound by how much the minimiser may be wrong at alpha: that of Z' over Z''."""
        z, _, curvature = self.z(alpha)
        half = 0.5 * self.width
        lost = half * (abs(alpha) * half) ** 3 / 6.0 * z
        return lost / curvature if curvature > 0.0 else np.inf


def steepest(largest: float, alpha: float, reach: float) -> float:
    """Bound q exp(-alpha u) for q up to `largest` and |u| up to `reach`."""
    return float(largest * np.exp(min(abs(alpha) * reach, _STEEP)))


def exponentials(alpha: float, reach: float) -> Floats:
    """Return the table of which the kernels make exp(-alpha u) for |u| up to `reach`."""
    table = np.empty(2 * int(np.ceil(min(abs(alpha) * reach, _STEEP) * 1024.0)) + 3)
    kernels.tabulate_exp(table)
    return table


def to_float(sums: Int64, scale: float, total: float) -> list[float]:
    """Turn exact sums (units, remainders) into numbers; scale * total might overflow."""
    return [(units + rest / _REMAINDER) / scale / total for units, rest in sums.tolist()]
