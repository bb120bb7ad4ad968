"""What a learner returned, seen from the rows: leaves, and how each of them votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Hypothesis:
    """How the leaves of a learner vote.

    Attributes
    ----------
    votes : int64 array of shape (L,)
        The class each leaf votes for.
    sizes : float64 array of shape (L,)
        How strongly; 1 for discrete votes.
    by_row : bool
        Whether rows of one leaf vote with different strength; the rows' `sizes` say how.
    """

    votes: Int64
    sizes: Floats
    by_row: bool = False

    def right(self, n_classes: int) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is right for a row of the class."""
        return np.asarray(self.votes[:, None] == np.arange(n_classes))


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

    @property
    def factored(self) -> bool:
        """Whether rows have factors other than 1."""
        return any(self.f.strides)

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
        return RowTerms(self.u * sizes[:, None], self.f)

    def plain(self, labels: NDArray[np.uint8], n_classes: int, wrong: float) -> RowTerms:
        """Return the terms with margins of 1 at every row's own class and -wrong elsewhere."""
        if not self.signed:  # of two classes, for which `wrong` is 1
            return RowTerms(np.ones_like(self.u), self.f)
        table = np.where(np.eye(n_classes, dtype=bool), 1.0, -wrong)
        return RowTerms(table[labels], self.f)

    def unpriced(self) -> RowTerms:
        """Return the terms with factors of 1."""
        return RowTerms(self.u, np.broadcast_to(1.0, self.u.shape))
