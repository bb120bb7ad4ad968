"""Memory that was freed, given back to the system.

The C library keeps what threads have freed for their next need. After a step that needed much more
than any later one, that would stay in the process until its end.

What a thread frees at the end of its own pool is not even given back when asked for: large arrays
that threads make for a short time have pages of their own.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["give_back", "own_pages"]

_LARGE = 1 << 20  # bytes: less is not worth asking the system for


@cache
def _trim() -> Any:
    """Return glibc's own function for this; None elsewhere."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Give freed memory back to the system, where the C library can."""
    trim = _trim()
    if trim is not None:
        trim(0)


def own_pages(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array that the system gets back as soon as nobody holds it.

    Examples
    --------
    >>> array = own_pages((3, 1 << 18), np.float32)
    >>> array.shape, array.dtype, bool(array.flags.writeable)
    ((3, 262144), dtype('float32'), True)
    """
    kind, size = np.dtype(dtype), prod(shape)
    if size * kind.itemsize < _LARGE:
        return np.empty(shape, dtype=kind)
    pages = mmap.mmap(-1, size * kind.itemsize)
    return np.frombuffer(pages, dtype=kind, count=size).reshape(shape)
