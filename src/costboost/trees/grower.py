"""Grow one tree: histograms -> splits -> leaves, best gain first.

The grower asks shards for integer sums and never sees a row: one message starts the tree, one for
each split divides a node and brings its left child's histogram, one lets rows find their leaves.
The right child's histogram is the parent's less the left one's, which integers make exact. Where
nodes are searched for less than half of the columns each, drawn anew, nothing is subtracted: every
node is added up for its own columns only. Remote shards do that, and count rows, in the trip that
divides the node: before it is known whether the answer will be needed. A small table in one shard
grows a tree in one call (`grow_tree`), to the same tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.runtime.messages import Call, first, message
from costboost.shards.grid import RowCounts, Summands, grid_scale
from costboost.shards.layout import Shards
from costboost.shards.rows import (
    ROOT,
    ColumnDraw,
    Mode,
    RowSample,
    Shard,
    TreeShape,
    assign_leaves,
    begin_tree,
    count_codes,
    divide_node,
    heaviest_row,
    sum_histogram,
    weigh_leaves,
)
from costboost.trees import _grow_data_kernels as data
from costboost.trees import _grow_kernels as kernels
from costboost.trees import _search_kernels as searches
from costboost.trees.charges import Charges, by_penalty, impurity
from costboost.trees.tree import (
    FREE,
    Bounds,
    Limits,
    Split,
    SplitFinder,
    Tree,
    add_up_leaves,
    make_search,
)
from costboost.typing import Floats, Int64

# A tree of a small table in one shard is grown in one call: messages, a node at a time, would take
# longer than the work itself.

_ROWS = 1 << 15  # above, the work in a node outweighs what asking for it takes
_CELLS = 1 << 23  # of histograms that wait at the same time: 64 MB
_DRAWS = 1 << 16  # of columns by node, made before the tree is known
_DEEP = 1 << 30  # deeper than any tree
_NO_COLUMNS = np.empty(0, dtype=np.int64)


class GrowthArrays(NamedTuple):
    """Buffers in which trees are grown: the kernel's `TreeScratch`, and its arrays for NumPy.

    `numbers` has a row each for column, threshold, left child, depth and rows of every node,
    `reals` for its gain and the bounds of its value; the kernel's own follow.
    """

    kernel: Any
    numbers: Int64
    reals: Floats
    sums: Int64
    goes_left: NDArray[np.uint8]

    def to_tree(self, n_nodes: int, finder: SplitFinder) -> Tree:
        """Return the tree of so many nodes that was grown here; its cover counts rows."""
        # The next tree overwrites the buffers, so all that is kept is copied.
        feature, threshold, left, depth, n_rows = self.numbers[:5, :n_nodes]
        gain, low, high = self.reals[:3, :n_nodes]
        goes_left = self.goes_left[:n_nodes]
        leaves = np.flatnonzero(left < 0).astype(np.int32)
        subsets, bounds = [], None
        if finder.has_categories:
            subsets = np.flatnonzero((threshold < 0) & (left >= 0)).tolist()
        if finder.monotone is not None:
            bounds = np.column_stack([low[leaves], high[leaves]])
        return Tree(
            feature=feature.astype(np.int32),
            threshold=threshold.astype(np.int16),
            missing_left=goes_left[:, MISSING].astype(np.bool_),
            left=left.astype(np.int32),
            gain=gain.copy(),
            sums=self.sums[:n_nodes, 0].copy(),
            subsets={node: goes_left[node].copy() for node in subsets},
            leaves=leaves,
            depth=max(depth.tolist()),
            cover=n_rows.astype(np.float64),
            leaf_bounds=bounds,
        )


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
    columns: Int64 | None = None,
) -> Tree:
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
    columns : array of column numbers or None
        Those to search where none are drawn; None is all of them.
    """
    n_segments = len(shard.cuts) - 1
    # A sample that is empty here falls back to all rows, as in `Grower._root`.
    ends, sampled = shard.cuts[1:], False
    if sample is not None and shard.begin_tree(sample) > 0:
        ends, sampled = shard.ranges[ROOT][1], True
    # The buffers outlive the tree: a boosting run grows hundreds of the same size.
    arrays = shard.scratch.keep((size, n_segments), lambda: size.make(n_segments))
    every = finder.every_column if columns is None else columns
    searched = every[None] if draw is None else draw.table(size.n_nodes)
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
        finder.rules, rows, arrays.kernel, searched, drawn_only, heaviest, *limits
    )
    return arrays.to_tree(growth.grow(), finder)


