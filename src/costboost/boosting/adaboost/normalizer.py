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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.tails import Tails, log_factors, log_weights
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
_Rows = tuple[Floats, Int64, NDArray[np.uint16], Int64, Floats, Floats, Floats]

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels
BLOCK = 1024  # rows that the kernels take at a time
TINY = 1e-280  # weights are held above this: no denormals, and a way back; as in the kernels
_PRECISE = 1e-13  # how far an outline may move the minimiser of Z


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

    @property
    def reach(self) -> float:
        """A bound of |u|."""

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""

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
        return Tails.of_cells(self.q, self.u) if self.rows is None else self.rows()

    @property
    def reach(self) -> float:
        """The largest margin."""
        return float(np.max(np.abs(self.u), initial=0.0))

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        return float(np.sum(self.q * (1 + self.u))), float(np.sum(self.q * (1 - self.u)))

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        z = self.q * np.exp(np.minimum(-alpha * self.u, _STEEP))
        return float(np.sum(z)), -float(np.sum(self.u * z)), float(np.sum(self.u**2 * z))


@dataclass(frozen=True)
class RowTerms:
    """A rule's effective margins and factors for every row of a shard and every answer.

    In general u and f are (m, K), one column for every answer: a margin is positive at the row's
    own class, negative elsewhere. Of two classes with one price for right and wrong answers the
    sizes suffice, (m, 1). Factors that are all 1 are a view of one number.
    """

    u: Floats
    f: Floats

    @classmethod
    def of(cls, u: Floats, f: Floats) -> RowTerms:
        """Keep (m, K) margins and factors in as little room as they need."""
        if u.shape[1] == 2 and np.all(u[:, 0] == -u[:, 1]) and np.all(f[:, 0] == f[:, 1]):
            u, f = np.abs(u[:, :1]), f[:, :1]
        if np.all(f == 1.0):
            return cls(np.ascontiguousarray(u), np.broadcast_to(1.0, u.shape))
        return cls(np.ascontiguousarray(u), np.ascontiguousarray(f))

    @property
    def signed(self) -> bool:
        """Whether the sign of a margin is in `u`, not in the answer alone."""
        return bool(self.u.shape[1] > 1)

    def columns(self, hypothesis: Hypothesis) -> Int64:
        """Return the column of u and f for the vote of every leaf, (L,)."""
        return hypothesis.votes if self.signed else np.zeros_like(hypothesis.votes)

    def sizes(self, hypothesis: Hypothesis, n_classes: int) -> Floats:
        """Return what multiplies the u of every leaf and class, (L, K)."""
        right = hypothesis.right(n_classes)
        sign = np.ones(right.shape) if self.signed else np.where(right, 1.0, -1.0)
        return np.asarray(sign * hypothesis.sizes[:, None])

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes that differ in strength from row to row."""
        return replace(self, u=self.u * sizes[:, None])

    def plain(self, shard: Shard, n_classes: int, wrong: float) -> RowTerms:
        """Return the terms with margins of 1 at every row's own class and -wrong elsewhere."""
        if not self.signed:  # of two classes, for which `wrong` is 1
            return replace(self, u=np.ones_like(self.u))
        table = np.where(np.eye(n_classes, dtype=bool), 1.0, -wrong)
        return replace(self, u=np.repeat(table, np.diff(shard.starts), axis=0))


