"""Grow one tree: histograms -> splits -> leaves, best gain first.

The grower asks shards for integer sums and never sees a row. Only the smaller child of a split is
counted; the larger one's histogram is the parent's minus that, which integers make exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.shards import _tree_kernels as kernels
from costboost.shards.local import ROOT, Mode, Shard, Shards
from costboost.trees.interactions import Interactions
from costboost.trees.splits import FREE, Bounds, Split, SplitFinder

Int64 = NDArray[np.int64]

_FEW = 64  # least leaves in a node, below which its rows are counted without asking
MAX_LEAVES = 1 << 16  # `shard.leaves` holds two bytes a row


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow.

    Attributes
    ----------
    max_depth : int or None
        1 is a stump.
    max_leaf_nodes : int or None
        Nodes are split in the order of their gain until this many leaves are there;
        never more than 65,536.
    min_samples_leaf : int
    max_features : int or None
        Columns drawn at random for each node; None is all of them.
    interactions : Interactions or None
        Which columns may meet on a path; None is all of them.
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | None = None
    interactions: Interactions | None = None

    def allows(self, depth: int, n_leaves: int) -> bool:
        """Whether a node at this depth may be split when the tree has so many leaves."""
        most = MAX_LEAVES if self.max_leaf_nodes is None else min(self.max_leaf_nodes, MAX_LEAVES)
        return (self.max_depth is None or depth < self.max_depth) and n_leaves < most


@dataclass
class Node:
    """A node while the tree grows; `split` is set when one is known to gain."""

    sums: Int64
    depth: int
    n_rows: int
    split: Split | None = None
    left: int = -1
    divided: bool = False
    histogram: Int64 | None = None
    counts: Int64 | None = None
    bounds: Bounds = FREE
    path: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Tree:
    """A grown tree as arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        -1 at leaves.
    threshold : ndarray of shape (n_nodes,)
        Codes <= threshold go left; -1 at leaves and at subsets of categories.
    missing_left : ndarray of shape (n_nodes,), bool
    left : ndarray of shape (n_nodes,)
        The left child, -1 at leaves. The right child is the next node.
    gain : ndarray of shape (n_nodes,)
    sums : ndarray of shape (n_nodes, C)
        Sums on the grid.
    subsets : dict of node -> ndarray of shape (256,)
        Which codes go left, at subsets of categories.
    leaves : ndarray of shape (n_leaves,)
        The nodes that are leaves; a leaf's number is its place here.
    depth : int
    cover : ndarray of shape (n_nodes,)
        The training rows that reach each node, counted by their sample weights: all of them, also
        those that the tree did not learn from.
    leaf_bounds : ndarray of shape (n_leaves, 2) or None
        Where the values of the leaves may lie, if columns are constrained; see `splits`.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.int16]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    gain: NDArray[np.float64]
    sums: Int64
    subsets: dict[int, NDArray[np.uint8]] = field(repr=False)
    leaves: NDArray[np.int32]
    depth: int
    cover: NDArray[np.float64]
    leaf_bounds: NDArray[np.float64] | None = None

    @property
    def leaf_sums(self) -> Int64:
        """The sums of the leaves, (n_leaves, C)."""
        return self.sums[self.leaves]


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
    draw_features : callable, optional
        Returns the columns to search, ascending, once for every node; all of them by default. If
        interactions are limited it is called with the columns to draw from.

    Examples
    --------
    >>> from costboost.shards.local import ClassWeights, grid_scale, plan_layout
    >>> labels = np.array([0, 0, 1, 1])
    >>> codes = np.array([[0, 1], [1, 0], [2, 1], [3, 0]], dtype=np.uint8)
    >>> layout = plan_layout(labels, n_rows=4, n_segments=2, n_shards=1)
    >>> n_bins, numeric = np.array([4, 2]), np.zeros(2, dtype=bool)
    >>> finder = SplitFinder(n_bins, numeric, n_channels=2, criterion="gini")
    >>> mode = ClassWeights(n_channels=2, scale=grid_scale(1.0, n_rows=4))
    >>> with layout.cut(codes[layout.rows]) as shards:
    ...     shards.scatter("weights", np.ones(4))
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
        draw_features: Callable[..., Int64] | None = None,
    ) -> None:
        self.shards = shards
        self.mode = mode
        self.finder = finder
        self.limits = limits
        everything = np.arange(shards.n_features)
        self.draw_features = draw_features or (lambda allowed=everything: allowed)
        # Rows are counted in advance, or only where a split may leave too few of them.
        self._lazily = limits.min_samples_leaf > 1 and getattr(finder, "heaviest", None) is not None
        self._counting = limits.min_samples_leaf > 1 and not self._lazily
        self._constrained = getattr(finder, "monotone", None) is not None
        if finder.limits[2] != limits.min_samples_leaf:
            raise ValueError(
                f"The split finder has min_count={finder.limits[2]}, the limits have "
                f"min_samples_leaf={limits.min_samples_leaf}: give both the same number."
            )

    def grow(self, keep: Callable[[Int64], NDArray[np.bool_]] | None = None) -> Tree:
        """Grow a tree and write to `shard.leaves` which leaf each row reaches.

        `keep` says for an array of row numbers which rows the tree may learn from.
        """
        n_rows = self.shards.begin(keep)
        if n_rows == 0:
            n_rows, keep = self.shards.begin(None), None
        hist = self._histogram(ROOT, n_rows)
        root = Node(np.ascontiguousarray(hist[0].sum(axis=0)), 0, n_rows, histogram=hist)
        root.counts = self._counts(ROOT, n_rows)
        self.nodes = [root]
        self._queue: list[tuple[float, int]] = []
        if self.limits.allows(0, 1):
            self._consider(ROOT)
        n_leaves = 1
        while self._queue:
            _, node = heapq.heappop(self._queue)
            n_leaves += 1
            self._split(node, n_leaves)
            if not self.limits.allows(0, n_leaves):
                break
        return self._finish(sampled=keep is not None)

    def _histogram(self, node: int, n_rows: int) -> Int64:
        return np.asarray(self.shards.sum(lambda shard: self.mode.histogram(shard, node), n_rows))

    def _counts(self, node: int, n_rows: int) -> Int64:
        if self._counting:
            return self.shards.counts(node, n_rows)
        return np.empty((0, 256), dtype=np.int64)

    def _columns(self, node: Node) -> Int64:
        """Return the columns to search for the split of a node."""
        if self.limits.interactions is None:
            return self.draw_features()
        return self.draw_features(self.limits.interactions.allowed(node.path))

    def _within(self, node: Node) -> tuple[Bounds, ...]:
        """Return what a finder with constraints must know of a node beside its sums."""
        return (node.bounds,) if self._constrained else ()

    def _consider(self, number: int) -> None:
        """Look for the node's best split; queue the node if there is one."""
        node = self.nodes[number]
        assert node.histogram is not None
        assert node.counts is not None
        features, within = self._columns(node), self._within(node)
        find = partial(self.finder.find, node.histogram)
        counts = node.counts
        late = self._lazily and node.n_rows > _FEW * self.limits.min_samples_leaf
        if self._lazily and not late:
            counts = self.shards.counts(number, node.n_rows)
        split = find(counts, node.sums, node.n_rows, features, *within)
        if late and split and not self.finder.surely_counts(split, node.sums):
            counts = self.shards.counts(number, node.n_rows)
            split = find(counts, node.sums, node.n_rows, features, *within)
        node.split = split
        if node.split is None:
            node.histogram = node.counts = None
        else:
            heapq.heappush(self._queue, (-node.split.gain, number))

    def _split(self, number: int, n_leaves: int) -> None:
        """Make the node's split; look at its children if they may be split in turn."""
        node = self.nodes[number]
        split = node.split
        assert split is not None
        node.left = len(self.nodes)
        sides = (split.left_sums, node.sums - split.left_sums)
        path = node.path
        if self.limits.interactions is not None:
            path = path | {split.feature}
        self.nodes += [Node(sums, node.depth + 1, 0, path=path) for sums in sides]
        if self._constrained:
            bounds = self.finder.child_bounds(split, node.sums, node.bounds)
            self.nodes[-2].bounds, self.nodes[-1].bounds = bounds
        if self.limits.allows(node.depth + 1, n_leaves):
            self._divide(node, number, split)
        node.histogram = node.counts = None

    def _divide(self, node: Node, number: int, split: Split) -> None:
        """Divide the node's rows and find the children's histograms and best splits."""
        left, right = node.left, node.left + 1
        goes = (split.feature, split.goes_left)
        cut = self.shards.sum(lambda shard: shard.split(number, left, *goes), node.n_rows)
        node.divided = True
        small, large = self.nodes[left], self.nodes[right]
        small.n_rows, large.n_rows = int(cut), node.n_rows - int(cut)
        counted = left
        if small.n_rows > large.n_rows:
            small, large, counted = large, small, right
        wanted = [child for child in (left, right) if self._may_gain(self.nodes[child])]
        if not wanted:
            return
        small.histogram = self._histogram(counted, small.n_rows)
        small.counts = self._counts(counted, small.n_rows)
        if self._may_gain(large):
            assert node.histogram is not None
            assert node.counts is not None
            large.histogram = node.histogram - small.histogram
            large.counts = node.counts - small.counts
        for child in wanted:
            self._consider(child)
        if len(wanted) == 1:
            self.nodes[left + right - wanted[0]].histogram = None

    def _may_gain(self, node: Node) -> bool:
        """Whether a node is large and mixed enough to be worth a histogram."""
        if node.n_rows < 2 * self.limits.min_samples_leaf:
            return False
        return self.finder.criterion > 2 or int(np.count_nonzero(node.sums)) > 1

    def _finish(self, *, sampled: bool) -> Tree:
        tree = _to_arrays(self.nodes)
        n_rows = self.shards.n_rows
        counts = self.shards.sum(
            lambda shard: _assign(shard, self.nodes, tree, sampled=sampled), n_rows
        )
        cover = add_up_leaves(tree.left, tree.leaves, self.shards.weigh_leaves(counts))
        bounds = None
        if self._constrained:
            bounds = np.array([self.nodes[leaf].bounds for leaf in tree.leaves])
        return replace(tree, cover=cover, leaf_bounds=bounds)


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


