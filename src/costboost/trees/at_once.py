"""A tree grown in one call, where one shard in this process holds all rows and they are few.

`Grower` asks shards a node at a time, which takes longer than the work itself on small tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.shards.messages import Message
from costboost.shards.rows import ROOT, Shard
from costboost.shards.sampling import ColumnDraw, RowSample
from costboost.trees import _grow_kernels as kernels
from costboost.trees.splits import SplitFinder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_ROWS = 1 << 15  # above, the work in a node outweighs what asking for it takes
_CELLS = 1 << 23  # of histograms that wait at the same time: 64 MB
_DRAWS = 1 << 16  # of columns by node, made before the tree is known
_DEEP = 1 << 30  # deeper than any tree


class Grown(NamedTuple):
    """A tree as the kernel leaves it; see `_grow_kernels`. Valid until the next tree is grown."""

    numbers: Int64
    reals: Floats
    sums: Int64
    goes_left: NDArray[np.uint8]


class Room(NamedTuple):
    """Where a tree is grown, in the order in which the kernel takes it."""

    hists: Int64
    views: Int64
    counts: Int64
    numbers: Int64
    reals: Floats
    sums: Int64
    ranges: Int64
    goes_left: NDArray[np.uint8]
    slots: Int64
    sides: Int64
    held: Int64
    keys: Floats
    best: Floats


@dataclass(frozen=True)
class Size:
    """How large a tree may become, and what growing it takes.

    Attributes
    ----------
    leaves : int
        At most.
    slots : int
        Histograms that are needed at the same time, at most.
    width : int
        The columns of a histogram.
    channels : int
    segments : int
    counted : bool
        Whether rows are counted.
    by_class : bool
        Whether a histogram is one plane for each class; else channels lie side by side.
    """

    leaves: int
    slots: int
    width: int
    channels: int
    segments: int
    counted: bool
    by_class: bool

    def make(self) -> Room:
        """Make room for it."""
        n_nodes, channels, width = 2 * self.leaves - 1, self.channels, self.width
        hists = np.empty((self.slots, width * 256 * channels), dtype=np.int64)
        views = hists.reshape(self.slots, width, 256, channels)
        if self.by_class:
            views = hists.reshape(self.slots, channels, width, 256).transpose(0, 2, 3, 1)
        shape = (self.slots, width, 256) if self.counted else (1, 0, 256)
        return Room(
            hists,
            views,
            counts=np.empty(shape, dtype=np.int64),
            numbers=np.empty((n_nodes, 6), dtype=np.int64),
            reals=np.empty((n_nodes, 5)),
            sums=np.empty((n_nodes, 2, channels), dtype=np.int64),
            ranges=np.empty((n_nodes, 2, self.segments), dtype=np.int64),
            goes_left=np.empty((n_nodes, 256), dtype=np.uint8),
            slots=np.empty((3, max(self.slots, self.leaves)), dtype=np.int64),
            sides=np.empty((2, channels), dtype=np.int64),
            held=np.empty((2, 256), dtype=np.int64),
            keys=np.empty(256),
            best=np.empty(5),
        )


@dataclass(frozen=True)
class GrowTree(Message):
    """Grow a tree on all rows, or on a sample of them; every row finds its leaf.

    Attributes
    ----------
    mode : Mode
        With `summands`.
    finder : SplitFinder
    max_depth : int or None
    max_leaves : int
    draw : ColumnDraw or None
    apart : bool
        Whether every node is added up for its own columns only.
    sample : RowSample or None
        One without rows is all of them.
    """

    mode: Any
    finder: SplitFinder
    max_depth: int | None
    max_leaves: int
    draw: ColumnDraw | None = None
    apart: bool = False
    sample: RowSample | None = None

    changes = True

    def answer(self, shard: Shard) -> Grown:
        """Return the tree."""
        sampled = self.sample is not None and shard.begin(self.sample) > 0
        if not sampled:
            shard.begin(None)
        size = self.size(len(shard.rows), shard.codes.shape[1], len(shard.starts) - 1)
        room, finder = shard.bench.keep(size, size.make), self.finder
        columns = np.arange(shard.codes.shape[1])[None]
        if self.draw is not None:
            columns = self.draw.table(len(room.numbers))
        skips = np.zeros(size.segments, dtype=np.int64) if shard.skips is None else shard.skips
        n_nodes = kernels.grow_tree(
            shard.codes,
            np.asarray(skips, dtype=np.int64),
            shard.starts,
            shard.ranges[ROOT][1],
            sampled,
            shard.worktop("order", np.uint32),
            shard.worktop("scratch", np.uint32),
            shard.leaves,
            *self.mode.summands(shard),
            columns,
            self.apart,
            *finder.columns,
            finder.criterion,
            *finder.limits,
            -1.0 if finder.heaviest is None else finder.heaviest,
            _DEEP if self.max_depth is None else self.max_depth,
            size.leaves,
            *room,
        )
        made = (room.numbers, room.reals, room.sums, room.goes_left)
        return Grown(*(part[:n_nodes] for part in made))

    def reduce(self, answers: Any) -> Grown:
        """Return the tree: there is one shard."""
        (tree,) = answers
        found: Grown = tree
        return found

    def size(self, n_rows: int, n_features: int, n_segments: int) -> Size:
        """Return how large the tree may become on so many rows."""
        least, width = self.finder.limits[2], n_features
        if self.apart and self.draw is not None:
            width = self.draw.width
        depth = 31 if self.max_depth is None else min(self.max_depth, 31)
        leaves = max(1, min(self.max_leaves, 1 << depth, n_rows))
        waiting = min(leaves, 1 << max(depth - 1, 0), n_rows // (2 * least) + 1)
        return Size(
            leaves,
            1 if self.apart else waiting + 1,
            width,
            self.mode.n_channels,
            n_segments,
            least > 1,
            self.mode.by_class,
        )

    def pays(self, n_rows: int, n_features: int) -> bool:
        """Whether the table is small enough, and the room for the tree too."""
        if n_rows > _ROWS:
            return False
        size = self.size(n_rows, n_features, 1)
        cells = size.slots * size.width * 256 * size.channels
        draws = 0 if self.draw is None else 2 * size.leaves * n_features
        return cells <= _CELLS and draws <= _DRAWS
