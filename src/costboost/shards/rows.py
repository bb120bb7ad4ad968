"""What a worker holds: one slice of the table, and how its rows are divided among nodes.

    codes   | class 0 | class 1 | ...      rows grouped by class ("segments"), one byte per cell
    order   | node 3 | node 4 | ...        the same rows, permuted; a node is one range a segment

Models that train on different rows of a table may share its codes: a segment then lies there in
several pieces, all of them in as many (`Pieces`).

A worker keeps the histograms of nodes that wait to be split. It counts the smaller of a node's two
children, as it sees them; the other one is the parent's less that, which integers make exact.

What is as long as the rows and holds nothing between two rounds lies on a `Bench`, which shards
that never work at the same time may share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from costboost.shards import _tree_kernels as kernels
from costboost.shards.bench import Bench
from costboost.shards.columns import HotColumns
from costboost.shards.sampling import RowSample

Int64 = NDArray[np.int64]

ROOT = 0
Place = tuple[NDArray[np.uint8], NDArray[np.uint32], bool, Int64, Int64]
_NOWHERE = np.zeros(0, dtype=np.uint32)
_BLOCK = 1 << 16  # rows of a sample drawn at a time, in cache


class Pieces(NamedTuple):
    """Rows that lie apart in the codes, because others between them are not this shard's.

    Attributes
    ----------
    starts : int64 array of shape (P + 1,)
        Where each piece begins among the shard's rows; P is a multiple of the segments' number.
    skips : tuple of P int
        Row i of piece p has the codes i + skips[p].
    """

    starts: Int64
    skips: tuple[int, ...]


class Mode(Protocol):
    """What a shard's histograms add up: class weights, pairs, vectors, or rows."""

    @property
    def n_channels(self) -> int:
        """The number of sums in a cell."""

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's sums as a (d, 256, n_channels) view, or of some columns only."""


@dataclass(frozen=True)
class TreeShape:
    """What rows need to know of a tree to find their leaves.

    Attributes
    ----------
    left : tuple of int
        The left child of every node, -1 at leaves; the right one is the next node.
    features : tuple of int
    goes_left : tuple of uint8 arrays of shape (256,), None at leaves
    leaves : tuple of int
        The number of the leaf that a node is, -1 elsewhere.
    """

    left: tuple[int, ...]
    features: tuple[int, ...]
    goes_left: tuple[NDArray[np.uint8] | None, ...]
    leaves: tuple[int, ...]


