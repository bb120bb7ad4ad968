"""A shard: one slice of the table, and which node of the growing tree each row is in.

    codes   | class 0 | class 1 | ...      rows grouped by class ("segments"), one byte per cell
    order   | node 3 | node 4 | ...        the same rows, permuted; a node is one range a segment

Models that train on different rows of a table may share its codes: a segment then lies there in
several pieces, all of them in as many (`Pieces`).

A worker keeps the histograms of nodes that wait to be split. It counts the smaller of a node's two
children, as it sees them; the other one is the parent's less that, which integers make exact.

What is as long as the rows and holds nothing between two rounds lies on a `Scratch`, which shards
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

from costboost.runtime.machine import Scratch
from costboost.runtime.messages import largest, message, total, totals
from costboost.shards import _tree_kernels as kernels
from costboost.typing import Codes, Floats, Int64, Words

# Random draws by hashing (seed, round, node, row): every draw is a hash of its own key, so shards,
# threads and clusters draw the same rows and columns in any order of asking.

_GOLDEN = 0x9E3779B97F4A7C15
_ROUND = 0xD1B54A32D192ED03

_FACTORS = (_GOLDEN, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_SHIFTS = (30, 27, 31)
_WORDS = tuple(np.uint64(factor) for factor in _FACTORS)
_BY = tuple(np.uint64(shift) for shift in _SHIFTS)


def mix(key: int | Words, numbers: NDArray[Any]) -> Words:
    """Return 64 random bits for each number: SplitMix64 (Steele, Lea and Flood 2014)."""
    z = numbers.astype(np.uint64)  # a copy; arrays wrap without a word
    z *= _WORDS[0]
    z += np.uint64(key % 2**64) if isinstance(key, int) else key
    z ^= z >> _BY[0]
    z *= _WORDS[1]
    z ^= z >> _BY[1]
    z *= _WORDS[2]
    z ^= z >> _BY[2]
    return z


def mix_one(key: int, number: int) -> int:
    """Return the 64 random bits of one number: `mix` without NumPy's overhead."""
    z = (number * _FACTORS[0] + key) % 2**64
    z = (z ^ (z >> _SHIFTS[0])) * _FACTORS[1] % 2**64
    z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[2] % 2**64
    return z ^ (z >> _SHIFTS[2])


def round_key(seed: int, number: int) -> int:
    """Return the hash key of one round's draws."""
    return (seed * _GOLDEN + number * _ROUND) % 2**64


