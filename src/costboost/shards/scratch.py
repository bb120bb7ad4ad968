"""Scratch buffers of shards: arrays as long as their rows, reused from round to round.

`Scratch` holds arrays whose content matters only within one round. Models that are trained in step,
a round of each at a time, share it (the first shard of all models one, the second another), so that
memory is taken once and not once a model. `ThreadScratch` holds what matters only within one
message: there is one array for every thread, shared by all shards of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")


class ThreadScratch(local):
    """A buffer for every thread, used while one message is answered.

    It pickles as an empty one: its content never matters to another process.
    """

    def __init__(self) -> None:
        self._buffer = np.zeros(0, dtype=np.uint32)

    def __reduce__(self) -> Any:
        return ThreadScratch, ()

    def places(self, n_rows: int) -> NDArray[np.uint32]:
        """Return an uninitialised buffer for the places of so many rows, uint32 (n_rows,)."""
        if len(self._buffer) < n_rows:
            self._buffer = np.zeros(0, dtype=np.uint32)  # let go before the larger one is made
            self._buffer = np.zeros(n_rows, dtype=np.uint32)
        return self._buffer[:n_rows]


class Scratch:
    """Arrays by name: zeros at first use, later with whatever content was left in them.

    Attributes
    ----------
    thread_scratch : ThreadScratch

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.reserve(3), scratch.reserve(5)
    (None, None)
    >>> order = scratch.rows("order", np.uint32, 3)
    >>> order.shape, np.shares_memory(order, scratch.rows("order", np.uint32, 5))
    ((3,), True)
    """

    def __init__(self, thread_scratch: ThreadScratch | None = None) -> None:
        self.thread_scratch = ThreadScratch() if thread_scratch is None else thread_scratch
        self._most = 0
        self._arrays: dict[str, NDArray[Any]] = {}
        self._kept: tuple[Hashable, Any] = (None, None)

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return `make()`, cached for the last key."""
        if self._kept[0] != key:
            self._kept = (key, make())
        kept: T = self._kept[1]
        return kept

    def reserve(self, n_rows: int) -> None:
        """Announce a number of rows; arrays are made for the largest one announced.

        All shards that share the buffers call it before the first of them allocates.
        """
        self._most = max(self._most, n_rows)

    def rows(self, name: str, kind: DTypeLike, n_rows: int, width: int = 1) -> NDArray[Any]:
        """Return the array of a name for so many rows, `width` numbers each: (n_rows * width,)."""
        size, found = n_rows * width, self._arrays.get(name)
        if found is None or len(found) < size:
            self._arrays.pop(name, None)  # let go before the larger one is made
            found = self._arrays[name] = np.zeros(max(n_rows, self._most) * width, dtype=kind)
        return found if len(found) == size else found[:size]
