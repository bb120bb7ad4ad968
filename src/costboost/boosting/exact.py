"""Exact sums in kernels: a term is cut into whole units of the grid and a remainder.

Both are added as int64, so that a sum does not depend on the order of its terms; see
`costboost.shards.grid`. Kernels that run interpreted call this; compiled ones `exact.pxd`.
"""

from __future__ import annotations

from costboost.shards.grid import REMAINDER
from costboost.typing import Int64


def rest(term: float, units: int) -> int:
    """Return what a term has beyond its whole units, in units of 1 / 2**40."""
    return int((term - units) * REMAINDER)


def add(out: Int64, row: int, at: int, term: float) -> None:
    """Add a term, in grid units, to the exact sum out[row, at] + out[row, at + 1] / 2**40.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros((1, 2), dtype=np.int64)
    >>> add(out, 0, 0, -2.5)
    >>> out.tolist() == [[-2, -(2**39)]]
    True
    """
    units = int(term)
    out[row, at] += units
    out[row, at + 1] += rest(term, units)