@dataclass(frozen=True)
class RowSample:
    """A row subsample: each row is kept with probability `share`, by the hash of its number.

    Examples
    --------
    >>> sample = RowSample(share=0.5, seed=0, number=3)
    >>> rows = np.arange(1000)
    >>> kept = sample.keeps(rows)
    >>> bool(400 < kept.sum() < 600), bool((kept[::-1] == sample.keeps(rows[::-1])).all())
    (True, True)
    """

    share: float
    seed: int
    number: int

    def keeps(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the mask of the row numbers that are kept."""
        # A share of 1 must not wrap to 0.
        limit = np.uint64(min(int(self.share * 2.0**64), 2**64 - 1))
        return np.asarray(mix(round_key(self.seed, self.number), rows) < limit)


@dataclass(frozen=True)
class ColumnDraw:
    """A column subsample of every node: `width` of `n_features`, by the hash of its number.

    `stream` distinguishes the trees of one round, one for each output. `among` are the columns to
    draw from, ascending; None is all of them.
    """

    width: int
    n_features: int
    seed: int
    number: int
    stream: int = 0
    among: tuple[int, ...] | None = None

    @property
    def _all(self) -> Int64:
        return np.arange(self.n_features) if self.among is None else np.array(self.among)

    def columns(self, node: int, allowed: Int64 | None = None) -> Int64:
        """Return a node's columns, ascending: those with the least hashes, of all or of some."""
        # Sorted, so that of equal splits the first column wins, as without a draw.
        key = mix_one(round_key(self.seed, self.number), self.stream * 2**32 + node + 1)
        among = self._all if allowed is None else allowed
        chosen = np.argsort(mix(key, among), kind="stable")[: self.width]
        chosen.sort()
        return among[chosen]

    def table(self, n_nodes: int) -> Int64:
        """Return the columns of the first nodes, (n_nodes, width); of all columns."""
        numbers = np.arange(1, n_nodes + 1, dtype=np.uint64) + np.uint64(self.stream * 2**32)
        keys = mix(round_key(self.seed, self.number), numbers)
        columns = self._all
        among = np.tile(columns, (n_nodes, 1))
        hashes = mix(keys[:, None], among)  # of different columns always different
        # The first hash that is too large, of each node: all smaller ones are drawn.
        beyond = np.partition(hashes, self.width, axis=1)[:, self.width, None]
        chosen = columns[np.flatnonzero(hashes < beyond) % len(columns)]
        return chosen.reshape(n_nodes, self.width)


def column_draw(
    width: int | None,
    n_features: int,
    seed: int,
    number: int,
    stream: int = 0,
    among: tuple[int, ...] | None = None,
) -> ColumnDraw | None:
    """Return the column subsample of a round's tree; None where all columns are used."""
    if width is None or width >= (n_features if among is None else len(among)):
        return None
    return ColumnDraw(width, n_features, seed, number, stream, among)


def uniform(key: int, numbers: NDArray[Any]) -> Floats:
    """Return a number in [0, 1) for each of some whole numbers."""
    return np.asarray((mix(key, numbers) >> np.uint64(11)) * 2.0**-53)


# A column that rows are often divided by is copied out of the row-major codes: a division then
# reads one byte a row and not a cache line.

_SHARE = 3  # a copy of one column in so many at most: they take memory
_LARGE = 1 << 20  # bytes of a table above which it does not stay in cache


class HotColumns:
    """Contiguous copies of the columns of one shard that are read most.

    Examples
    --------
    >>> codes = np.arange(3 << 20, dtype=np.uint8).reshape(-1, 3)
    >>> hot = HotColumns(codes)
    >>> first, then = hot.find(2, n_rows=1 << 19), hot.find(2, n_rows=1 << 19)
    >>> first[0] is codes, first[1], then[0].shape, then[1]
    (True, 2, (1048576, 1), 0)
    """

    def __init__(self, codes: Codes, *, shared: bool = False) -> None:
        """`shared` codes are never copied: each of the models that share them would do so."""
        self._codes, self._copies = codes, dict[int, Codes]()
        self._n_read: dict[int, int] = {}
        self._most = codes.shape[1] // _SHARE if codes.nbytes > _LARGE and not shared else 0

    def find(self, feature: int, n_rows: int) -> tuple[Codes, int]:
        """Return (codes, column index) to read a feature from: the table itself, or its copy and 0.

        `n_rows` will be read: once the reads of a column add up to a whole table, it is copied.
        """
        copy = self._copies.get(feature)
        if copy is not None:
            return copy, 0
        if len(self._copies) >= self._most:
            return self._codes, feature
        n_read = self._n_read[feature] = self._n_read.get(feature, 0) + n_rows
        if n_read >= len(self._codes):
            self._copies[feature] = np.ascontiguousarray(self._codes[:, feature])[:, None]
            return self._copies[feature], 0
        return self._codes, feature


ROOT = 0
Place = tuple[NDArray[np.uint8], NDArray[np.uint32], bool, Int64, Int64]
_NOWHERE = np.zeros(0, dtype=np.uint32)
_BLOCK = 1 << 16  # rows of a sample drawn at a time, in cache


class Pieces(NamedTuple):
    """Contiguous pieces of a shard's rows in codes that hold other rows between them.

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
    """What a shard's histograms sum; see `grid`."""

    @property
    def n_channels(self) -> int:
        """The number of sums in a cell."""

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's sums, a view of shape (d, 256, n_channels), or of some columns only."""


@dataclass(frozen=True)
class TreeShape:
    """The nodes of a tree in Python tuples, by which rows find their leaves.

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
    """One slice of the table, and the ranges of its rows in every node of the growing tree.

    `order` holds row places, those of one node contiguous within each segment; `ranges` says where.
    Dividing a node permutes its own range only, so that a parent's range covers its children's.

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
    scratch : Scratch
    first : int
        So that `rows` may be numbers within a part of the table.
    """

    codes: NDArray[np.uint8]
    rows: NDArray[np.uint32]
    starts: Int64
    state: Any = None
    pieces: Pieces | None = None
    scratch: Scratch = field(default_factory=Scratch)
    first: int = 0

    def __post_init__(self) -> None:
        self.scratch.reserve(len(self.rows))
        self.order = _NOWHERE
        self.ranges: dict[int, tuple[Int64, Int64]] = {}
        self.sampled = False
        self._marked: RowSample | None = None
        self._kept: dict[tuple[Mode, int], Int64 | tuple[Int64, Int64]] = {}
        self._root_counts: Int64 | None = None
        self.paid: NDArray[np.bool_] | None = None  # by row and test, where rows pay for columns
        self._hot = HotColumns(self.codes, shared=self.pieces is not None)

    @property
    def cuts(self) -> Int64:
        """Starts of runs that are contiguous in the codes and of one segment, (P + 1,)."""
        return self.starts if self.pieces is None else self.pieces.starts

    @property
    def skips(self) -> tuple[int, ...]:
        """Offset from a row's place to its codes, for each run of `cuts`."""
        return (0,) * (len(self.starts) - 1) if self.pieces is None else self.pieces.skips

    def numbers(self, among: slice = slice(None)) -> NDArray[np.uint32]:
        """Return row numbers in the whole table, by which samples are drawn."""
        rows = self.rows[among]
        return rows + np.uint32(self.first) if self.first else rows

    def scratch_array(self, name: str, kind: DTypeLike, width: int = 1) -> NDArray[Any]:
        """Return a scratch buffer for these rows, `width` numbers each, (m * width,)."""
        return self.scratch.rows(name, kind, len(self.rows), width)

    @property
    def leaves(self) -> NDArray[np.uint16]:
        """The leaf that each row reached in the tree grown last, (m,)."""
        return self.scratch_array("leaves", np.uint16)

    # Nodes.

    def mark(self, sample: RowSample) -> NDArray[np.bool_]:
        """Return the mask of rows that a sample keeps, (m,), and cache it for the round."""
        keep = self.scratch_array("keep", np.bool_)
        for rows in _blocks(0, len(keep)):
            keep[rows] = sample.keeps(self.numbers(rows))
        self._marked = sample
        return keep

    def marked(self, sample: RowSample) -> NDArray[np.bool_]:
        """Return the mask of rows that a sample keeps, (m,), cached if it is this round's."""
        known = self._marked == sample
        return self.scratch_array("keep", np.bool_) if known else self.mark(sample)

    def begin_tree(self, sample: RowSample | None = None) -> int:
        """Start a tree with all rows, or those of a sample, in the root; return how many."""
        self.sampled = sample is not None
        self._kept.clear()
        self.order = _NOWHERE  # needed by a sample, or from the first division on
        # Without a sample the root needs no `order`: its rows are those of the segments themselves.
        begins, ends = self.cuts[:-1].copy(), self.cuts[1:].copy()
        if sample is not None:
            keep, self.order = self.marked(sample), self.scratch_array("order", np.uint32)
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
        """Yield (codes, slice of rows) for every contiguous run of codes."""
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
        """Divide a node's rows between its children `left` and `left` + 1.

        Return their row counts.
        """
        if not len(self.order):
            self.order = self.scratch_array("order", np.uint32)
        begins, ends = self.ranges[node]
        scratch, parts = self.scratch.thread_scratch.places(len(self.rows)), []
        table, column = self._hot.find(feature, self.size(node))
        for codes, order, whole, begin, end in self.places(node, table):
            parts.append(np.empty_like(begin))
            where = (order, scratch, whole, begin, end)
            kernels.partition(codes, column, goes_left, *where, parts[-1])
        # `partition` is stable within a segment: the order of rows, and so of everything after it,
        # does not depend on the number of threads.
        middles = parts[0] if len(parts) == 1 else np.concatenate(parts)
        # The root's rows are now in `order`, so its children read them there.
        self.ranges[left] = (begins, middles)
        self.ranges[left + 1] = (middles, ends)
        n_left = sum(middles.tolist()) - sum(begins.tolist())
        return n_left, sum(ends.tolist()) - sum(middles.tolist())

    # Histograms.

    def width(self, columns: Int64 | None) -> int:
        """Return the number of the given columns; of all for None."""
        return int(self.codes.shape[1]) if columns is None else len(columns)

    def sum_histogram(self, node: int, mode: Mode, columns: Int64 | None = None) -> Int64:
        """Return a node's histogram, (d, 256, C), cached until its children have theirs.

        A histogram of some columns is not cached: the children are searched in others.
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

    def divide_node(
        self,
        node: int,
        left: int,
        feature: int,
        goes_left: NDArray[np.uint8],
        modes: tuple[Mode, ...],
    ) -> tuple[Any, ...]:
        """Divide a node's rows; return how many go left, and the left child's histograms by mode.

        Only the smaller child is summed; the other is the parent less it, exact in integers. If the
        right one is the larger, its subtraction is put off until it is needed.
        """
        n_left, n_right = self.divide(node, left, feature, goes_left)
        answer: tuple[Any, ...] = (n_left,)
        for mode in modes:
            parent, kept = self.sum_histogram(node, mode), self._kept
            del kept[mode, node]
            # The larger sibling costs as many adds as it has rows, a subtraction only its cells: on
            # the right it waits as (parent, small) until it is searched.
            if n_left <= n_right:
                found = small = mode.histogram(self, left)
                kept[mode, left], kept[mode, left + 1] = small, (parent, small)
            else:
                small = mode.histogram(self, left + 1)
                found = parent - small
                kept[mode, left], kept[mode, left + 1] = found, small
            answer += (found,)
        return answer

    def count_codes(self, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's row counts by column and code, (d, 256).

        Those of all rows are cached.
        """
        if columns is not None:
            counts = np.zeros((len(columns), 256), dtype=np.int64)
            for place in self.places(node):
                kernels.count_histogram(*place, counts, columns)
            return counts
        whole = node == ROOT and not self.sampled
        # Counts do not depend on weights: those of all rows are the same in every round.
        if whole and self._root_counts is not None:
            return self._root_counts
        counts = np.zeros((self.codes.shape[1], 256), dtype=np.int64)
        for place in self.places(node):
            kernels.count_histogram(*place, counts)
        if whole:
            self._root_counts = counts
        return counts

    # Leaves.

    def assign_leaves(self, shape: TreeShape) -> Int64:
        """Write the leaf number of every row to `leaves`; return the rows of every leaf, (L,)."""
        counts, leaves = np.zeros(max(shape.leaves) + 1, dtype=np.int64), self.leaves
        # A leaf's rows are those that reach it, whether or not the tree was grown on them.
        if self.sampled:  # rows left out of the tree's making reach a leaf too
            self.begin_tree()
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
            # Both children are leaves: the leaf is written at each row, and none is moved.
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
    def sample_weights(self) -> Floats | None:
        """The user's row weights, (m,), or None; they are held in the algorithm's state."""
        held: Floats | None = getattr(self.state, "sample_weights", None)
        return held

    @cached_property
    def heaviest(self) -> float:
        """The largest sample weight of a row; 0 where rows have none."""
        weights = self.sample_weights
        return 0.0 if weights is None else float(np.max(weights, initial=0.0))

    def weigh_leaves(self, n_leaves: int, scale: float) -> Int64:
        """Return the sample weight of every leaf, (n_leaves,), on the grid of `scale`."""
        sums = np.zeros(n_leaves, dtype=np.int64)
        assert self.sample_weights is not None
        kernels.weigh_leaves(self.leaves, self.sample_weights, scale, sums)
        return sums


def _blocks(begin: int, end: int) -> Iterator[slice]:
    """Yield slices from `begin` to `end`, a cache-sized block at a time."""
    for start in range(begin, end, _BLOCK):
        yield slice(start, min(start + _BLOCK, end))


def _write_places(keep: NDArray[np.bool_], begin: int, end: int, places: NDArray[np.uint32]) -> int:
    """Write the places of kept rows to `places` from `begin` on.

    Return the end of what was written.
    """
    at = begin
    for rows in _blocks(begin, end):
        chosen = np.flatnonzero(keep[rows])
        places[at : at + len(chosen)] = chosen + rows.start
        at += len(chosen)
    return at


# What growers send: methods of a shard, as messages.


def _division_only(**arguments: Any) -> dict[str, Any]:
    # A worker that replaces another one makes histograms when they are needed.
    return arguments | {"modes": ()}


begin_tree = message(reduce=total, changes=True)(Shard.begin_tree)
sum_histogram = message(reduce=total)(Shard.sum_histogram)
divide_node = message(reduce=totals, changes=True, lasting=_division_only)(Shard.divide_node)
count_codes = message(reduce=total)(Shard.count_codes)
assign_leaves = message(reduce=total, changes=True)(Shard.assign_leaves)
weigh_leaves = message(reduce=total)(Shard.weigh_leaves)


@message(reduce=largest)
def heaviest_row(shard: Shard) -> float:
    """Return the largest sample weight of any row; 0 where rows have none."""
    return shard.heaviest