@dataclass
class Shard:
    """One slice of the table.

    Attributes
    ----------
    codes : ndarray of shape (m, d), uint8
        Of more rows, if there are skips.
    rows : ndarray of shape (m,), uint32
        The number of each row in the table as it was given, less `first`.
    starts : ndarray of shape (S + 1,), int64
        Where each segment (class) begins.
    state : object
        What the algorithm that drives the growing holds of these rows (weights, margins, ...).
    pieces : Pieces or None
        None: row i has the codes i.
    bench : Bench
    first : int
        So that `rows` may be numbers within a part of the table.
    """

    codes: NDArray[np.uint8]
    rows: NDArray[np.uint32]
    starts: Int64
    state: Any = None
    pieces: Pieces | None = None
    bench: Bench = field(default_factory=Bench)
    first: int = 0

    def __post_init__(self) -> None:
        self.bench.reserve(len(self.rows))
        self.order = _NOWHERE
        self.ranges: dict[int, tuple[Int64, Int64]] = {}
        self.sampled = False
        self._marked: RowSample | None = None
        self._kept: dict[tuple[Mode, int], Int64 | tuple[Int64, Int64]] = {}
        self._root_counts: Int64 | None = None
        self._hot = HotColumns(self.codes, shared=self.pieces is not None)

    @property
    def cuts(self) -> Int64:
        """Where rows begin that lie together in the codes, and are of one segment."""
        return self.starts if self.pieces is None else self.pieces.starts

    @property
    def skips(self) -> tuple[int, ...]:
        """How many rows of the codes that are not this shard's come before each cut."""
        return (0,) * (len(self.starts) - 1) if self.pieces is None else self.pieces.skips

    def numbers(self, among: slice = slice(None)) -> NDArray[np.uint32]:
        """Return the numbers of rows among all that the model trains on."""
        rows = self.rows[among]
        return rows + np.uint32(self.first) if self.first else rows

    def worktop(self, name: str, kind: DTypeLike, width: int = 1) -> NDArray[Any]:
        """Return an array of the bench for these rows, `width` numbers each, (m * width,)."""
        return self.bench.rows(name, kind, len(self.rows), width)

    @property
    def leaves(self) -> NDArray[np.uint16]:
        """The leaf that each row reached in the tree grown last, (m,)."""
        return self.worktop("leaves", np.uint16)

    # --- nodes

    def mark(self, sample: RowSample) -> NDArray[np.bool_]:
        """Return which rows a sample keeps, (m,), and remember it while the round goes on."""
        keep = self.worktop("keep", np.bool_)
        for rows in _blocks(0, len(keep)):
            keep[rows] = sample.keeps(self.numbers(rows))
        self._marked = sample
        return keep

    def marked(self, sample: RowSample) -> NDArray[np.bool_]:
        """Return which rows a sample keeps; this round may have asked before."""
        known = self._marked == sample
        return self.worktop("keep", np.bool_) if known else self.mark(sample)

    def begin(self, sample: RowSample | None) -> int:
        """Forget the last tree; put all rows, or those of a sample, into the root."""
        self.sampled = sample is not None
        self._kept.clear()
        self.order = _NOWHERE  # needed by a sample, or from the first division on
        begins, ends = self.cuts[:-1].copy(), self.cuts[1:].copy()
        if sample is not None:
            keep, self.order = self.marked(sample), self.worktop("order", np.uint32)
            for s, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
                ends[s] = _write_places(keep, begin, end, self.order)
        self.ranges = {ROOT: (begins, ends)}
        return int(np.sum(ends - begins))

    def where(self, node: int) -> tuple[NDArray[np.uint32], bool, Int64, Int64]:
        """Return (order, whole, begins, ends) of a node, as the kernels take them."""
        begins, ends = self.ranges[node]
        return self.order, node == ROOT and not self.sampled, begins, ends

    def places(self, node: int, codes: NDArray[np.uint8] | None = None) -> Iterator[Place]:
        """Yield (codes, order, whole, begins, ends), of all segments or of one piece after another.

        The codes are those of the table, or the given ones.
        """
        order, whole, begins, ends = self.where(node)
        codes = self.codes if codes is None else codes
        if self.pieces is None:
            yield codes, order, whole, begins, ends
            return
        for p, skip in enumerate(self.pieces.skips):
            yield codes[skip:], order, whole, begins[p : p + 1], ends[p : p + 1]

    def stretches(self) -> Iterator[tuple[NDArray[np.uint8], slice]]:
        """Yield codes that lie together, and the rows that they are of."""
        if self.pieces is None:
            yield self.codes, slice(None)
            return
        for skip, (begin, end) in zip(self.skips, pairwise(self.cuts.tolist()), strict=True):
            yield self.codes[begin + skip : end + skip], slice(begin, end)

    def size(self, node: int) -> int:
        """Return how many rows a node has."""
        begins, ends = self.ranges[node]
        return int(sum(ends.tolist()) - sum(begins.tolist()))

    def divide(
        self, node: int, left: int, feature: int, goes_left: NDArray[np.uint8]
    ) -> tuple[int, int]:
        """Divide a node's rows between two children; return how many each of them got."""
        if not len(self.order):
            self.order = self.worktop("order", np.uint32)
        begins, ends = self.ranges[node]
        scratch, parts = self.bench.desk.places(len(self.rows)), []
        table, column = self._hot.find(feature, self.size(node))
        for codes, order, whole, begin, end in self.places(node, table):
            parts.append(np.empty_like(begin))
            where = (order, scratch, whole, begin, end)
            kernels.partition(codes, column, goes_left, *where, parts[-1])
        middles = parts[0] if len(parts) == 1 else np.concatenate(parts)
        # The root's rows are now in `order`, so its children read them there.
        self.ranges[left] = (begins, middles)
        self.ranges[left + 1] = (middles, ends)
        n_left = sum(middles.tolist()) - sum(begins.tolist())
        return n_left, sum(ends.tolist()) - sum(middles.tolist())

    # --- histograms

    def width(self, columns: Int64 | None) -> int:
        """Return how many columns there are, of some or of all."""
        return int(self.codes.shape[1]) if columns is None else len(columns)

    def histogram(self, node: int, mode: Mode, columns: Int64 | None = None) -> Int64:
        """Return a node's sums, (d, 256, C), and keep them until its children have theirs.

        Those of some columns are not kept: the children are searched for others.
        """
        if columns is not None:
            return mode.histogram(self, node, columns)
        kept = self._kept.get((mode, node))
        if kept is None:
            kept = mode.histogram(self, node)
        elif isinstance(kept, tuple):
            kept = kept[0] - kept[1]
        self._kept[mode, node] = kept
        return kept

    def left_histogram(self, node: int, left: int, sizes: tuple[int, int], mode: Mode) -> Int64:
        """Return the sums of a divided node's left child, from those of the smaller child."""
        parent = self.histogram(node, mode)
        del self._kept[mode, node]
        if sizes[0] <= sizes[1]:
            small = mode.histogram(self, left)
            self._kept[mode, left], self._kept[mode, left + 1] = small, (parent, small)
            return small
        small = mode.histogram(self, left + 1)
        large = parent - small
        self._kept[mode, left], self._kept[mode, left + 1] = large, small
        return large

    def counts(self, node: int, columns: Int64 | None = None) -> Int64:
        """Count the node's rows by column and code; the whole root's never change."""
        if columns is not None:
            counts = np.zeros((len(columns), 256), dtype=np.int64)
            for place in self.places(node):
                kernels.count_histogram(*place, counts, columns)
            return counts
        whole = node == ROOT and not self.sampled
        if whole and self._root_counts is not None:
            return self._root_counts
        counts = np.zeros((self.codes.shape[1], 256), dtype=np.int64)
        for place in self.places(node):
            kernels.count_histogram(*place, counts)
        if whole:
            self._root_counts = counts
        return counts

    # --- leaves

    def settle(self, shape: TreeShape) -> Int64:
        """Write to `leaves` the leaf that each row reaches; count the rows of every leaf."""
        counts, leaves = np.zeros(max(shape.leaves) + 1, dtype=np.int64), self.leaves
        if self.sampled:  # rows left out of the tree's making reach a leaf too
            self.begin(None)
        self._kept.clear()
        pending = [ROOT]
        while pending:
            node = pending.pop()
            left, goes_left = shape.left[node], shape.goes_left[node]
            if left < 0 or goes_left is None:
                kernels.assign_leaf(*self.where(node), shape.leaves[node], leaves)
                counts[shape.leaves[node]] = self.size(node)
                continue
            goes = (shape.features[node], goes_left)
            divided = left in self.ranges
            if not divided and shape.left[left] < 0 and shape.left[left + 1] < 0:
                ends = (shape.leaves[left], shape.leaves[left + 1])
                n_left = 0
                table, column = self._hot.find(goes[0], self.size(node))
                for codes, order, *where in self.places(node, table):
                    own = (codes, column, goes_left, order, *where, *ends, leaves)
                    n_left += kernels.assign_split(*own)
                counts[ends[0]], counts[ends[1]] = n_left, self.size(node) - n_left
                continue
            if not divided:
                self.divide(node, left, *goes)
            pending += [left, left + 1]
        return counts

    @property
    def sample_weights(self) -> NDArray[np.float64] | None:
        """The weights that the user gave the rows, (m,), if any: the algorithm holds them."""
        held: NDArray[np.float64] | None = getattr(self.state, "sample_weights", None)
        return held

    @cached_property
    def heaviest(self) -> float:
        """The largest sample weight of a row; 0 where rows have none."""
        weights = self.sample_weights
        return 0.0 if weights is None else float(np.max(weights, initial=0.0))

    def weigh_leaves(self, n_leaves: int, scale: float) -> Int64:
        """Add up the sample weights of the rows of every leaf, on the grid."""
        sums = np.zeros(n_leaves, dtype=np.int64)
        assert self.sample_weights is not None
        kernels.weigh_leaves(self.leaves, self.sample_weights, scale, sums)
        return sums


def _blocks(begin: int, end: int) -> Iterator[slice]:
    """Yield some rows at a time."""
    for start in range(begin, end, _BLOCK):
        yield slice(start, min(start + _BLOCK, end))


def _write_places(keep: NDArray[np.bool_], begin: int, end: int, places: NDArray[np.uint32]) -> int:
    """Write the places of the rows that are kept from `begin` on; return where they end."""
    at = begin
    for rows in _blocks(begin, end):
        chosen = np.flatnonzero(keep[rows])
        places[at : at + len(chosen)] = chosen + rows.start
        at += len(chosen)
    return at
