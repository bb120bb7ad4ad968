"""How the rows of models lie in codes that they share, because each leaves out one fold.

    stored   | fold 0 | fold 1 | fold 2 | rows of none     of one class, and the next behind it
    model 1  | ###### |        | ###### |                  two ranges of each: codes skip fold 1

`starts` (K, F + 2) says where each fold of every class begins, and at last where rows begin and end
that no model uses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.shards.layout import deal_rows
from costboost.shards.rows import Pieces

__all__ = ["Arranged", "deal_folds", "left_out", "rows_without", "without_fold"]

Codes = NDArray[np.uint8]
Int64 = NDArray[np.int64]
RowNumbers = NDArray[np.uint32]


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
    """Return the rows, shard by shard, class by class and fold by fold, and the starts in each.

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
    """Return the rows of all folds but one as a model puts them together.

    Also where its segments begin among them, one or one for each class, and how they lie in the
    codes, from the first of `starts` on.
    """
    # Of every class, all before the fold and all behind it.
    begins, ends = starts[:, [0, fold + 1]].ravel(), starts[:, [fold, -2]].ravel()
    ranges = zip(begins.tolist(), ends.tolist(), strict=True)
    rows = np.concatenate([stored[begin:end] for begin, end in ranges])
    cuts = np.append(0, np.cumsum(ends - begins))
    segments = np.ascontiguousarray(cuts[:: len(begins) // n_segments])
    skips = begins - starts[0, 0] - cuts[:-1]
    return rows, segments, Pieces(cuts, tuple(skips.tolist()))


def left_out(chosen: RowNumbers, stored: RowNumbers, starts: Int64) -> int | None:
    """Return the fold that is all that was not chosen; None: it is another selection."""
    n_classes, n_parts = starts.shape[0], starts.shape[1] - 1
    sizes = np.diff(starts, axis=1)
    folds = np.empty(len(stored), dtype=np.uint8)
    folds[stored] = np.repeat(np.tile(np.arange(n_parts, dtype=np.uint8), n_classes), sizes.ravel())
    found = np.bincount(folds[chosen], minlength=n_parts)
    lacking = (sizes.sum(axis=0) - found)[:-1]
    fold = int(np.argmax(lacking))
    alone = np.count_nonzero(lacking) == 1 and found[fold] == found[-1] == 0
    return fold if alone else None


def without_fold(
    codes: Codes, chosen: RowNumbers, stored: RowNumbers, starts: Int64, fold: int, n_segments: int
) -> Arranged:
    """Arrange all rows but those of a fold: in one segment, or one for each class.

    The last classes may have no rows here.
    """
    absent = max(0, n_segments - len(starts))
    starts = np.vstack([starts, np.full((absent, starts.shape[1]), starts[-1, -1])])
    rows, segments, pieces = rows_without(stored, starts, fold, n_segments)
    places = np.searchsorted(chosen, rows).astype(np.uint32)
    return Arranged(codes, places, segments, pieces)
