"""What histograms sum: class weights, gradient/hessian pairs, weight vectors, or row counts.

A mode is a small value that goes with a message; the numbers it adds up lie where the rows are.
`columns` are those to add up, (c,), where a node is searched for some of them only; then histograms
have c columns in place of d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.shards import _tree_kernels as kernels
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

# The kernels' number for the mode; weights, factors and scales; pairs; vectors.
Summands = tuple[int, Floats, Floats, Floats, Int64, NDArray[np.int32]]

_NONE = np.zeros(0)
_NO_PAIRS, _NO_VECTORS = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 0), dtype=np.int32)


@dataclass(frozen=True)
class ClassWeights:
    """One weight per row, added to the histogram of the row's class (`shard.state.weights`).

    `scales` puts weights on the grid, one for each class: a power of two, times the class's factor
    if it has one. With `factored` rows have factors of their own, in `shard.state.learner_factors`.
    """

    scales: tuple[float, ...]
    factored: bool = False

    by_class: ClassVar[bool] = True  # a plane of a histogram for each channel

    @property
    def n_channels(self) -> int:
        """The number of classes."""
        return len(self.scales)

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's class weights as a (d, 256, K) view of planes by class."""
        hist = np.zeros((self.n_channels, shard.width(columns), 256), dtype=np.int64)
        weights, factors, scales = self._summed(shard)
        # Pieces lie class by class, as many of each: a piece adds to the plane of its own class.
        places = list(shard.places(node))
        per_class = max(1, len(places) // self.n_channels)
        for p, place in enumerate(places):
            own = slice(None) if len(places) == 1 else slice(p // per_class, p // per_class + 1)
            added = (weights, factors, scales[own], hist[own].reshape(-1))
            kernels.class_histogram(*place, *added, columns)
        return hist.transpose(1, 2, 0)

    def _summed(self, shard: Shard) -> tuple[Floats, Floats, Floats]:
        factors = shard.state.learner_factors if self.factored else _NONE
        return shard.state.weights, factors, np.array(self.scales)

    def summands(self, shard: Shard) -> Summands:
        """Return the arrays to sum, as `ShardRows` of a tree grown in one call takes them."""
        return 0, *self._summed(shard), _NO_PAIRS, _NO_VECTORS


@dataclass(frozen=True)
class GradientPairs:
    """A gradient and a hessian per row, on the grid (`shard.state.pairs`)."""

    n_channels: int = 2

    by_class: ClassVar[bool] = False

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's sums of gradients and hessians, (d, 256, 2)."""
        hist = np.zeros((shard.width(columns), 256, 2), dtype=np.int64)
        for place in shard.places(node):
            kernels.pair_histogram(*place, shard.state.pairs, hist.reshape(-1), columns)
        return hist

    def summands(self, shard: Shard) -> Summands:
        """Return the arrays to sum, as `ShardRows` of a tree grown in one call takes them."""
        return 1, _NONE, _NONE, _NONE, shard.state.pairs, _NO_VECTORS


@dataclass(frozen=True)
class PackedPairs:
    """A gradient and a hessian per row in one word (`shard.state.packed`), half the work.

    The word is gradient * 2**SHIFT + hessian; at most `GRADIENT_BITS` and `HESSIAN_BITS` bits, so
    that sums of `BLOCK` rows neither carry into each other nor overflow: 8191 * 2**16 < 2**29, and
    8191 * 2**21 * 2**29 < 2**63. Same sums as `GradientPairs`, on a coarser grid.
    """

    n_channels: int = 2

    BLOCK: ClassVar[int] = 8191
    SHIFT: ClassVar[int] = 29
    GRADIENT_BITS: ClassVar[int] = 21
    HESSIAN_BITS: ClassVar[int] = 16

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's sums of gradients and hessians, (d, 256, 2)."""
        hist = np.zeros((shard.width(columns), 256, 2), dtype=np.int64)
        # Sums of one block, zero before and after each call: those of more rows would overflow.
        if shard.state.part is None:
            shard.state.part = np.zeros(shard.codes.shape[1] * 256, dtype=np.int64)
        packed = (shard.state.packed, self.SHIFT, self.BLOCK, shard.state.part)
        for place in shard.places(node):
            kernels.packed_histogram(*place, *packed, hist.reshape(-1), columns)
        return hist


@dataclass(frozen=True)
class Vectors:
    """K signed weights per row, on the grid (`shard.state.vectors`): relational examples.

    Every node that waits to be split holds a histogram of all K classes. Where columns have few
    values, nearly all of its 256 codes would be empty: with `n_codes` only so many are kept, and
    behind them one for missing values.
    """

    n_channels: int
    n_codes: int | None = None

    by_class: ClassVar[bool] = False

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's sums for every class, (d, 256, K) or (d, n_codes + 1, K)."""
        if self.n_codes is None:
            wide = np.zeros((shard.width(columns), 256, self.n_channels), dtype=np.int64)
            self._fill(shard, node, wide, columns)
            return wide
        # Kernels add to 256 codes; what is kept of a node is narrow, and the wide buffer is cleared
        # for the next one.
        if shard.state.buffer is None:
            shape = (shard.codes.shape[1], 256, self.n_channels)
            shard.state.buffer = np.zeros(shape, dtype=np.int64)
        hist = shard.state.buffer[: shard.width(columns)]
        self._fill(shard, node, hist, columns)
        narrow = np.concatenate([hist[:, : self.n_codes], hist[:, MISSING:]], axis=1)
        hist[:, : self.n_codes] = hist[:, MISSING:] = 0
        return narrow

    def summands(self, shard: Shard) -> Summands:
        """Return the arrays to sum, as `ShardRows` of a tree grown in one call takes them."""
        return 2, _NONE, _NONE, _NONE, _NO_PAIRS, shard.state.vectors

    def _fill(self, shard: Shard, node: int, hist: Int64, columns: Int64 | None) -> None:
        for place in shard.places(node):
            kernels.vector_histogram(*place, shard.state.vectors, hist.reshape(-1), columns)


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows, (d, 256)."""

    n_channels: int = 1

    def histogram(self, shard: Shard, node: int, columns: Int64 | None = None) -> Int64:
        """Return the node's number of rows by column and code."""
        return shard.counts(node, columns)
