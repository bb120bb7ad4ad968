"""Exact sums: numbers on an integer grid, added in any order, and back to numbers.

A value v becomes the integer round(v * scale). Where its grid must be too coarse for small terms,
kernels keep what is below a unit as well, in units of 1 / REMAINDER: an exact sum is then a pair
(units, remainders).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]

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
    if not largest > 0.0:
        return 1.0
    exponent = bits - int(np.frexp(float(n_rows))[1]) - int(np.frexp(largest)[1])
    return float(np.ldexp(1.0, min(exponent, 1023)))


def to_floats(sums: Int64, scale: float, total: float = 1.0) -> Floats:
    """Turn exact sums (..., 2) of units and remainders into numbers; scale * total may overflow.

    Examples
    --------
    >>> to_floats(np.array([[3, 2**39]]), scale=2.0).tolist()
    [1.75]
    """
    return np.asarray((sums[..., 0] + sums[..., 1] / REMAINDER) / scale / total)
