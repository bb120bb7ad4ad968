"""Memory that was freed, given back to the system.

The C library keeps what threads have freed for their next need. After a step that needed much more
than any later one, that would stay in the process until its end.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

__all__ = ["give_back"]


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
