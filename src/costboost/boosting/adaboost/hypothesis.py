"""A learner's result as votes of leaves, and a rule's margins and factors of rows for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.links import link, vote_shares
from costboost.typing import Floats, Int64

# Margins to scores and probabilities: by the link of a method's loss, or by shares of votes.


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


T = TypeVar("T")

_NONE = np.zeros(0)


@dataclass(frozen=True)
class Hypothesis:
    """The vote of every leaf of a learner: its class and its strength.

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


class LastValue:
    """A cache of one value: that of the last object it was computed of."""

    def __init__(self) -> None:
        self._of: Any = None
        self._value: Any = None

    def of(self, thing: Any, compute: Callable[[Any], T]) -> T:
        """Return compute(thing), cached while `thing` is the same object."""
        if self._of is not thing:
            self._of, self._value = thing, compute(thing)
        value: T = self._value
        return value

    def forget(self) -> None:
        """Empty the cache."""
        self._of = None


@dataclass(frozen=True)
class RowTerms:
    """A rule's effective margins and factors, for every row of a shard and every answer.

    In general u and f are (m, K), one column for every answer: a margin is positive at the row's
    own class, negative elsewhere. Of two classes with one price for right and wrong answers the
    sizes suffice, (m, 1). Factors that are all 1 are a view of one number. Where all rows of a
    class have the same margins, they are in `table`, (K, 1) or (K, K), and u has no rows.
    """

    u: Floats
    f: Floats
    table: Floats | None = None

    def spread(self, labels: NDArray[Any]) -> RowTerms:
        """Return the terms with margins by row."""
        return self if self.table is None else RowTerms(self.table[labels], self.f)

    @classmethod
    def of(cls, u: Floats, f: Floats) -> RowTerms:
        """Make terms of (m, K) margins and factors, with one row or column where all are alike."""
        if u.shape[1] == 2 and np.all(u[:, 0] == -u[:, 1]) and np.all(f[:, 0] == f[:, 1]):
            u, f = np.abs(u[:, :1]), f[:, :1]
        if np.all(f == 1.0):
            return cls(np.ascontiguousarray(u), np.broadcast_to(1.0, u.shape))
        return cls(np.ascontiguousarray(u), np.ascontiguousarray(f))

    @classmethod
    def of_label(
        cls, label: int, exponents: tuple[Floats, Floats] | None, factors: tuple[Floats, Floats]
    ) -> RowTerms:
        """Make the terms of rows of one of two classes, from those of right and of wrong answers.

        Without exponents there are factors alone.
        """
        (right_factor, wrong_factor), n_rows = factors, len(factors[0])
        right, wrong = (_NONE, _NONE) if exponents is None else exponents
        if right is wrong and right_factor is wrong_factor:
            return cls(right[:, None], right_factor[:, None])
        u = _by_answer(label, right, -wrong)
        if right_factor is wrong_factor:
            return cls(u, np.broadcast_to(right_factor[:, None], (n_rows, 2)))
        return cls(u, _by_answer(label, right_factor, wrong_factor))

    def stretched(self, n_rows: int, *, margins: bool) -> RowTerms:
        """Return terms with a row for each of `n_rows`, where one stood for all.

        Beside margins factors are not: kernels take a view of one number for factors of 1.
        """
        if len(self.f) == n_rows:
            return self
        f = np.broadcast_to(self.f, (n_rows, self.f.shape[1]))
        if not margins:
            return RowTerms(self.u, f)
        u = np.repeat(self.u, n_rows, axis=0)
        return RowTerms(u, np.repeat(self.f, n_rows, axis=0) if self.factored else f)

    @property
    def signed(self) -> bool:
        """Whether `u` holds signed margins; otherwise the answer alone decides the sign."""
        return bool(self.f.shape[1] > 1)

    @property
    def factored(self) -> bool:
        """Whether rows have factors other than 1."""
        return bool(self.f.strides[0])

    def columns(self, hypothesis: Hypothesis) -> Int64:
        """Return the column of u and f for the vote of every leaf, (L,)."""
        return hypothesis.votes if self.signed else np.zeros_like(hypothesis.votes)

    def factors(self, hypothesis: Hypothesis, leaves: NDArray[Any]) -> Floats:
        """Return the factor of every row for the vote of its leaf, (m,)."""
        return np.asarray(self.f[np.arange(len(leaves)), self.columns(hypothesis)[leaves]])

    def sizes(self, hypothesis: Hypothesis, n_classes: int) -> Floats:
        """Return the multipliers of u by leaf and class, (L, K).

        Strength, with the sign if need be.
        """
        right = hypothesis.right(n_classes)
        sign = np.ones(right.shape) if self.signed else np.where(right, 1.0, -1.0)
        return np.asarray(sign * hypothesis.sizes[:, None])

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes whose strength differs by row, (m,)."""
        return RowTerms(self.u * sizes[:, None], self.f)

    def plain(self, labels: NDArray[Any], n_classes: int, wrong: float) -> RowTerms:
        """Return the terms with margins of 1 at every row's own class and -wrong elsewhere."""
        if not self.signed:  # of two classes, for which `wrong` is 1
            return RowTerms(np.ones((len(labels), 1)), self.f)
        table = np.where(np.eye(n_classes, dtype=bool), 1.0, -wrong)
        return RowTerms(table[labels], self.f)

    def unpriced(self) -> RowTerms:
        """Return the terms with factors of 1."""
        return RowTerms(self.u, np.broadcast_to(1.0, self.f.shape), self.table)


def _by_answer(label: int, right: Floats, wrong: Floats) -> Floats:
    """Return the columns of both answers to rows of one of two classes, (m, 2)."""
    both = np.empty((len(right), 2))
    both[:, label], both[:, 1 - label] = right, wrong
    return both


class EvenMargins:
    """Collects margins block by block, and keeps one row per class while rows of a class agree."""

    def __init__(self, labels: NDArray[np.uint8], shape: tuple[int, int], n_classes: int) -> None:
        self.labels, self.shape = labels, shape
        self._table = np.full((n_classes, shape[1]), np.nan)
        self._u: Floats | None = None

    def add(self, rows: slice, u: Floats) -> None:
        """Add the margins of the next block of rows."""
        if self._u is None:
            labels = self.labels[rows]
            for k in np.unique(labels).tolist():
                if np.isnan(self._table[k, 0]):
                    self._table[k] = u[np.argmax(labels == k)]
            if np.array_equal(u, self._table[labels]):
                return
            self._u = np.empty(self.shape)
            self._u[: rows.start] = self._table[self.labels[: rows.start]]
        self._u[rows] = u

    def terms(self, f: Floats) -> RowTerms:
        """Return the terms with the collected margins and these factors."""
        if self._u is not None:
            return RowTerms(self._u, f)
        return RowTerms(np.zeros((0, self.shape[1])), f, self._table)
