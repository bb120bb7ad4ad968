"""Cross-validation folds on one copy of the codes: models that leave out one fold each.

    codes    shard 0: fold 0 | fold 1 | fold 2      shard 1: fold 0 | fold 1 | fold 2
    model 1           #######          ######                #######          ######

Rows are stored shard by shard, within these class by class where a family groups them so, and
within those fold by fold. A model's rows of a class in a shard are then two ranges of the codes,
and what it holds of them lies together: only the codes of the second range are further on, by the
size of the fold that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.shards.layout import blocks_of, deal_folds, rows_without
from costboost.shards.local import Shards, SharedPool
from costboost.shards.rows import Shard
from costboost.shards.scratch import Scratch
from costboost.typing import Codes, Int64, RowNumbers

MOST_FOLDS = 254  # whose numbers are bytes, with one for rows of none


@dataclass(frozen=True, eq=False)
class Folds:
    """The (train, test) rows of models that leave out one fold each, stored in a byte per row.

    Attributes
    ----------
    n_folds : int
        F.
    numbers : uint8 array of shape (n,), or None
        The fold that leaves each row out; F: no model uses it. None where models do not leave out
        one fold each and train on all others.
    splits : list of (train, test), or None
        Where they do not.
    """

    n_folds: int
    numbers: NDArray[np.uint8] | None
    splits: list[tuple[Int64, Int64]] | None = None

    @classmethod
    def of(cls, splits: Sequence[tuple[Int64, Int64]], n_rows: int) -> Folds:
        """Make folds of (train, test) pairs.

        A byte per row if each train is the complement of its test.

        Examples
        --------
        >>> rows = np.arange(6)
        >>> folds = Folds.of([(rows[2:], rows[:2]), (rows[:2], rows[2:])], n_rows=6)
        >>> folds.numbers.tolist(), folds.train(0).tolist()
        ([0, 0, 1, 1, 1, 1], [2, 3, 4, 5])
        """
        numbers = fold_numbers(splits, n_rows)
        return cls(len(splits), numbers, list(splits) if numbers is None else None)

    @classmethod
    def leaving_out(cls, tests: Sequence[NDArray[Any]], n_rows: int) -> Folds:
        """Make folds of test rows: each trains on the test rows of all others."""
        numbers = np.full(n_rows, len(tests), dtype=np.uint8)
        for k, test in enumerate(tests):
            numbers[test] = k
        return cls(len(tests), numbers)

    def __len__(self) -> int:
        return self.n_folds

    def __iter__(self) -> Iterator[tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]]:
        return ((self.train(k), self.test(k)) for k in range(self.n_folds))

    def train(self, fold: int) -> NDArray[np.integer[Any]]:
        """Return the training rows of the model that leaves a fold out."""
        if self.splits is not None:
            return self.splits[fold][0]
        assert self.numbers is not None
        others = (self.numbers != fold) & (self.numbers < self.n_folds)
        return np.flatnonzero(others).astype(np.uint32)

    def test(self, fold: int) -> NDArray[np.integer[Any]]:
        """Return the rows of a fold."""
        if self.splits is not None:
            return self.splits[fold][1]
        return np.flatnonzero(self.numbers == fold).astype(np.uint32)

    def used(self, n_rows: int) -> RowNumbers:
        """Return the rows, of so many, that any model trains on or leaves out, increasing."""
        used = np.zeros(n_rows, dtype=bool)
        for rows in (*map(self.train, range(self.n_folds)), *map(self.test, range(self.n_folds))):
            used[rows] = True
        return np.flatnonzero(used).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class FoldLayout:
    """Where each row of a table is stored: by shard, class and fold.

    Attributes
    ----------
    folds : Folds
        With numbers.
    labels : class numbers of shape (n,), or None
        What rows are grouped by.
    rows : ndarray of shape (n,)
        rows[p] is the number of the row stored at position p.
    starts : list of int64 arrays of shape (K, F + 2)
        Where each fold of a class begins in a shard; see `layout`.
    scratches : list of Scratch
        One for each shard: models work in turn, a round of each at a time.
    pool : SharedPool
        Their threads.
    """

    folds: Folds
    labels: NDArray[np.integer[Any]] | None
    rows: RowNumbers
    starts: list[Int64]
    scratches: list[Scratch]
    pool: SharedPool

    def positions(self) -> RowNumbers:
        """Return where each row is stored, (n,)."""
        positions = np.empty(len(self.rows), dtype=np.uint32)
        for part in blocks_of(len(self.rows)):
            positions[self.rows[part]] = np.arange(part.start, part.stop, dtype=np.uint32)
        return positions

    def training_on(
        self, rows: NDArray[Any] | None, labels: NDArray[np.integer[Any]] | None = None
    ) -> int | None:
        """Return the fold whose training rows and labels these are; None if there is none."""
        if rows is None or (labels is None) != (self.labels is None):
            return None
        if labels is not None and self.labels is not None:
            alike = np.array_equal(self.labels[rows], labels)
            return self._find(rows, self.folds.train) if alike else None
        return self._find(rows, self.folds.train)

    def leaving_out(self, rows: NDArray[Any]) -> int | None:
        """Return the fold whose test rows these are; None if there is none."""
        return self._find(rows, self.folds.test)

    def _find(self, rows: NDArray[Any], rows_of: Callable[[int], NDArray[Any]]) -> int | None:
        numbers = range(self.folds.n_folds)
        return next((k for k in numbers if np.array_equal(rows_of(k), rows)), None)

    def cut(self, codes: Codes, fold: int, load: Callable[[RowNumbers], Any]) -> Shards:
        """Return the shards of the model that leaves a fold out.

        `load` makes what a shard holds of its rows, by their numbers among those of the model.
        """
        ranks, train = np.zeros(len(self.rows), dtype=np.uint32), self.folds.train(fold)
        # Row numbers as the model counts them: samples are drawn by these, as if the fold were not
        # in the table.
        ranks[train] = np.arange(len(train), dtype=np.uint32)
        del train
        shards = []
        for starts, scratch in zip(self.starts, self.scratches, strict=True):
            rows, segments, pieces = rows_without(self.rows, starts, fold, len(starts))
            part, own = codes[int(starts[0, 0]) : int(starts[-1, -1])], ranks[rows]
            shards.append(Shard(part, own, segments, load(own), pieces, scratch))
        return Shards(shards, self.pool)

    def pieces(self, codes: Codes, fold: int) -> list[tuple[Codes, RowNumbers]]:
        """Return the contiguous pieces of a fold's codes, each with its places in the fold."""
        test, found = self.folds.test(fold), []
        for starts in self.starts:
            for begin, end in starts[:, fold : fold + 2].tolist():
                places = np.searchsorted(test, self.rows[begin:end]).astype(np.uint32)
                found.append((codes[begin:end], places))
        return found