def add_up_leaves(
    left: NDArray[np.integer[Any]], leaves: NDArray[np.integer[Any]], values: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what the leaves below each node have together, (n_nodes, ...).

    Examples
    --------
    >>> add_up_leaves(np.array([1, -1, -1]), np.array([1, 2]), np.array([3, 4])).tolist()
    [7.0, 3.0, 4.0]
    """
    sums = np.zeros((len(left), *values.shape[1:]))
    sums[leaves] = values
    for node in np.flatnonzero(left >= 0)[::-1].tolist():  # children stand after their parents
        below = int(left[node])
        sums[node] = sums[below] + sums[below + 1]
    return sums


def _assign(shard: Shard, nodes: list[Node], tree: Tree, *, sampled: bool) -> Int64:
    """Write to `shard.leaves` the leaf that each row reaches; count the rows of every leaf."""
    number_of = {int(node): number for number, node in enumerate(tree.leaves)}
    counts = np.zeros(len(tree.leaves), dtype=np.int64)
    pending = [ROOT]
    if sampled:
        # Rows left out of the tree's making reach a leaf too.
        shard.begin(None)
        for node in nodes:
            node.divided = False
    while pending:
        number = pending.pop()
        node = nodes[number]
        where = shard.where(number)
        if node.left < 0:
            kernels.assign_leaf(*where, number_of[number], shard.leaves)
            counts[number_of[number]] = int(np.sum(where[3] - where[2]))
            continue
        left, right = node.left, node.left + 1
        assert node.split is not None
        goes = (node.split.feature, node.split.goes_left)
        if not node.divided and nodes[left].left < 0 and nodes[right].left < 0:
            ends = (number_of[left], number_of[right])
            n_left = kernels.assign_split(shard.codes, *goes, *where, *ends, shard.leaves)
            counts[ends[0]], counts[ends[1]] = n_left, int(np.sum(where[3] - where[2])) - n_left
            continue
        if not node.divided:
            shard.split(number, left, *goes)
        pending += [left, right]
    return counts
