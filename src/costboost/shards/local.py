"""Rows cut into shards: whatever is learnt from data is a sum over them.

    codes   | class 0 of shard 0 | class 1 of shard 0 | class 0 of shard 1 | ...
            each shard is one contiguous slice; inside it, rows are grouped by class

A grower never sees rows. It asks all shards for a histogram, or to divide a node's rows, and gets
integers back. Integer sums do not depend on their order, so the tree is bit for bit the same
whatever the number of shards and threads. Locally there is one shard per thread; rows are dealt
to shards in small blocks, so that sorted data leaves no thread idle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.compiled import warn_if_interpreted
from costboost.shards import _tree_kernels as kernels

Int64 = NDArray[np.int64]
R = TypeVar("R")

ROOT = 0
_NONE = np.zeros(0)
_DEAL = 4096  # rows dealt to one shard at a time
_CELLS_PER_SHARD = 200_000  # below this a second thread costs more than it brings
_CELLS_PER_CALL = 100_000  # the same for a single call: some 50 microseconds of work


class Mode(Protocol):
    """What a shard's histograms add up: class weights, pairs, or vectors."""

    @property
    def n_channels(self) -> int:
        """The number of sums in a cell."""

    def histogram(self, shard: Shard, node: int) -> Int64:
        """Return the node's sums as a (d, 256, n_channels) view."""


@dataclass
class Shard:
    """One slice of the table and the way its rows are divided among nodes.

    Attributes
    ----------
    codes : ndarray of shape (m, d), uint8
    rows : ndarray of shape (m,), int64
        The number of each row in the table as it was given.
    starts : ndarray of shape (S + 1,), int64
        Where each segment (class) begins.
    leaves : ndarray of shape (m,), uint16
        The leaf each row reached in the tree grown last.
    data : dict
        Per-row arrays of the algorithm that drives the growing (weights, margins, ...).
    """

    codes: NDArray[np.uint8]
    rows: Int64
    starts: Int64
    data: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        m = len(self.codes)
        self.order = np.empty(m, dtype=np.uint32)
        self.scratch = np.empty(m, dtype=np.uint32)
        self.leaves = np.zeros(m, dtype=np.uint16)
        self.ranges: dict[int, tuple[Int64, Int64]] = {}
        self.sampled = False

    def begin(self, keep: NDArray[np.bool_] | None) -> int:
        """Forget the last tree; put all rows, or those to keep, into the root."""
        self.sampled = keep is not None
        begins, ends = self.starts[:-1].copy(), self.starts[1:].copy()
        if keep is not None:
            for s, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                chosen = np.flatnonzero(keep[begin:end]) + begin
                self.order[begin : begin + len(chosen)] = chosen
                ends[s] = begin + len(chosen)
        self.ranges = {ROOT: (begins, ends)}
        return int(np.sum(ends - begins))

    def where(self, node: int) -> tuple[NDArray[np.uint32], bool, Int64, Int64]:
        """Return (order, whole, begins, ends) of a node, as the kernels take them."""
        begins, ends = self.ranges[node]
        return self.order, node == ROOT and not self.sampled, begins, ends

    def counts(self, node: int) -> Int64:
        """Count the node's rows by column and code."""
        counts = np.zeros((self.codes.shape[1], 256), dtype=np.int64)
        kernels.count_histogram(self.codes, *self.where(node), counts)
        return counts

    def split(self, node: int, left: int, feature: int, goes_left: NDArray[np.uint8]) -> int:
        """Divide a node's rows between two children; return how many went left."""
        order, whole, begins, ends = self.where(node)
        middles = np.empty_like(begins)
        kernels.partition(
            self.codes, feature, goes_left, order, self.scratch, whole, begins, ends, middles
        )
        # The root's rows are now in `order`, so its children read them there.
        self.ranges[left] = (begins, middles)
        self.ranges[left + 1] = (middles, ends)
        return int(sum(middles.tolist()) - sum(begins.tolist()))