@dataclass(frozen=True)
class RowSums:
    """Sums over the rows of all shards: from their outline, or by a pass of their own.

    Attributes
    ----------
    shards : Shards
    hypothesis : Hypothesis
    n_classes : int
    terms : callable
        Gives a shard's `RowTerms`.
    known : float64 array of shape (L, K) or None
        The weights by leaf and class. Where rows have no factors, the outline tells them too.
    largest : float
        Bounds weight * factor.
    reach : float
        Bounds |u|.
    """

    shards: Shards
    hypothesis: Hypothesis
    n_classes: int
    terms: Callable[[Shard], RowTerms]
    known: Floats | None
    largest: float
    reach: float

    def with_terms(self, *, exponent: bool, factor: bool, code: bool) -> RowSums:
        """Return the sums with exponents or factors left out of u or q.

        With `code` a wrong vote counts -1 / (K - 1), as SAMME codes it.
        """

        def chosen(shard: Shard) -> RowTerms:
            terms = self.terms(shard)
            if code or not exponent:
                wrong = 1.0 / (self.n_classes - 1) if code else 1.0
                terms = terms.plain(shard, self.n_classes, wrong)
                sizes = shard.data.get("sizes")
                terms = terms if sizes is None else terms.times(sizes)
            return terms if factor else replace(terms, f=np.broadcast_to(1.0, terms.u.shape))

        return replace(self, terms=chosen)

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

        def part(shard: Shard) -> tuple[Floats, Floats]:
            _, starts, leaves, columns, sizes, u, f = self._rows(shard)
            rows, answers = np.arange(len(leaves)), columns[leaves]
            logs = log_weights(shard)
            if f.strides[0]:
                logs += log_factors(f[rows, answers])
            labels = np.repeat(np.arange(self.n_classes), np.diff(starts))
            return logs, sizes[leaves, labels] * u[rows, answers]

        return Tails.of_rows(self.shards, part)

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u); where something cancels, by their own pass."""
        plus, minus = self.outline.balance()
        both = plus + minus
        if abs(plus - minus) > 1e-6 * both and min(plus, minus) > 1e-4 * both:
            return plus, minus
        scale = grid_scale(self.largest * (1 + self.reach), self.shards.n_rows)

        def part(shard: Shard) -> Int64:
            out = np.zeros((2, 2), dtype=np.int64)
            kernels.balance_rows(*self._rows(shard), scale, out)
            return out

        plus, minus = to_floats(self.shards.sum(part), scale, self.total).tolist()
        return plus, minus

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha; a long step takes a pass of its own."""
        found = self.outline.z(alpha)
        if self.outline.error(alpha, *found) <= _PRECISE * max(1.0, abs(alpha)):
            return found
        bound = float(self.largest * np.exp(min(abs(alpha) * self.reach, _STEEP)))
        scale = grid_scale(bound * max(1.0, self.reach**2), self.shards.n_rows)
        step = (alpha, halvings(alpha * self.reach), scale)

        def part(shard: Shard) -> Int64:
            block, out = np.empty(BLOCK), np.zeros((3, 2), dtype=np.int64)
            kernels.normalizer_rows(*self._rows(shard), *step, block, out)
            return out

        sums = to_floats(self.shards.sum(part), scale, self.total)
        z, descent, curvature = sums.tolist()
        return z, -descent, curvature

    @cached_property
    def outline(self) -> Outline:
        """Z in outline."""
        moments = self._pass[0] / self.total
        cells = np.flatnonzero(moments[:, 0])
        width = 2.0 * self.reach / Outline.N_CELLS
        centres = np.asarray((cells + 0.5) * width - self.reach, dtype=np.float64)
        return Outline(moments[cells].T, centres, width)

    @cached_property
    def _pass(self) -> tuple[Floats, Floats]:
        """The moments of an outline, and q by leaf and class."""
        scale = grid_scale(self.largest, self.shards.n_rows)
        shape = (len(self.hypothesis.votes), self.n_classes)

        def part(shard: Shard) -> tuple[Int64, Int64]:
            room = np.empty(BLOCK), np.empty(BLOCK, dtype=np.int32)
            moments = np.zeros((Outline.N_CELLS, 4), dtype=np.int64)
            sums = np.zeros(shape, dtype=np.int64)
            kernels.outline_rows(*self._rows(shard), self.reach, scale, *room, moments, sums)
            return moments, sums

        moments, sums = zip(*self.shards.map(part), strict=True)
        return np.sum(moments, axis=0) / scale, np.sum(sums, axis=0) / scale

    def _rows(self, shard: Shard) -> _Rows:
        """Return what all kernels take first."""
        hypothesis, terms = self.hypothesis, self.terms(shard)
        answers = terms.columns(hypothesis), terms.sizes(hypothesis, self.n_classes)
        return shard.data["weights"], shard.starts, shard.leaves, *answers, terms.u, terms.f


@dataclass(frozen=True)
class Outline:
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

    N_CELLS: ClassVar[int] = 2048

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
        slope, bend = c * p + p1, c * (c * p + 2.0 * p1) + p2
        return float(np.sum(p)), -float(np.sum(slope)), float(np.sum(bend))

    def error(self, alpha: float, z: float, slope: float, bend: float) -> float:
        """Bound by how much the minimiser may be wrong, given the sums at alpha."""
        half = 0.5 * self.width
        lost = half * (abs(alpha) * half) ** 3 / 6.0 * z  # of Z'
        return lost / bend if bend > 0.0 else np.inf


def halvings(steepest: float) -> int:
    """Return how often the kernels halve exponents of such a size: to 1/32 or less."""
    size = 32.0 * min(abs(steepest), _STEEP)
    return max(0, int(np.frexp(size)[1])) if size > 1.0 else 0
