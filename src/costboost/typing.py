"""Types of arrays, one name each for the whole package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AnyFloats",
    "AnyInts",
    "Array",
    "Codes",
    "Floats",
    "Indices",
    "Int64",
    "Mask",
    "RowNumbers",
    "Words",
]

Array = NDArray[Any]
AnyFloats = NDArray[np.floating[Any]]  # float32 or float64
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Int64 = NDArray[np.int64]
AnyInts = NDArray[np.integer[Any]]
Indices = NDArray[np.intp]  # positions of rows, as NumPy indexes with them
RowNumbers = NDArray[np.uint32]  # positions of rows within a shard
Codes = NDArray[np.uint8]  # binned values, one byte each
Words = NDArray[np.uint64]  # hashes and bit sets
