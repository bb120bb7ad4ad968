"""What a learner returned, seen from the rows: leaves, and how each of them votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_NONE = np.zeros(0)


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


class Latest:
    """Keeps what was computed of an object while it is asked of the same one."""

    def __init__(self) -> None:
        self._of: Any = None
        self._value: Any = None

    def of(self, thing: Any, compute: Callable[[Any], T]) -> T:
        """Return what `compute` makes of a thing, or made of it the last time."""
        if self._of is not thing:
            self._of, self._value = thing, compute(thing)
        value: T = self._value
        return value

    def forget(self) -> None:
        """Compute anew."""
        self._of = None


@dataclass(frozen=True)
class RowTerms:
    """A rule's effective margins and factors for every row of a shard and every answer.

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
        """Keep (m, K) margins and factors in as little room as they need."""
        if u.shape[1] == 2 and np.all(u[:, 0] == -u[:, 1]) and np.all(f[:, 0] == f[:, 1]):
            u, f = np.abs(u[:, :1]), f[:, :1]
        if np.all(f == 1.0):
            return cls(np.ascontiguousarray(u), np.broadcast_to(1.0, u.shape))
        return cls(np.ascontiguousarray(u), np.ascontiguousarray(f))

    @classmethod
    def of_label(
        cls, label: int, exponents: tuple[Floats, Floats] | None, factors: tuple[Floats, Floats]
    ) -> RowTerms:
        """Return the terms of rows of one of two classes, from those of right and wrong answers.

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
        """Return the terms of so many rows, where those of one may stand for all.

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
        """Whether the sign of a margin is in `u`, not in the answer alone."""
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
        """Return what multiplies the u of every leaf and class, (L, K)."""
        right = hypothesis.right(n_classes)
        sign = np.ones(right.shape) if self.signed else np.where(right, 1.0, -1.0)
        return np.asarray(sign * hypothesis.sizes[:, None])

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes that differ in strength from row to row."""
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
    """Takes margins of rows, some at a time; keeps them only once rows of a class differ."""

    def __init__(self, labels: NDArray[np.uint8], shape: tuple[int, int], n_classes: int) -> None:
        self.labels, self.shape = labels, shape
        self._table = np.full((n_classes, shape[1]), np.nan)
        self._u: Floats | None = None

    def add(self, rows: slice, u: Floats) -> None:
        """Take the margins of some rows, the ones behind those taken before."""
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
        """Return the terms with these margins."""
        if self._u is not None:
            return RowTerms(self._u, f)
        return RowTerms(np.zeros((0, self.shape[1])), f, self._table)
