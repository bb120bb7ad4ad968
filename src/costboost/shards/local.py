"""Shards in this process, one for every thread.

Loops ask `call` and get sums back; they never see a row. Integer sums do not depend on their order,
so a model is bit for bit the same whatever the number of shards and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.machine import warn_if_interpreted
from costboost.runtime.messages import Call, largest, message, total, totals
from costboost.shards.rows import Mode, Shard, TreeShape
from costboost.shards.sampling import RowSample
from costboost.typing import Int64

# Messages that grow trees.


@message(reduce=total, changes=True)
def begin_tree(shard: Shard, *, sample: RowSample | None = None) -> int:
    """Start a tree on all rows, or on a sample of them; return the number of rows in its root."""
    return shard.begin(sample)


@message(reduce=total)
def sum_histogram(shard: Shard, *, node: int, mode: Mode, columns: Int64 | None = None) -> Int64:
    """Return the histogram of a node: sums by column and code, of all columns or of some."""
    return shard.histogram(node, mode, columns)


def _division_only(**arguments: Any) -> dict[str, Any]:
    # A worker that replaces another one makes histograms when they are needed.
    return arguments | {"modes": ()}


@message(reduce=totals, changes=True, lasting=_division_only)
def divide_node(
    shard: Shard,
    *,
    node: int,
    left: int,
    feature: int,
    goes_left: NDArray[np.uint8],
    modes: tuple[Mode, ...],
) -> tuple[Any, ...]:
    """Divide a node's rows.

    Return (number of rows that go left, histogram of the left child in each mode).
    """
    sizes = shard.divide(node, left, feature, goes_left)
    answer: tuple[Any, ...] = (sizes[0],)
    for mode in modes:
        answer += (shard.left_histogram(node, left, sizes, mode),)
    return answer


@message(reduce=total)
def count_codes(shard: Shard, *, node: int, columns: Int64 | None = None) -> Int64:
    """Return the number of a node's rows by column and code, of all columns or of some."""
    return shard.counts(node, columns)


@message(reduce=total, changes=True)
def assign_leaves(shard: Shard, *, shape: TreeShape) -> Int64:
    """Write `shard.leaves`, the leaf of every row in a grown tree; return their sizes, (L,)."""
    return shard.settle(shape)


@message(reduce=largest)
def heaviest_row(shard: Shard) -> float:
    """Return the largest sample weight of any row; 0 where rows have none."""
    return shard.heaviest


@message(reduce=total)
def weigh_leaves(shard: Shard, *, n_leaves: int, scale: float) -> Int64:
    """Return the sample weight of every leaf, as integers on the grid of `scale`."""
    return shard.weigh_leaves(n_leaves, scale)


R = TypeVar("R")

_CELLS_PER_CALL = 100_000  # below this waking a thread takes longer: some 50 us of work


# Models of folds take turns, a round each: one pool serves all, and threads are not started for
# every model.
class SharedPool:
    """A thread pool for all shards but the first, shared by models that are trained in turn.

    The first shard is worked on by the calling thread.

    Threads start with the first model and end with the last. Each of them keeps some memory of its
    own, so models that take turns share them.
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

    Used as a context manager: the threads end with the block, or with that of the last model that
    shares them.
    """

    is_remote = False  # whether a call is a trip over a network, so that callers should batch calls

    def __init__(self, shards: Sequence[Shard], pool: SharedPool | None = None) -> None:
        warn_if_interpreted()
        self.shards = list(shards)
        self.n_features = self.shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.rows) for shard in self.shards)
        self._shared = SharedPool(len(self.shards)) if pool is None else pool
        self._pool = self._shared.acquire()

    @property
    def is_single_shard(self) -> bool:
        """Whether one local shard holds all rows, and those of each class contiguously."""
        first = self.shards[0]
        return len(self.shards) == 1 and (first.pieces is None or len(first.starts) == 2)

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *raised: object) -> None:
        self._shared.release()

    def call(self, calls: Sequence[Call[Any]], n_rows: int | None = None) -> list[Any]:
        """Make calls to every shard, in their order; return one reduced answer for each.

        In parallel, unless the work is on so few rows (`n_rows`) that waking a thread would take
        longer.
        """
        if self._pool is None:
            # The answer of the only shard is the sum of all.
            shard, answers = self.shards[0], []
            for call in calls:
                answers.append(call.answer(shard))
            return answers
        parts = self._map(lambda shard: [call.answer(shard) for call in calls], n_rows)
        return [call.reduce([part[i] for part in parts]) for i, call in enumerate(calls)]

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
