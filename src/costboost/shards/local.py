"""Shards in this process, one for every thread.

Loops ask `call` and get sums back; they never see a row. Integer sums do not depend on their order,
so a model is bit for bit the same whatever the number of shards and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.machine import warn_if_interpreted
from costboost.runtime.messages import (
    Command,
    MaxMessage,
    Message,
    TupleSumMessage,
    largest,
    total,
    totals,
)
from costboost.shards.rows import Mode, Shard, TreeShape
from costboost.shards.sampling import RowSample
from costboost.typing import Int64

__all__ = [
    "Begin",
    "Command",
    "Count",
    "Expand",
    "HeaviestRow",
    "Histogram",
    "MaxMessage",
    "Message",
    "TupleSumMessage",
    "Settle",
    "WeighLeaves",
    "largest",
    "total",
    "totals",
]


# Messages that grow trees.


@dataclass(frozen=True)
class Begin(Message):
    """Start a tree on all rows, or on a sample of them; returns the number of rows in its root."""

    sample: RowSample | None = None

    changes = True

    def answer(self, shard: Shard) -> int:
        """Return the number of the shard's rows in the root."""
        return shard.begin(self.sample)


@dataclass(frozen=True)
class Histogram(Message):
    """Histogram of a node: sums by column and code, of all columns or of some."""

    node: int
    mode: Mode
    columns: Int64 | None = None

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        return shard.histogram(self.node, self.mode, self.columns)


@dataclass(frozen=True)
class Expand(TupleSumMessage):
    """Divide a node's rows.

    Returns how many go left, and the left child's histogram in each mode.
    """

    node: int
    left: int
    feature: int
    goes_left: NDArray[np.uint8]
    modes: tuple[Mode, ...]

    changes = True

    def lasting(self) -> Expand:
        """Return the division alone: a new worker makes histograms when they are needed."""
        return replace(self, modes=())

    def answer(self, shard: Shard) -> tuple[Any, ...]:
        """Return (number of rows that go left, histogram of the left child in each mode)."""
        sizes = shard.divide(self.node, self.left, self.feature, self.goes_left)
        lefts = (shard.left_histogram(self.node, self.left, sizes, mode) for mode in self.modes)
        return sizes[0], *lefts


@dataclass(frozen=True)
class Count(Message):
    """Number of a node's rows by column and code, of all columns or of some."""

    node: int
    columns: Int64 | None = None

    def answer(self, shard: Shard) -> Int64:
        """Return the counts."""
        return shard.counts(self.node, self.columns)


@dataclass(frozen=True)
class Settle(Message):
    """Assign every row to its leaf in the tree that was grown.

    Returns the row count of each leaf.
    """

    shape: TreeShape

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Write `shard.leaves`; return the counts, (n_leaves,)."""
        return shard.settle(self.shape)


@dataclass(frozen=True)
class HeaviestRow(MaxMessage):
    """The largest sample weight of any row; 0 where rows have none."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        return shard.heaviest


@dataclass(frozen=True)
class WeighLeaves(Message):
    """Sample weight of every leaf, as integers on the grid of `scale`."""

    n_leaves: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        return shard.weigh_leaves(self.n_leaves, self.scale)


R = TypeVar("R")

_CELLS_PER_CALL = 100_000  # below this waking a thread takes longer: some 50 us of work


# Models of folds take turns, a round each: one pool serves all, and threads are not started for
# every model.
class SharedPool:
    """A thread pool for all shards but the first, shared by models that are trained in turn.

    The first shard is worked on by the calling thread.

    They start with the first model and end with the last. Every thread keeps some memory of its
    own, so that models in step had better not have threads each.
    """

    def __init__(self, size: int) -> None:
        self._size, self._models = size, 0
        self._pool: ThreadPoolExecutor | None = None

    def acquire(self) -> ThreadPoolExecutor | None:
        """Return the pool for one more model, started if need be; None where there is one shard."""
        self._models += 1
        if self._pool is None and self._size > 1:
            self._pool = ThreadPoolExecutor(self._size - 1)
        return self._pool

    def release(self) -> None:
        """Give up one model's claim; the last one shuts the pool down."""
        self._models -= 1
        if self._models == 0 and self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Shards:
    """All shards of one model in this process, and the threads that work on them.

    Used as a context manager: the threads end with the block, or with that of the last model of the
    crew.
    """

    is_remote = (
        False  # whether every call is a trip over a network, so that callers should batch messages
    )

    def __init__(self, shards: Sequence[Shard], pool: SharedPool | None = None) -> None:
        warn_if_interpreted()
        self.shards = list(shards)
        self.n_features = self.shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.rows) for shard in self.shards)
        self._crew = SharedPool(len(self.shards)) if pool is None else pool
        self._pool = self._crew.acquire()

    @property
    def is_single_shard(self) -> bool:
        """Whether one local shard holds all rows, and those of each class contiguously."""
        first = self.shards[0]
        return len(self.shards) == 1 and (first.pieces is None or len(first.starts) == 2)

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *raised: object) -> None:
        self._crew.release()

    def call(self, messages: Sequence[Message], n_rows: int | None = None) -> list[Any]:
        """Send messages to every shard, in their order; return one reduced answer for each message.

        In parallel, unless the work is on so few rows (`n_rows`) that waking a thread would take
        longer.
        """
        if self._pool is None:
            shard = self.shards[0]
            return [message.reduce([message.answer(shard)]) for message in messages]
        parts = self._map(lambda shard: [message.answer(shard) for message in messages], n_rows)
        return [message.reduce([part[i] for part in parts]) for i, message in enumerate(messages)]

    def _map(self, function: Callable[[Shard], R], n_rows: int | None) -> list[R]:
        """Return function(shard) of every shard, in the order of the shards.

        The thread that asks takes the first: waking another one takes longer than many an answer.
        """
        assert self._pool is not None
        if n_rows is not None and n_rows * self.n_features < _CELLS_PER_CALL:
            return [function(shard) for shard in self.shards]
        others = [self._pool.submit(function, shard) for shard in self.shards[1:]]
        try:
            return [function(self.shards[0]), *(other.result() for other in others)]
        finally:  # none may still be at work when the caller goes on, also after an error
            wait(others)

    def fetch(self, read: Callable[[Shard], NDArray[Any]]) -> NDArray[Any]:
        """Return `read(shard)` of all rows in the order of the table; only possible in one process.

        For outside learners, users' losses and exact quantiles, which need all rows at once.
        """
        parts = [read(shard) for shard in self.shards]
        out = np.empty((self.n_rows, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for shard, part in zip(self.shards, parts, strict=True):
            out[shard.rows] = part
        return out

    def put(self, write: Callable[[Shard, NDArray[Any]], None], values: NDArray[Any]) -> None:
        """Write every shard its rows of an array in the order of the table; one process only."""
        for shard in self.shards:
            write(shard, np.ascontiguousarray(values[shard.rows]))
