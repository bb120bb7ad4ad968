"""Where a shard works: arrays as long as its rows that hold nothing between two rounds.

Models that are trained in step, a round of each at a time, may work on one bench (the first shard
of all models on one, the second on another): rows then take its room once, not once a model.

What holds nothing between two messages even lies on a *desk*, which all shards of a process may
share: there is one of its arrays for every thread that works, not for every shard.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")


class Desk(local):
    """A thread's own room for what is needed while one message is answered.

    There is nothing on it to take elsewhere: another process gets another desk.
    """

    def __init__(self) -> None:
        self._room = np.zeros(0, dtype=np.uint32)

    def __reduce__(self) -> Any:
        return Desk, ()

    def places(self, n_rows: int) -> NDArray[np.uint32]:
        """Return room for as many places; it holds whatever was left there."""
        if len(self._room) < n_rows:
            self._room = np.zeros(0, dtype=np.uint32)  # let go before the larger one is made
            self._room = np.zeros(n_rows, dtype=np.uint32)
        return self._room[:n_rows]


class Bench:
    """Arrays by name, made of zeros when first asked for; later they hold what was left there.

    Attributes
    ----------
    desk : Desk

    Examples
    --------
    >>> bench = Bench()
    >>> bench.reserve(3), bench.reserve(5)
    (None, None)
    >>> order = bench.rows("order", np.uint32, 3)
    >>> order.shape, np.shares_memory(order, bench.rows("order", np.uint32, 5))
    ((3,), True)
    """

    def __init__(self, desk: Desk | None = None) -> None:
        self.desk = Desk() if desk is None else desk
        self._most = 0
        self._arrays: dict[str, NDArray[Any]] = {}
        self._kept: tuple[Hashable, Any] = (None, None)

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for a key; the last one is kept."""
        if self._kept[0] != key:
            self._kept = (key, make())
        kept: T = self._kept[1]
        return kept

    def reserve(self, n_rows: int) -> None:
        """Make room for so many rows: said by all who share, before the first of them works."""
        self._most = max(self._most, n_rows)

    def rows(self, name: str, kind: DTypeLike, n_rows: int, width: int = 1) -> NDArray[Any]:
        """Return the array of a name for so many rows, `width` numbers each: (n_rows * width,)."""
        size, found = n_rows * width, self._arrays.get(name)
        if found is None or len(found) < size:
            self._arrays.pop(name, None)  # let go before the larger one is made
            found = self._arrays[name] = np.zeros(max(n_rows, self._most) * width, dtype=kind)
        return found if len(found) == size else found[:size]
