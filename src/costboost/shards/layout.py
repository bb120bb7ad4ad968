"""Which shard holds which rows: dealt in small blocks, grouped by class inside each shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.shards.local import Shards
from costboost.shards.rows import Pieces, Shard
from costboost.typing import Codes, Floats, Int64, RowNumbers

__all__ = [
    "Loader",
    "RowData",
    "Arranged",
    "deal_folds",
    "left_out",
    "rows_without",
    "without_fold",
]


# Rows before the first round: loaders travel to where the rows are, and make the state there.


@dataclass(frozen=True)
class RowData:
    """What the user gave for some rows beside the features.

    Attributes
    ----------
    y : array of shape (n,): class numbers, or the target of a regression
    weights : float64 array of shape (n,) or None
    costs : Costs or None
        Bound to the classes; of these rows, if they have prices of their own.
    """

    y: NDArray[Any]
    weights: Floats | None = None
    costs: Costs | None = None

    def take(self, rows: NDArray[Any] | slice) -> RowData:
        """Return the data of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return RowData(self.y[rows], weights, None if self.costs is None else self.costs[rows])


class Loader(Protocol):
    """Makes the per-row state that an algorithm keeps in a shard."""

    @property
    def labels(self) -> NDArray[np.integer[Any]] | None:
        """Labels that rows are grouped by inside a shard, (n,); None: no grouping."""

    @property
    def n_segments(self) -> int:
        """The number of groups."""

    def load(self, rows: NDArray[Any] | slice) -> Any:
        """Return the state of a shard that holds the rows of these numbers.

        A slice of all of them copies nothing: the state then shares the arrays of the row data.
        """

    def blank(self) -> Self:
        """Return a loader of the same settings without rows, to be sent to workers."""

    def on(self, data: RowData) -> Self:
        """Return a loader of the same settings for other rows."""


_BLOCK = 1 << 14  # rows: what is computed for them on the way stays small
_DEAL = 4096  # rows dealt to one shard at a time: sorted data leaves no thread idle
_CELLS_PER_SHARD = 200_000  # below this a second thread costs more than it brings


@dataclass(frozen=True)
class ShardLayout:
    """Where each row of a table is stored: by shard, and there by class.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        rows[p] is the number of the row stored at position p.
    bounds : list of (start, stop)
        The positions of each shard.
    starts : list of ndarray of shape (S + 1,)
        Where each class begins, inside each shard.
    """

    rows: RowNumbers
    bounds: list[tuple[int, int]]
    starts: list[Int64]

    @property
    def positions(self) -> Int64:
        """Inverse of `rows`: row i is stored at positions[i], (n,)."""
        positions = np.empty(len(self.rows), dtype=np.int64)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    def cut(
        self, codes: NDArray[np.uint8], load: Callable[[RowNumbers], Any] | None = None
    ) -> Shards:
        """Return shards of codes that are already stored in this layout; `load` makes their state.

        `load` makes of row numbers what a shard holds of its rows.
        """
        shards = []
        for (start, stop), starts in zip(self.bounds, self.starts, strict=True):
            rows = self.rows[start:stop]
            state = None if load is None else load(rows)
            shards.append(Shard(codes[start:stop], rows, starts, state))
        return Shards(shards)


def plan_layout(
    labels: NDArray[np.integer[Any]] | None, n_rows: int, n_segments: int, n_shards: int
) -> ShardLayout:
    """Deal rows to shards and group them by label inside each; None: one segment, no labels.

    Examples
    --------
    >>> layout = plan_layout(np.array([1, 0, 1, 0]), n_rows=4, n_segments=2, n_shards=1)
    >>> layout.rows.tolist(), layout.starts[0].tolist()
    ([1, 3, 0, 2], [0, 2, 4])
    """
    rows, starts = deal_rows(labels, n_rows, n_segments, n_shards)
    ends = np.cumsum([start[-1] for start in starts]).tolist()
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    return ShardLayout(rows=rows, bounds=bounds, starts=starts)


def deal_rows(
    labels: NDArray[np.integer[Any]] | None, n_rows: int, n_segments: int, n_shards: int
) -> tuple[RowNumbers, list[Int64]]:
    """Return the rows, shard by shard and label by label, and where labels begin in each shard."""
    keys = np.arange(n_rows, dtype=np.uint32)
    # Blocks of _DEAL rows are dealt in turn, so that shards get rows of all parts of a sorted
    # table.
    keys //= _DEAL
    keys %= n_shards
    if labels is not None:
        keys *= np.uint32(n_segments)
        keys += labels.astype(np.uint8 if n_segments <= 256 else np.uint32)
    n_keys = n_shards * n_segments
    # In increasing order within a shard and label: neighbours stay neighbours in memory.
    members = [np.flatnonzero(keys == key).astype(np.uint32) for key in range(n_keys)]
    rows = np.concatenate(members)
    sizes = np.array([len(own) for own in members])
    starts = [
        np.concatenate([[0], np.cumsum(part)]).astype(np.int64)
        for part in sizes.reshape(n_shards, n_segments)
    ]
    return rows, starts


