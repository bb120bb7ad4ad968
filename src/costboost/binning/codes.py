"""Codes: what a table becomes, one byte per cell.

    value        x <= edges[0]   edges[0] < x <= edges[1]   ...   x > edges[-1]   missing
    code               0                    1                      n_bins - 1       255

The code of a number is the number of edges strictly below it, so `x <= edges[t]` if and only if
`code <= t`. The code of a category is its place among the sorted categories. The missing code is
the same for every column and any number of bins, so a histogram has 256 cells a column.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "Codes"]

Codes = NDArray[np.uint8]

MISSING: Final = 255
"""The code of a missing value, of a category not seen in training, and of one not kept."""
