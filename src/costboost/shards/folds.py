"""Models that leave out one fold each share one copy of the codes.

    codes    shard 0: fold 0 | fold 1 | fold 2      shard 1: fold 0 | fold 1 | fold 2
    model 1           #######          ######                #######          ######

Rows are stored shard by shard and, within, fold by fold. A model's rows in a shard are then two
ranges of the codes, and what it holds of them lies together: only the codes of the second range are
further on, by the size of the fold that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.shards.bench import Bench
from costboost.shards.layout import deal_rows
from costboost.shards.local import Crew, Shards
from costboost.shards.rows import Shard

Codes = NDArray[np.uint8]
Int64 = NDArray[np.int64]
Rows = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class FoldLayout:
    """Where each row of a table goes: into which shard, and there into which fold.

    Attributes
    ----------
    fold_of : uint8 array of shape (n,)
        The fold of each row; F: no model uses it.
    rows : ndarray of shape (n,)
        rows[p] is the number of the row stored at position p.
    starts : list of int64 arrays of shape (F + 2,)
        Where each fold of a shard begins; behind the last are rows that no model uses.
    benches : list of Bench
        One for each shard: models work in turn, a round of each at a time.
    crew : Crew
        Their threads.
    """

    fold_of: NDArray[np.uint8]
    rows: Rows
    starts: list[Int64]
    benches: list[Bench]
    crew: Crew

    def positions(self) -> Int64:
        """Return where each row is stored, (n,)."""
        positions = np.empty(len(self.rows), dtype=np.int64)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    @property
    def n_folds(self) -> int:
        """F."""
        return len(self.starts[0]) - 2

    def train(self, fold: int) -> Int64:
        """Return the rows that the model trains on which leaves a fold out."""
        return np.flatnonzero((self.fold_of != fold) & (self.fold_of < self.n_folds))

    def test(self, fold: int) -> Int64:
        """Return the rows of a fold."""
        return np.flatnonzero(self.fold_of == fold)

    def training_on(self, rows: NDArray[Any] | None) -> int | None:
        """Return the fold whose model trains on these rows; None: no model does."""
        return None if rows is None else self._find(rows, self.train)

    def leaving_out(self, rows: NDArray[Any]) -> int | None:
        """Return the fold that these rows are; None: they are none."""
        return self._find(rows, self.test)

    def _find(self, rows: NDArray[Any], rows_of: Callable[[int], Int64]) -> int | None:
        return next((k for k in range(self.n_folds) if np.array_equal(rows_of(k), rows)), None)

    def cut(self, codes: Codes, fold: int, load: Callable[[Rows], Any]) -> Shards:
        """Return the shards of the model that leaves a fold out.

        `load` makes what a shard holds of its rows, by their numbers among those of the model.
        """
        ranks, train = np.zeros(len(self.rows), dtype=np.uint32), self.train(fold)
        ranks[train] = np.arange(len(train), dtype=np.uint32)
        shards = []
        for starts, bench in zip(self.starts, self.benches, strict=True):
            first, begin, end, last = starts[[0, fold, fold + 1, -2]].tolist()
            own = ranks[np.concatenate([self.rows[first:begin], self.rows[end:last]])]
            segments = np.array([0, begin - first, len(own)], dtype=np.int64)
            skips = (0, end - begin)
            shards.append(Shard(codes[first:last], own, segments, load(own), skips, bench))
        return Shards(shards, self.crew)

    def pieces(self, codes: Codes, fold: int) -> list[tuple[Codes, Rows]]:
        """Return the codes of a fold as they lie together, and their places among its rows."""
        test, found = self.test(fold), []
        for starts in self.starts:
            piece = slice(int(starts[fold]), int(starts[fold + 1]))
            places = np.searchsorted(test, self.rows[piece]).astype(np.uint32)
            found.append((codes[piece], places))
        return found


def plan_folds(
    splits: Sequence[tuple[Int64, Int64]], n_rows: int, n_shards: int
) -> FoldLayout | None:
    """Arrange rows for models that leave out one fold each; None where that is not what they do.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> layout = plan_folds([(rows[3:], rows[:3]), (rows[:3], rows[3:])], n_rows=6, n_shards=1)
    >>> layout.rows.tolist(), layout.starts[0].tolist()
    ([0, 1, 2, 3, 4, 5], [0, 3, 6, 6])
    """
    fold_of = fold_numbers(splits, n_rows)
    if fold_of is None:
        return None
    rows, starts = deal_rows(fold_of, n_rows, len(splits) + 1, n_shards)
    benches = [Bench() for _ in starts]
    return FoldLayout(fold_of, rows, _absolute(starts), benches, Crew(len(starts)))


def fold_numbers(splits: Sequence[tuple[Int64, Int64]], n_rows: int) -> NDArray[np.uint8] | None:
    """Return the fold that each row is left out in; as many as there are folds where in none.

    None where models do not leave out one fold each.
    """
    if len(splits) > 254:
        return None
    fold_of = np.full(n_rows, len(splits), dtype=np.uint8)
    for k, (train, test) in enumerate(splits):
        apart = np.all(fold_of[test] == len(splits))
        if not (apart and _increasing(train) and _increasing(test)):
            return None
        fold_of[test] = k
    used = fold_of < len(splits)
    for k, (train, _) in enumerate(splits):
        if not np.array_equal(np.flatnonzero(used & (fold_of != k)), train):
            return None
    return fold_of


def _increasing(rows: Int64) -> bool:
    return bool(np.all(rows[1:] > rows[:-1]))


def _absolute(starts: list[Int64]) -> list[Int64]:
    """Turn starts within shards into starts within all rows."""
    ends = np.cumsum([part[-1] for part in starts])
    return [part + end - part[-1] for part, end in zip(starts, ends, strict=True)]