def sensible_shards(n_rows: int, n_features: int, n_threads: int) -> int:
    """Return the number of shards that pays: one per thread, fewer on small tables."""
    return max(1, min(n_threads, n_rows // _DEAL, n_rows * n_features // _CELLS_PER_SHARD))


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Yield slices that cover so many rows, a cache-sized block at a time."""
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))


# Rows of models that leave out one fold each, in codes that all of them share.


class Arranged(NamedTuple):
    """The rows of a model in a part, as a `Shard` holds them.

    Rows are given by their place among those of the part that the model trains on.
    """

    codes: Codes
    rows: RowNumbers
    starts: Int64
    pieces: Pieces | None = None


def deal_folds(
    fold_of: NDArray[np.uint8],
    n_folds: int,
    labels: NDArray[np.integer[Any]] | None,
    n_classes: int,
    n_shards: int,
) -> tuple[RowNumbers, list[Int64]]:
    """Return rows sorted by shard, class and fold, and each shard's starts, (K, F + 2).

    Starts count from the first row of the shard; fold F are rows that no model uses.

    Examples
    --------
    >>> folds, labels = np.array([0, 1, 0, 1], dtype=np.uint8), np.array([0, 0, 1, 0])
    >>> rows, (starts,) = deal_folds(folds, 2, labels, n_classes=2, n_shards=1)
    >>> rows.tolist(), starts.tolist()
    ([0, 1, 3, 2], [[0, 1, 3, 3], [3, 4, 4, 4]])
    """
    n_parts = n_folds + 1
    keys = fold_of if labels is None else labels * np.uint32(n_parts) + fold_of
    rows, starts = deal_rows(keys, len(fold_of), n_classes * n_parts, n_shards)
    own = np.arange(n_classes)[:, None] * n_parts + np.arange(n_parts + 1)
    return rows, [part[own] for part in starts]


def rows_without(
    stored: RowNumbers, starts: Int64, fold: int, n_segments: int
) -> tuple[RowNumbers, Int64, Pieces]:
    """Return the stored places of all folds but one, grouped as a model's segments.

    Also where its segments begin among them, one or one for each class, and how they lie in the
    codes, from the first of `starts` on.
    """
    # Of every class, all before the fold and all behind it.
    begins, ends = starts[:, [0, fold + 1]].ravel(), starts[:, [fold, -2]].ravel()
    ranges = zip(begins.tolist(), ends.tolist(), strict=True)
    # The model's rows in stored order; `skips` is how far each range has moved by leaving the fold
    # out.
    rows = np.concatenate([stored[begin:end] for begin, end in ranges])
    cuts = np.append(0, np.cumsum(ends - begins))
    segments = np.ascontiguousarray(cuts[:: len(begins) // n_segments])
    skips = begins - starts[0, 0] - cuts[:-1]
    return rows, segments, Pieces(cuts, tuple(skips.tolist()))


def left_out(chosen: RowNumbers, stored: RowNumbers, starts: Int64) -> int | None:
    """Return the fold whose complement was chosen; None if the choice is no such complement."""
    n_classes, n_parts = starts.shape[0], starts.shape[1] - 1
    sizes = np.diff(starts, axis=1)
    folds = np.empty(len(stored), dtype=np.uint8)
    folds[stored] = np.repeat(np.tile(np.arange(n_parts, dtype=np.uint8), n_classes), sizes.ravel())
    # Exactly one fold lacks rows, it lacks all of them, and no row is outside the folds.
    found = np.bincount(folds[chosen], minlength=n_parts)
    lacking = (sizes.sum(axis=0) - found)[:-1]
    fold = int(np.argmax(lacking))
    only_one = np.count_nonzero(lacking) == 1 and found[fold] == found[-1] == 0
    return fold if only_one else None


def without_fold(
    codes: Codes, chosen: RowNumbers, stored: RowNumbers, starts: Int64, fold: int, n_segments: int
) -> Arranged:
    """Arrange all rows but those of a fold, without copying codes: one segment, or one per class.

    The last classes may have no rows here.
    """
    absent = max(0, n_segments - len(starts))
    starts = np.vstack([starts, np.full((absent, starts.shape[1]), starts[-1, -1])])
    rows, segments, pieces = rows_without(stored, starts, fold, n_segments)
    places = np.searchsorted(chosen, rows).astype(np.uint32)
    return Arranged(codes, places, segments, pieces)
