"""The sums over rows from which a round's alpha, error and normaliser follow.

With costs that are constant per class, rows of one leaf and one class are alike: everything is a
sum over a few cells, known from the tree's own histograms. With a cost per row, each sum is a pass
over the rows of every shard. Both offer the same two sums to `steps.py`:

    balance()   sum q (1 + u), sum q (1 - u)
    z(alpha)    Z = sum q exp(-alpha u), and its derivatives Z', Z''

where q is the normalised weight, with the rule's factor or without it, and u the effective margin,
with the rule's exponent or without it. All sums are exact, so they do not depend on the shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _row_kernels as kernels
from costboost.trees.shards import Shard, Shards, grid_scale

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_REMAINDER = 2.0**40  # as in the kernels
_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels


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
    """A rule's exponents and factors for every row of a shard, as (m, K) arrays or views."""

    e_right: Floats
    e_wrong: Floats
    f_right: Floats
    f_wrong: Floats

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the four arrays in the order in which the kernels take them."""
        return self.e_right, self.e_wrong, self.f_right, self.f_wrong

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes that differ in strength from row to row."""
        return replace(
            self, e_right=self.e_right * sizes[:, None], e_wrong=self.e_wrong * sizes[:, None]
        )

    def with_factor(self, factor: Floats) -> RowTerms:
        """Return the terms with another factor, one per row, outside the exponent."""
        return replace(
            self, f_right=self.f_right * factor[:, None], f_wrong=self.f_wrong * factor[:, None]
        )


@dataclass(frozen=True)
class RowSums:
    """Sums over the rows of all shards.

    `terms` gives a shard's `RowTerms`; `total` is the sum of the unnormalised weights, and
    `largest` bounds weight * factor.
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
            ones = np.broadcast_to(1.0, terms.e_right.shape)
            if code or not exponent:
                wrong = 1.0 / (ones.shape[1] - 1) if code else 1.0
                terms = replace(terms, e_right=ones, e_wrong=wrong * ones)
                sizes = shard.data.get("sizes")
                terms = terms if sizes is None else terms.times(sizes)
            return terms if factor else replace(terms, f_right=ones, f_wrong=ones)

        return replace(self, terms=chosen)

    def balance(self) -> tuple[float, float]:
        """Return sum q (1 + u) and sum q (1 - u)."""
        scale = grid_scale(self.largest * (1 + self.reach), self.shards.n_rows)
        votes = (self.hypothesis.votes, self.hypothesis.sizes)

        def part(shard: Shard) -> Int64:
            out = np.zeros((2, 2), dtype=np.int64)
            rows = (shard.data["weights"], shard.starts, shard.leaves)
            kernels.balance_rows(*rows, *votes, *self.terms(shard).arrays(), scale, out)
            return out

        plus, minus = _to_float(self.shards.sum(part), scale, self.total)
        return plus, minus

    def z(self, alpha: float) -> tuple[float, float, float]:
        """Return Z, Z' and Z'' at alpha."""
        bound = self.largest * np.exp(min(abs(alpha) * self.reach, _STEEP))
        scale = grid_scale(bound * max(1.0, self.reach**2), self.shards.n_rows)
        votes = (self.hypothesis.votes, self.hypothesis.sizes)

        def part(shard: Shard) -> Int64:
            out = np.zeros((3, 2), dtype=np.int64)
            rows = (shard.data["weights"], shard.starts, shard.leaves)
            terms = self.terms(shard).arrays()
            kernels.normalizer_rows(*rows, *votes, *terms, alpha, scale, out)
            return out

        z, descent, curvature = _to_float(self.shards.sum(part), scale, self.total)
        return z, -descent, curvature


def _to_float(sums: Int64, scale: float, total: float) -> list[float]:
    """Turn exact sums (units, remainders) into numbers; scale * total might overflow."""
    return [(units + rest / _REMAINDER) / scale / total for units, rest in sums.tolist()]
