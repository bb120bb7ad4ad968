"""Exact sums: numbers on an integer grid, added in any order, and back to numbers.

A value v becomes the integer round(v * scale). Where its grid must be too coarse for small terms,
what is below a unit is kept as well, on a finer grid: an exact sum is then a pair (units,
remainders). Kernels add both as int64, remainders in units of 1 / REMAINDER; NumPy adds both as
float64 (`FloatGrid`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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
