"""Which shard holds which rows: dealt in small blocks, grouped by class inside each shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Int64 = NDArray[np.int64]
RowNumbers = NDArray[np.uint32]

_BLOCK = 1 << 14  # rows: what is computed for them on the way stays small
_DEAL = 4096  # rows dealt to one shard at a time: sorted data leaves no thread idle
_CELLS_PER_SHARD = 200_000  # below this a second thread costs more than it brings


@dataclass(frozen=True)
class Layout:
    """Where each row of a table goes: into which shard, and there behind its class.

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
        """positions[i] is where row i is stored."""
        positions = np.empty(len(self.rows), dtype=np.int64)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    def cut(
        self, codes: NDArray[np.uint8], load: Callable[[RowNumbers], Any] | None = None
    ) -> Shards:
        """Return shards of a table whose rows already lie in this layout.

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
) -> Layout:
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
    return Layout(rows=rows, bounds=bounds, starts=starts)


def deal_rows(
    labels: NDArray[np.integer[Any]] | None, n_rows: int, n_segments: int, n_shards: int
) -> tuple[RowNumbers, list[Int64]]:
    """Return the rows, shard by shard and label by label, and where labels begin in each shard."""
    keys = np.arange(n_rows, dtype=np.uint32)
    keys //= _DEAL
    keys %= n_shards
    if labels is not None:
        keys *= np.uint32(n_segments)
        keys += labels.astype(np.uint8 if n_segments <= 256 else np.uint32)
    n_keys = n_shards * n_segments
    members = [np.flatnonzero(keys == key).astype(np.uint32) for key in range(n_keys)]
    rows = np.concatenate(members)
    sizes = np.array([len(own) for own in members])
    starts = [
        np.concatenate([[0], np.cumsum(part)]).astype(np.int64)
        for part in sizes.reshape(n_shards, n_segments)
    ]
    return rows, starts


def sensible_shards(n_rows: int, n_features: int, n_threads: int) -> int:
    """Return how many shards pay: one per thread, fewer on small tables."""
    return max(1, min(n_threads, n_rows // _DEAL, n_rows * n_features // _CELLS_PER_SHARD))


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Yield slices of so many rows, some at a time."""
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))