class Shards:
    """All shards of one fit and the threads that work on them.

    Used as a context manager: the threads end with the block.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        warn_if_interpreted()
        self.shards = list(shards)
        self.n_features = self.shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.codes) for shard in self.shards)
        self._pool = ThreadPoolExecutor(len(self.shards)) if len(self.shards) > 1 else None
        self._root_counts: Int64 | None = None
        self._whole = True

    def __enter__(self) -> Shards:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[[Shard], R], n_rows: int | None = None) -> list[R]:
        """Call a function on every shard; results in the order of the shards.

        In parallel, unless the work is on so few rows that waking a thread would take longer.
        """
        if self._pool is None:
            return [function(self.shards[0])]
        if n_rows is not None and n_rows * self.n_features < _CELLS_PER_CALL:
            return [function(shard) for shard in self.shards]
        return list(self._pool.map(function, self.shards))

    def sum(self, function: Callable[[Shard], Any], n_rows: int | None = None) -> Any:
        """Add up what a function returns for every shard; `n_rows` as in `map`."""
        parts = self.map(function, n_rows)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def begin(self, keep: Callable[[Int64], NDArray[np.bool_]] | None = None) -> int:
        """Start a tree on all rows, or on those for whose numbers `keep` says True."""
        self._whole = keep is None
        if keep is None:
            return int(self.sum(lambda shard: shard.begin(None)))
        return int(self.sum(lambda shard: shard.begin(keep(shard.rows))))

    def counts(self, node: int, n_rows: int | None = None) -> Int64:
        """Count a node's rows by column and code; the root's never change, so they are kept."""
        if node != ROOT or not self._whole:
            return np.asarray(self.sum(lambda shard: shard.counts(node), n_rows))
        if self._root_counts is None:
            self._root_counts = self.sum(lambda shard: shard.counts(ROOT))
        return self._root_counts

    def gather(self, name: str) -> NDArray[Any]:
        """Return a per-row array of all shards, in the order of the table as it was given."""
        first = self.shards[0].data[name]
        out = np.empty((self.n_rows, *first.shape[1:]), dtype=first.dtype)
        for shard in self.shards:
            out[shard.rows] = shard.data[name]
        return out

    def scatter(self, name: str, values: NDArray[Any]) -> None:
        """Give every shard its rows of an array in the order of the table."""
        for shard in self.shards:
            shard.data[name] = np.ascontiguousarray(values[shard.rows])


@dataclass(frozen=True)
class ClassWeights:
    """One weight per row, added to the histogram of the row's class (`shard.data["weights"]`).

    `scale` puts weights on the grid: a power of two, times a factor for each class if they have
    any, (K,). Where rows have factors of their own, they are in `shard.data[factors]`.
    """

    n_channels: int
    scale: float | NDArray[np.float64]
    factors: str | None = None

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """Return the scale of every class, (K,)."""
        return np.array(np.broadcast_to(self.scale, (self.n_channels,)), dtype=np.float64)

    def histogram(self, shard: Shard, node: int) -> Int64:
        """Return the node's class weights as a (d, 256, K) view of planes by class."""
        hist = np.zeros((self.n_channels, shard.codes.shape[1], 256), dtype=np.int64)
        factors = _NONE if self.factors is None else shard.data[self.factors]
        weights = (shard.data["weights"], factors, self.scales)
        kernels.class_histogram(shard.codes, *shard.where(node), *weights, hist.reshape(-1))
        return hist.transpose(1, 2, 0)

    def total(self, shard: Shard) -> int:
        """Add up a shard's weights on the grid."""
        weights = shard.data["weights"] * np.repeat(self.scales, np.diff(shard.starts))
        if self.factors is not None:
            weights *= shard.data[self.factors]
        return int(np.sum((weights + 0.5).astype(np.int64)))


@dataclass(frozen=True)
class Pairs:
    """A gradient and a hessian per row, on the grid (`shard.data["pairs"]`)."""

    n_channels: int = 2

    def histogram(self, shard: Shard, node: int) -> Int64:
        """Return the node's sums of gradients and hessians, (d, 256, 2)."""
        hist = np.zeros((shard.codes.shape[1], 256, 2), dtype=np.int64)
        kernels.pair_histogram(
            shard.codes, *shard.where(node), shard.data["pairs"], hist.reshape(-1)
        )
        return hist