# A tree grown node by node, by messages to all shards.

# Rows of a node that is larger than so many of the smallest leaves are counted only where the best
# split may leave too few of them on one side.
_FEW = 64
_UNCOUNTED = np.empty((0, 256), dtype=np.int64)


@dataclass
class Node:
    """A node of the growing tree; `split` is its best one, None if no split gains."""

    sums: Int64
    depth: int
    n_rows: int
    split: Split | None = None
    left: int = -1
    histogram: Int64 | None = None
    counts: Int64 = field(default_factory=lambda: _UNCOUNTED)
    bounds: Bounds = FREE
    path: frozenset[int] = frozenset()
    counted: Int64 | None = None  # rows by column and code, if they were counted ahead


class Grower:
    """Grows trees on shards in one mode, under one set of rules.

    Parameters
    ----------
    shards : Shards
        With the per-row arrays that the mode reads.
    mode : Mode
    finder : SplitFinder
        Its `min_count` equals the limits' `min_samples_leaf`.
    limits : Limits
    draw : ColumnDraw, optional
        The columns to search in every node; all of them by default.
    charges : Charges, optional
        What splits pay for their columns; they must gain more. Trees then say net gains.
    loss_of_row : float
        What a row of weight 1 loses at first in units of gains; without, gains are shares of the
        root's impurity.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from costboost.shards.grid import grid_scale
    >>> from costboost.shards.layout import plan_layout
    >>> from costboost.shards.grid import ClassWeights
    >>> labels = np.array([0, 0, 1, 1])
    >>> codes = np.array([[0, 1], [1, 0], [2, 1], [3, 0]], dtype=np.uint8)
    >>> layout = plan_layout(labels, n_rows=4, n_segments=2, n_shards=1)
    >>> n_bins, numeric = np.array([4, 2]), np.zeros(2, dtype=bool)
    >>> finder = SplitFinder(n_bins, numeric, n_channels=2, criterion="gini")
    >>> mode = ClassWeights((grid_scale(1.0, n_rows=4),) * 2)
    >>> load = lambda rows: SimpleNamespace(weights=np.ones(len(rows)))
    >>> with layout.cut(codes[layout.rows], load) as shards:
    ...     tree = Grower(shards, mode, finder, Limits(max_depth=1)).grow()
    >>> tree.feature.tolist(), tree.threshold.tolist(), tree.left.tolist()
    ([0, -1, -1], [1, -1, -1], [1, -1, -1])
    """

    def __init__(
        self,
        shards: Shards,
        mode: Mode,
        finder: SplitFinder,
        limits: Limits,
        draw: ColumnDraw | None = None,
        charges: Charges | None = None,
        loss_of_row: float | None = None,
    ) -> None:
        self.shards, self.mode, self.finder, self.limits = shards, mode, finder, limits
        self.draw, self.charges, self.loss_of_row = draw, charges, loss_of_row
        few = draw is not None and 2 * draw.width < shards.n_features
        self._drawn_only = few and not finder.whole_table
        # Rows are counted in advance, or only where a split may leave too few of them.
        self._lazily = limits.min_samples_leaf > 1 and finder.heaviest is not None
        counting = finder.counts_rows or (limits.min_samples_leaf > 1 and not self._lazily)
        self._modes: tuple[Mode, ...] = (mode, RowCounts()) if counting else (mode,)
        self._constrained = finder.monotone is not None
        usable = limits.columns
        self._every = finder.every_column if usable is None else np.array(usable, dtype=np.int64)
        if finder.min_count != limits.min_samples_leaf:
            raise ValueError(
                f"The split finder has min_count={finder.min_count}, the limits have "
                f"min_samples_leaf={limits.min_samples_leaf}: give both the same number."
            )

    def grow(self, sample: RowSample | None = None) -> Tree:
        """Grow a tree on all rows or a sample; every row is then assigned to its leaf."""
        size = self._size()
        if size is not None:
            return self._grow_at_once(size, sample)
        # Best first: the queue holds nodes whose best split is known, so that a limit on leaves
        # keeps the splits that gain most.
        self.nodes = [self._root(sample)]
        if self.charges is not None:
            sums, by_share = self.nodes[ROOT].sums, self.loss_of_row is None
            loss = impurity(self.finder, sums) if by_share else None
            self.charges.begin(self.shards, loss, self.loss_of_row or 0.0)
        self._queue: list[tuple[float, int]] = []
        if self.limits.allows(0, 1):
            self._search(ROOT)
        n_leaves = 1
        while self._queue:
            node = self._next()
            n_leaves += 1
            for child in self._split(node, n_leaves):
                self._search(child)
            if not self.limits.allows(0, n_leaves):
                break
        tree = self._finish(_to_arrays(self.nodes))
        if self.charges is not None:
            self.charges.end(self.shards, tree)
        self.nodes.clear()  # histograms, which would wait for the collector
        return tree

    def _next(self) -> int:
        """Dequeue the node of largest gain; of gains equal but for rounding the oldest."""
        best = heapq.heappop(self._queue)
        split = self.nodes[best[1]].split
        assert split is not None
        # Gains that differ by rounding alone count as equal: which one is larger must not depend on
        # the order of sums, so the oldest node wins.
        equal = [best]
        while self._queue and self._queue[0][0] <= split.rounding - split.gain:
            equal.append(heapq.heappop(self._queue))
        oldest = min(equal, key=lambda entry: entry[1])
        for entry in equal:
            if entry is not oldest:
                heapq.heappush(self._queue, entry)
        return oldest[1]

    def _size(self) -> Size | None:
        """Return the bounds for growing in one call.

        None where that is impossible or does not pay.
        """
        limits, shards, draw = self.limits, self.shards, self.draw
        mode: Any = self.mode
        # The compiled grower knows neither paths nor other finders than its own.
        searches = self.finder.own_search or self.charges is not None
        plain = limits.interactions is None and not searches
        if not (plain and shards.is_single_shard and hasattr(mode, "summands")):
            return None
        size = plan_size(
            limits.max_depth,
            limits.most_leaves,
            limits.min_samples_leaf,
            shards.n_rows,
            draw.width if draw is not None and self._drawn_only else shards.n_features,
            mode.n_channels,
            drawn_only=self._drawn_only,
            by_class=mode.by_class,
        )
        # It also needs the draws of all nodes in advance, as a table.
        if size is not None and draw is not None and size.n_nodes * shards.n_features > _DRAWS:
            return None
        return size

    def _grow_at_once(self, size: Size, sample: RowSample | None) -> Tree:
        call = grow_tree(
            mode=self.mode,
            finder=self.finder,
            max_depth=self.limits.max_depth,
            size=size,
            draw=self.draw,
            drawn_only=self._drawn_only,
            sample=sample,
            columns=self._every,
        )
        tree, heaviest = self.shards.call([call, heaviest_row()])
        return self._with_cover(tree, heaviest) if heaviest > 0.0 else tree

    def _with_cover(self, tree: Tree, heaviest: float) -> Tree:
        """Return the tree with sample weights as its cover; `heaviest` is the largest of a row."""
        n_rows = self.shards.n_rows
        scale = grid_scale(heaviest, n_rows)
        (sums,) = self.shards.call([weigh_leaves(n_leaves=len(tree.leaves), scale=scale)], n_rows)
        return replace(tree, cover=add_up_leaves(tree.left, tree.leaves, sums / scale))

    def _finish(self, tree: Tree) -> Tree:
        """Assign rows to leaves; return the tree with covers and leaf bounds filled in."""
        messages: list[Call[Any]] = [assign_leaves(shape=_shape(self.nodes, tree)), heaviest_row()]
        sizes, heaviest = self.shards.call(messages, self.shards.n_rows)
        if self._constrained:
            bounds = np.array([self.nodes[leaf].bounds for leaf in tree.leaves])
            tree = replace(tree, leaf_bounds=bounds)
        if heaviest > 0.0:
            return self._with_cover(tree, heaviest)
        return replace(tree, cover=add_up_leaves(tree.left, tree.leaves, sizes))

    def _root(self, sample: RowSample | None) -> Node:
        """Return the root with its histogram; an empty sample falls back to all rows."""
        columns = self._columns(frozenset(), ROOT) if self._drawn_only else None
        messages = [sum_histogram(node=ROOT, mode=mode, columns=columns) for mode in self._modes]
        n_rows, *sums = self.shards.call([begin_tree(sample=sample), *messages])
        if n_rows == 0 and sample is not None:
            return self._root(None)
        root = Node(np.ascontiguousarray(sums[0][0].sum(axis=0)), 0, n_rows)
        root.histogram, root.counts = sums[0], sums[1] if len(sums) > 1 else _UNCOUNTED
        return root

    def _search(self, number: int) -> None:
        """Find the best split of a node; queue the node if there is one."""
        node = self.nodes[number]
        features = self._columns(node.path, number)
        columns = features if self._drawn_only else None
        if node.histogram is None:
            messages = [
                sum_histogram(node=number, mode=mode, columns=columns) for mode in self._modes
            ]
            node.histogram, *counts = self.shards.call(messages, node.n_rows)
            node.counts = counts[0] if counts else _UNCOUNTED
        # Only a finder with constraints takes the bounds of the node's value.
        rest = (node.sums, node.n_rows, features, *((node.bounds,) if self._constrained else ()))
        # A large node's split seldom leaves too few rows, and weights alone can prove it: rows are
        # counted only if they cannot.
        split, needs_counts = None, self._lazily
        find = self._find(number, features) if self.charges is not None else self.finder.find
        if not self._lazily or node.n_rows > _FEW * self.limits.min_samples_leaf:
            split = find(node.histogram, node.counts, *rest)
            is_proven = split is None or self.finder.surely_counts(split, node.sums)
            needs_counts = self._lazily and not is_proven
        if needs_counts:
            if node.counted is None:
                (node.counted,) = self.shards.call(
                    [count_codes(node=number, columns=columns)], node.n_rows
                )
            split = find(node.histogram, node.counted, *rest)
        node.split, node.counted = split, None
        # A histogram is kept for as long as the right child's may have to be subtracted from it.
        if split is None or self._drawn_only:
            node.histogram, node.counts = None, _UNCOUNTED
        if split is not None:
            heapq.heappush(self._queue, (-split.gain, number))

    def _find(self, number: int, features: Int64) -> Callable[..., Split | None]:
        """Return the search of a node whose columns have prices; gains are what is left of them."""
        charges, path = self.charges, self.nodes[number].path
        assert charges is not None
        paid = frozenset(charges.tests.test_of[list(path)].tolist()) - {-1}
        penalties = charges.penalties(self.shards, number, paid)
        parts = list(by_penalty(features, charges.tests, penalties))

        def find(hist: Int64, counts: Int64, *rest: Any) -> Split | None:
            sums, n_rows, _, *bounds = rest
            best: Split | None = None
            for places, penalty in parts:
                own = hist[places] if self._drawn_only else hist
                rows = counts[places] if self._drawn_only and len(counts) else counts
                split = self.finder.find(own, rows, sums, n_rows, features[places], *bounds)
                if split is None or split.gain - penalty <= split.rounding:
                    continue
                split = replace(split, gain=split.gain - penalty)
                if best is None or split.gain - best.gain > split.rounding:
                    best = split
            return best

        return find

    def _columns(self, path: frozenset[int], number: int) -> Int64:
        """Return the columns to search for the split of a node."""
        if self.limits.interactions is None:
            return self._every if self.draw is None else self.draw.columns(number)
        allowed = np.intersect1d(self.limits.interactions.allowed(path), self._every)
        return allowed if self.draw is None else self.draw.columns(number, allowed)

    def _split(self, number: int, n_leaves: int) -> list[int]:
        """Split a node; return those of its children that are to be searched in turn."""
        node = self.nodes[number]
        split = node.split
        assert split is not None
        node.left = len(self.nodes)
        sides = (split.left_sums, node.sums - split.left_sums)
        apart = self.limits.interactions is None and self.charges is None
        path = node.path if apart else node.path | {split.feature}
        self.nodes += [Node(sums, node.depth + 1, 0, path=path) for sums in sides]
        if self._constrained:
            bounds = self.finder.child_bounds(split, node.sums, node.bounds)
            self.nodes[-2].bounds, self.nodes[-1].bounds = bounds
        # Children that may not be split are leaves, which need neither rows nor histograms.
        if not self.limits.allows(node.depth + 1, n_leaves):
            node.histogram, node.counts = None, _UNCOUNTED
            return []
        numbers = (node.left, node.left + 1)
        left, right = (self.nodes[child] for child in numbers)
        # Children of one class each are leaves: their rows are divided, but no histogram is made.
        pure = not (self._mixed(left) or self._mixed(right))
        modes = () if pure or self._drawn_only else self._modes
        division = divide_node(
            node=number,
            left=node.left,
            feature=split.feature,
            goes_left=split.goes_left,
            modes=modes,
        )
        # Over a network a trip costs more than the work: likely needed messages go along.
        ahead = (
            {child: self._ahead(child, node) for child in numbers} if self.shards.is_remote else {}
        )
        messages = [division, *(one for messages in ahead.values() for one in messages)]
        (n_left, *sums), *more = self.shards.call(messages, node.n_rows)
        left.n_rows, right.n_rows = n_left, node.n_rows - n_left
        for child, messages in ahead.items():
            self._note(self.nodes[child], messages, more[: len(messages)])
            del more[: len(messages)]
        histogram, counts = node.histogram, node.counts
        node.histogram, node.counts = None, _UNCOUNTED
        if pure:
            return []
        if not self._drawn_only:
            assert histogram is not None
            # Only the left child was summed; the right one is the rest, exact in integers.
            left.histogram, right.histogram = sums[0], histogram - sums[0]
        if len(sums) > 1:
            left.counts, right.counts = sums[1], counts - sums[1]
        for node in (left, right):
            if not self._may_gain(node):
                node.histogram = node.counted = None
        return [child for child in numbers if self._may_gain(self.nodes[child])]

    def _ahead(self, number: int, parent: Node) -> list[Call[Any]]:
        """Return messages that a child will (probably) need, to send with its parent's division."""
        node, messages = self.nodes[number], list[Call[Any]]()
        if not self._mixed(node):
            return messages
        columns = self._columns(node.path, number) if self._drawn_only else None
        if self._drawn_only:
            messages += [
                sum_histogram(node=number, mode=mode, columns=columns) for mode in self._modes
            ]
        if self._lazily and parent.n_rows <= 2 * _FEW * self.limits.min_samples_leaf:
            messages.append(count_codes(node=number, columns=columns))
        return messages

    def _note(self, node: Node, messages: list[Call[Any]], answers: list[Any]) -> None:
        """Store the answers to `_ahead`."""
        if messages and messages[-1].message is count_codes:
            *answers, node.counted = answers
        if answers:
            node.histogram, *counts = answers
            node.counts = counts[0] if counts else _UNCOUNTED

    def _may_gain(self, node: Node) -> bool:
        """Whether a node has rows enough, and classes enough, to be worth a search."""
        return node.n_rows >= 2 * self.limits.min_samples_leaf and self._mixed(node)

    def _mixed(self, node: Node) -> bool:
        """Whether a node may hold rows of several classes."""
        return not self.finder.channels_are_classes or int(np.count_nonzero(node.sums)) > 1