def plan_folds(
    folds: Folds,
    n_shards: int,
    labels: NDArray[np.integer[Any]] | None = None,
    n_classes: int = 1,
) -> FoldLayout | None:
    """Lay out rows for models that leave out one fold each.

    None if the folds are of another kind.
    """
    if folds.numbers is None:
        return None
    rows, starts = deal_folds(folds.numbers, folds.n_folds, labels, n_classes, n_shards)
    scratches = [Scratch() for _ in starts]
    return FoldLayout(folds, labels, rows, _absolute(starts), scratches, SharedPool(len(starts)))


def fold_numbers(splits: Sequence[tuple[Int64, Int64]], n_rows: int) -> NDArray[np.uint8] | None:
    """Return the fold in which each row is left out, (n,); the number of folds for rows in none.

    None where models do not leave out one fold each.
    """
    if len(splits) > MOST_FOLDS:
        return None
    fold_of = np.full(n_rows, len(splits), dtype=np.uint8)
    for k, (train, test) in enumerate(splits):
        # A row may be left out once only.
        disjoint = np.all(fold_of[test] == len(splits))
        if not (disjoint and _increasing(train) and _increasing(test)):
            return None
        fold_of[test] = k
    # Each model must train on all rows of the other folds: else the codes cannot be shared by
    # leaving out one range.
    used = fold_of < len(splits)
    for k, (train, _) in enumerate(splits):
        if not np.array_equal(np.flatnonzero(used & (fold_of != k)), train):
            return None
    return fold_of


def _increasing(rows: Int64) -> bool:
    return bool(np.all(rows[1:] > rows[:-1]))


def _absolute(starts: list[Int64]) -> list[Int64]:
    """Turn starts within shards into starts within all rows."""
    ends = np.cumsum([part[-1, -1] for part in starts])
    return [part + end - part[-1, -1] for part, end in zip(starts, ends, strict=True)]
