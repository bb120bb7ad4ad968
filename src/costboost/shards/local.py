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

from costboost.runtime.compiled import warn_if_interpreted
from costboost.shards.messages import Message
from costboost.shards.rows import Shard

R = TypeVar("R")

_CELLS_PER_CALL = 100_000  # below this waking a thread takes longer: some 50 us of work


class Crew:
    """Threads for all shards but the first, of a model or of several that work in turn.

    They start with the first model and end with the last. Every thread keeps some memory of its
    own, so that models in step had better not have threads each.
    """

    def __init__(self, size: int) -> None:
        self._size, self._models = size, 0
        self._pool: ThreadPoolExecutor | None = None

    def hire(self) -> ThreadPoolExecutor | None:
        """Return the threads for one more model; None where one shard needs no other."""
        self._models += 1
        if self._pool is None and self._size > 1:
            self._pool = ThreadPoolExecutor(self._size - 1)
        return self._pool

    def dismiss(self) -> None:
        """Let the threads of a model go, if it is the last."""
        self._models -= 1
        if self._models == 0 and self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Shards:
    """All shards of one fit and the threads that work on them.

    Used as a context manager: the threads end with the block, or with that of the last model of the
    crew.
    """

    far = False  # a question more takes no time but that of the answer

    def __init__(self, shards: Sequence[Shard], crew: Crew | None = None) -> None:
        warn_if_interpreted()
        self.shards = list(shards)
        self.n_features = self.shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.rows) for shard in self.shards)
        self._crew = Crew(len(self.shards)) if crew is None else crew
        self._pool = self._crew.hire()

    @property
    def alone(self) -> bool:
        """Whether one shard, in this process, holds all rows, and those of each class together."""
        first = self.shards[0]
        return len(self.shards) == 1 and (first.pieces is None or len(first.starts) == 2)

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *raised: object) -> None:
        self._crew.dismiss()

    def call(self, messages: Sequence[Message], n_rows: int | None = None) -> list[Any]:
        """Send messages to every shard, one after the other; return the reduced answers.

        In parallel, unless the work is on so few rows (`n_rows`) that waking a thread would take
        longer.
        """
        if self._pool is None:
            shard = self.shards[0]
            return [message.reduce([message.answer(shard)]) for message in messages]
        parts = self._map(lambda shard: [message.answer(shard) for message in messages], n_rows)
        return [message.reduce([part[i] for part in parts]) for i, message in enumerate(messages)]

    def _map(self, function: Callable[[Shard], R], n_rows: int | None) -> list[R]:
        """Call a function on every shard; results in the order of the shards.

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
        """Return a per-row array of all shards, in the order of the table: here only.

        For outside learners, users' losses and exact quantiles, which need all rows at once.
        """
        parts = [read(shard) for shard in self.shards]
        out = np.empty((self.n_rows, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for shard, part in zip(self.shards, parts, strict=True):
            out[shard.rows] = part
        return out

    def put(self, write: Callable[[Shard, NDArray[Any]], None], values: NDArray[Any]) -> None:
        """Give every shard its rows of an array in the order of the table: here only."""
        for shard in self.shards:
            write(shard, np.ascontiguousarray(values[shard.rows]))
