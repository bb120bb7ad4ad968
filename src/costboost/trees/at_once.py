"""A tree grown in one call, for small tables in one shard of this process.

`Grower` sends messages a node at a time, which takes longer than the work itself on small tables.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.messages import first, message
from costboost.shards.grid import Summands
from costboost.shards.rows import (
    ROOT,
    ColumnDraw,
    RowSample,
    Shard,
)
from costboost.trees import _grow_data_kernels as data
from costboost.trees import _grow_kernels as kernels
from costboost.trees import _search_kernels as searches
from costboost.trees.tree import FREE, SplitFinder, make_search
from costboost.typing import Floats, Int64

_ROWS = 1 << 15  # above, the work in a node outweighs what asking for it takes
_CELLS = 1 << 23  # of histograms that wait at the same time: 64 MB
DRAWS = 1 << 16  # of columns by node, made before the tree is known
_DEEP = 1 << 30  # deeper than any tree
_NO_COLUMNS = np.empty(0, dtype=np.int64)


class Grown(NamedTuple):
    """A tree as the kernel leaves it, views of arrays over nodes: valid until the next tree grows.

    `low` and `high` bound a node's value; `sums` are its own. `heaviest` is the largest sample
    weight of a row; 0 where rows have none.
    """

    feature: Int64
    threshold: Int64
    left: Int64
    depth: Int64
    n_rows: Int64
    gain: Floats
    low: Floats
    high: Floats
    sums: Int64
    goes_left: NDArray[np.uint8]
    heaviest: float


class GrowthArrays(NamedTuple):
    """Buffers in which trees are grown: the kernel's `TreeScratch`, and its arrays for NumPy.

    `numbers` and `reals` have a row for everything that is known of nodes, in the order in which
    `Grown` begins.
    """

    kernel: Any
    numbers: Int64
    reals: Floats
    sums: Int64
    goes_left: NDArray[np.uint8]

    def grown(self, n_nodes: int, heaviest: float) -> Grown:
        """Return views of the tree of so many nodes that was grown here."""
        feature, threshold, left, depth, n_rows = self.numbers[:5, :n_nodes]
        gain, low, high = self.reals[:3, :n_nodes]
        nodes = (feature, threshold, left, depth, n_rows, gain, low, high)
        return Grown(*nodes, self.sums[:n_nodes, 0], self.goes_left[:n_nodes], heaviest)


class Size(NamedTuple):
    """Upper bounds of a tree and of the histograms kept while it grows.

    Attributes
    ----------
    leaves : int
        At most.
    slots : int
        Histograms that are needed at the same time, at most.
    width : int
        The columns of a histogram.
    channels : int
    counted : bool
        Whether rows are counted.
    by_class : bool
        Whether a histogram is one plane for each class; else channels lie side by side.
    """

    leaves: int
    slots: int
    width: int
    channels: int
    counted: bool
    by_class: bool

    @property
    def n_nodes(self) -> int:
        """The largest number of nodes."""
        return 2 * self.leaves - 1

    def make(self, n_segments: int) -> GrowthArrays:
        """Allocate the buffers of such a tree, for rows in so many segments."""
        n_nodes, channels, width = self.n_nodes, self.channels, self.width
        hists = np.empty((self.slots, width * 256 * channels), dtype=np.int64)
        views = hists.reshape(self.slots, width, 256, channels)
        if self.by_class:
            views = hists.reshape(self.slots, channels, width, 256).transpose(0, 2, 3, 1)
        shape = (self.slots, width, 256) if self.counted else (1, 0, 256)
        counts = np.empty(shape, dtype=np.int64)
        slots = np.empty((3, max(self.slots, self.leaves)), dtype=np.int64)
        numbers, reals = np.empty((7, n_nodes), dtype=np.int64), np.empty((4, n_nodes))
        sums = np.empty((n_nodes, 2, channels), dtype=np.int64)
        ranges = np.empty((n_nodes, 2, n_segments), dtype=np.int64)
        goes_left = np.empty((n_nodes, 256), dtype=np.uint8)
        node = searches.NodeSums(views[0], counts[0], _NO_COLUMNS, False, sums[0, 0], 0, *FREE)
        search = make_search(sums[0, 1], goes_left[0])
        nodes, held = (numbers, reals, sums, ranges, goes_left), (hists, views, counts, slots)
        return GrowthArrays(
            data.TreeScratch(*nodes, *held, node, search), numbers, reals, sums, goes_left
        )


@lru_cache(maxsize=64)
def plan_size(
    max_depth: int | None,
    max_leaves: int,
    least: int,
    n_rows: int,
    width: int,
    channels: int,
    *,
    drawn_only: bool,
    by_class: bool,
) -> Size | None:
    """Return the bounds of a tree; None if it, or the table, is too large to be grown in one call.

    Nodes that wait to be split have twice the `least` rows of a leaf, and no node that waits is
    below another.
    """
    if n_rows > _ROWS:
        return None
    # Bounds before the tree is known: 2**depth leaves, one leaf a row, and a waiting node for every
    # pair of least leaves.
    depth = 31 if max_depth is None else min(max_depth, 31)
    leaves = max(1, min(max_leaves, 1 << depth, n_rows))
    waiting = min(leaves, 1 << max(depth - 1, 0), n_rows // (2 * least) + 1)
    size = Size(leaves, 1 if drawn_only else waiting + 1, width, channels, least > 1, by_class)
    return size if size.slots * width * 256 * channels <= _CELLS else None


@message(reduce=first, changes=True)
def grow_tree(
    shard: Shard,
    *,
    mode: Any,
    finder: SplitFinder,
    max_depth: int | None,
    size: Size,
    draw: ColumnDraw | None = None,
    drawn_only: bool = False,
    sample: RowSample | None = None,
) -> Grown:
    """Grow a tree on all rows or a sample; every row is then assigned to its leaf.

    Parameters
    ----------
    mode : Mode
        With `summands`.
    finder : SplitFinder
    max_depth : int or None
    size : Size
    draw : ColumnDraw or None
    drawn_only : bool
        Whether a node's histogram has its own drawn columns only.
    sample : RowSample or None
        One without rows is all of them.
    """
    n_segments = len(shard.cuts) - 1
    # A sample that is empty here falls back to all rows, as in `Grower._root`.
    ends, sampled = shard.cuts[1:], False
    if sample is not None and shard.begin_tree(sample) > 0:
        ends, sampled = shard.ranges[ROOT][1], True
    # The buffers outlive the tree: a boosting run grows hundreds of the same size.
    arrays = shard.scratch.keep((size, n_segments), lambda: size.make(n_segments))
    columns = finder.every_column[None] if draw is None else draw.table(size.n_nodes)
    summands: Summands = mode.summands(shard)
    rows = data.ShardRows(
        shard.codes,
        np.array(shard.skips),
        shard.cuts,
        ends,
        sampled,
        shard.scratch_array("order", np.uint32),
        shard.scratch.thread_scratch.places(len(shard.rows)),
        shard.leaves,
        *summands,
    )
    heaviest = -1.0 if finder.heaviest is None else finder.heaviest
    limits = (_DEEP if max_depth is None else max_depth, size.leaves)
    growth = kernels.Growth(
        finder.rules, rows, arrays.kernel, columns, drawn_only, heaviest, *limits
    )
    return arrays.grown(growth.grow(), shard.heaviest)