def _to_arrays(nodes: list[Node]) -> Tree:
    is_split = np.array([node.left >= 0 for node in nodes])
    splits = [node.split if node.left >= 0 else None for node in nodes]
    return Tree(
        feature=np.array([s.feature if s else -1 for s in splits], dtype=np.int32),
        threshold=np.array([s.threshold if s else -1 for s in splits], dtype=np.int16),
        missing_left=np.array([s is not None and s.missing_left for s in splits]),
        left=np.array([node.left for node in nodes], dtype=np.int32),
        gain=np.array([s.gain if s else 0.0 for s in splits]),
        sums=np.array([node.sums for node in nodes]),
        subsets={i: s.goes_left for i, s in enumerate(splits) if s and s.threshold < 0},
        leaves=np.flatnonzero(~is_split).astype(np.int32),
        depth=max(node.depth for node in nodes),
        cover=np.zeros(len(nodes)),
    )


def _shape(nodes: list[Node], tree: Tree) -> TreeShape:
    numbers = [-1] * len(nodes)
    for number, node in enumerate(tree.leaves.tolist()):
        numbers[node] = number
    splits = [node.split if node.left >= 0 else None for node in nodes]
    return TreeShape(
        left=tuple(node.left for node in nodes),
        features=tuple(tree.feature.tolist()),
        goes_left=tuple(None if split is None else split.goes_left for split in splits),
        leaves=tuple(numbers),
    )
