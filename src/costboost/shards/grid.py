"""Exact sums: numbers on an integer grid, added in any order; and what histograms sum on it.

A value v becomes the integer round(v * scale). Where its grid must be too coarse for small terms,
what is below a unit is kept as well, on a finer grid: an exact sum is then a pair (units,
remainders). Kernels add both as int64, remainders in units of 1 / REMAINDER; NumPy adds both as
float64 (`FloatGrid`).

A mode (class weights, gradient/hessian pairs, weight vectors, row counts) says what a histogram
sums. It is a small value that goes with a message; the numbers it adds up lie where the rows are.
`columns` are those to add up, (c,), where a node is searched for some of them only; then histograms
have c columns in place of d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.shards import _tree_kernels as kernels
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

REMAINDER = 2.0**40  # as in the kernels


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
    if not largest < math.inf:  # NaN is not, either
        raise ValueError(
            "Weights, prices, targets or answers are so large that their sums over rows overflow: "
            "use larger units for them."
        )
    if not largest > 0.0:
        return 1.0
    exponent = bits - math.frexp(n_rows)[1] - math.frexp(largest)[1]
    return math.ldexp(1.0, min(exponent, 1023))


def to_floats(
    sums: Int64 | Floats, scale: float, total: float = 1.0, fine: float = REMAINDER
) -> Floats:
    """Convert exact sums (..., 2) of units and remainders to floats; scale * total may overflow.

    Remainders are in units of 1 / `fine`.

    Examples
    --------
    >>> to_floats(np.array([[3, 2**39]]), scale=2.0).tolist()
    [1.75]
    """
    return np.asarray((sums[..., 0] + sums[..., 1] / fine) / scale / total)


_WHOLE = 53  # bits: float64 sums of whole numbers below 2**53 are exact in any order


@dataclass(frozen=True)
class FloatGrid:
    """A grid on which NumPy sums exactly, block by block: whole numbers held as float64.

    Attributes
    ----------
    scale : float
        Units in 1.
    fine : float
        Parts of a unit that remainders are counted in.

    Examples
    --------
    >>> grid = FloatGrid.of(1.0, n_terms=4)
    >>> one, other = grid.add(np.array([0.25, 1e-20])), grid.add(np.array([0.5]))
    >>> grid.to_float(one + other)
    0.75
    """

    scale: float
    fine: float

    @classmethod
    def of(cls, largest: float, n_terms: int) -> FloatGrid:
        """Return the grid on which sums of so many terms, of size at most `largest`, are exact."""
        return cls(grid_scale(largest, n_terms, _WHOLE), grid_scale(1.0, n_terms, _WHOLE))

    def add(self, terms: Floats, weights: Floats | None = None) -> Floats:
        """Add up terms, times the weights of their rows; return the exact sum, (2,)."""
        # Whole units and what is left of them, each a whole number below 2**53 in all: float64
        # adds them without rounding, whatever the order of rows and blocks.
        scaled = terms * self.scale
        if weights is not None:
            scaled *= weights
        units = np.floor(scaled)
        scaled -= units
        scaled *= self.fine
        return np.array([np.sum(units), np.sum(np.rint(scaled, out=scaled))])

    def to_float(self, sums: Floats) -> float:
        """Convert an exact sum, (2,), to a float."""
        return float(to_floats(sums, self.scale, fine=self.fine))


_FINE = 1200  # bits behind the point, enough for every double


def exact_sum(values: Floats) -> int:
    """Return the sum of doubles without any rounding, as a whole number of 2**-1200.

    Such sums may be added in any order; `rounded` turns them into the nearest number. By parts
    of equal exponent: mantissas of 53 bits are added in two halves.

    Examples
    --------
    >>> rounded(exact_sum(np.array([1e100, 1.0])) + exact_sum(np.array([-1e100])))
    1.0
    """
    # Mantissas of one exponent are added as integers: halves of 27 and 26 bits leave room for 2**36
    # rows in int64. Python's unbounded integers then put the few sums together.
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    order = np.argsort(exponents, kind="stable")
    whole, exponents = whole[order], exponents[order]
    firsts = np.flatnonzero(np.diff(exponents, prepend=exponents[:1] - 1))
    if not len(firsts):
        return 0
    high = np.add.reduceat(whole >> 26, firsts).tolist()
    low = np.add.reduceat(whole & (2**26 - 1), firsts).tolist()
    shifts = (exponents[firsts] + (_FINE - 53)).tolist()
    return sum(((h << 26) + r) << s for h, r, s in zip(high, low, shifts, strict=True))


def exact_count(number: int) -> int:
    """Convert a whole number to an exact sum, in units of 2**-1200."""
    return number << _FINE


def rounded(total: int) -> float:
    """Convert an exact sum to the nearest float."""
    return total / (1 << _FINE)


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
        return shard.count_codes(node, columns)