@dataclass(frozen=True)
class PackedPairs:
    """A gradient and a hessian per row in one word (`shard.data["packed"]`), half the work.

    The word is gradient * 2**SHIFT + hessian; at most `SLOPE_BITS` and `BEND_BITS` bits, so that
    sums of `BLOCK` rows neither carry into each other nor overflow: 8191 * 2**16 < 2**29, and
    8191 * 2**21 * 2**29 < 2**63. Same sums as `Pairs`, on a coarser grid.
    """

    n_channels: int = 2

    BLOCK: ClassVar[int] = 8191
    SHIFT: ClassVar[int] = 29
    SLOPE_BITS: ClassVar[int] = 21
    BEND_BITS: ClassVar[int] = 16

    def histogram(self, shard: Shard, node: int) -> Int64:
        """Return the node's sums of gradients and hessians, (d, 256, 2)."""
        d = shard.codes.shape[1]
        hist = np.zeros((d, 256, 2), dtype=np.int64)
        part = shard.data.get("part")
        if part is None:
            part = shard.data["part"] = np.zeros(d * 256, dtype=np.int64)
        packed = (shard.data["packed"], self.SHIFT, self.BLOCK, part)
        kernels.packed_histogram(shard.codes, *shard.where(node), *packed, hist.reshape(-1))
        return hist


@dataclass(frozen=True)
class Vectors:
    """K signed weights per row, on the grid (`shard.data["vectors"]`): relational examples."""

    n_channels: int

    def histogram(self, shard: Shard, node: int) -> Int64:
        """Return the node's sums for every class, (d, 256, K)."""
        hist = np.zeros((shard.codes.shape[1], 256, self.n_channels), dtype=np.int64)
        vectors = shard.data["vectors"]
        kernels.vector_histogram(shard.codes, *shard.where(node), vectors, hist.reshape(-1))
        return hist


def grid_scale(largest: float, n_rows: int, bits: int = 62) -> float:
    """Return the power of two by which values up to `largest` become int64 on the grid.

    Derived from the largest value, never from a float sum: scaling all values by a power of two,
    or repeating a row instead of doubling its weight, then changes nothing. The sum over
    `n_rows` rows stays below 2**`bits`.

    Examples
    --------
    >>> scale = grid_scale(0.75, n_rows=1000)
    >>> scale == 2.0**52, 1000 * int(0.75 * scale + 0.5) < 2**62
    (True, True)
    """
    if not largest < np.inf:  # NaN is not, either
        raise ValueError(
            "Weights, prices, targets or answers are so large that their sums over rows overflow: "
            "use larger units for them."
        )
    if not largest > 0.0:
        return 1.0
    exponent = bits - int(np.frexp(float(n_rows))[1]) - int(np.frexp(largest)[1])
    return float(np.ldexp(1.0, min(exponent, 1023)))


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

    rows: Int64
    bounds: list[tuple[int, int]]
    starts: list[Int64]

    @property
    def positions(self) -> Int64:
        """positions[i] is where row i is stored."""
        positions = np.empty_like(self.rows)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    def cut(self, codes: NDArray[np.uint8]) -> Shards:
        """Return shards of a table whose rows already lie in this layout."""
        return Shards(
            [
                Shard(codes[start:stop], self.rows[start:stop], starts)
                for (start, stop), starts in zip(self.bounds, self.starts, strict=True)
            ]
        )


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
    shard_of = (np.arange(n_rows) // _DEAL) % n_shards
    rows = np.arange(n_rows, dtype=np.int64)
    if labels is None:
        labels = np.zeros(n_rows, dtype=np.uint8)
    if n_shards > 1 or n_segments > 1:
        rows = np.argsort(shard_of * n_segments + labels, kind="stable")
    sizes = np.bincount(shard_of * n_segments + labels, minlength=n_shards * n_segments)
    starts = [
        np.concatenate([[0], np.cumsum(part)]).astype(np.int64)
        for part in sizes.reshape(n_shards, n_segments)
    ]
    ends = np.cumsum([start[-1] for start in starts]).tolist()
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    return Layout(rows=rows, bounds=bounds, starts=starts)


def sensible_shards(n_rows: int, n_features: int, n_threads: int) -> int:
    """Return how many shards pay: one per thread, fewer on small tables."""
    return max(1, min(n_threads, n_rows // _DEAL, n_rows * n_features // _CELLS_PER_SHARD))
