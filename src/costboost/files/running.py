"""Parts of a table in files, asked by the threads of this process, and their table for a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from costboost.binning.spread import spread_binner
from costboost.files.progress import Progress
from costboost.fitting.spread import PartsTable
from costboost.runtime.memory import give_back
from costboost.runtime.messages import Message
from costboost.shards.bench import Desk
from costboost.shards.parts import Part, Source

__all__ = ["FileTable", "InProcess"]

_HELD_A_ROW = 24  # bytes of sorted columns while bins are found: fewer than rounds will need
_HELD_LEAST, _HELD_MOST = 1 << 26, 1 << 30

Orders = Sequence[Message | Sequence[Message]]


class InProcess:
    """Carries messages to parts in this process.

    Parameters
    ----------
    sources : sequence of Source
    n_threads : int
        Parts are asked by so many threads; answers do not depend on it.
    """

    def __init__(self, sources: Sequence[Source], n_threads: int = 1) -> None:
        desk = Desk()
        self.parts = [Part(source, desk) for source in sources]
        n_threads = min(n_threads, len(self.parts))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def send(self, orders: Orders, told: Callable[[int], None] | None = None) -> list[Any]:
        """Send messages to all parts, or one of each list to each part; return reduced answers.

        `told` is told how many parts have answered.
        """
        each = [[order] * self.n_parts if isinstance(order, Message) else order for order in orders]
        answers = self._ask(list(zip(*each, strict=True)), told)
        return [
            messages[0].reduce([answer[i] for answer in answers]) for i, messages in enumerate(each)
        ]

    def _ask(
        self, orders: list[tuple[Message, ...]], told: Callable[[int], None] | None
    ) -> list[list[Any]]:
        walk = map if self._pool is None else self._pool.map
        answers = []
        for answer in walk(_answer, self.parts, orders):
            answers.append(answer)
            if told is not None:
                told(len(answers))
        return answers

    def close(self) -> None:
        """End the threads, and let go of all parts."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self.parts.clear()


def _answer(part: Part, messages: tuple[Message, ...]) -> list[Any]:
    try:
        return [message.answer(part) for message in messages]
    except Exception as error:
        if str(part.source) not in getattr(error, "__notes__", ()):
            error.add_note(str(part.source))
        raise


class FileTable(PartsTable):
    """A table in files, as trainers see it; says how far it has come."""

    def __init__(
        self, cluster: InProcess, names: Sequence[str], progress: Progress, *, targets: bool
    ) -> None:
        self.progress, self._here = progress, cluster
        super().__init__(cluster, names, targets=targets)

    def fit_binner(
        self, weights: NDArray[np.float64] | None, max_bins: int, categorical: Any
    ) -> None:
        """Learn how to bin the columns: exactly as if all rows were in one place."""
        self.binner = spread_binner(
            self.cluster.send,
            max_bins=max_bins,
            categorical_features=categorical,
            held_bytes=min(max(_HELD_A_ROW * self.n_rows, _HELD_LEAST), _HELD_MOST),
            told=lambda done, total: self.progress("bins", done, total, "columns"),
        )
        _give_back()

    def _encode(self) -> None:
        if not self._encoded:
            assert self.binner is not None
            n_parts = self.cluster.n_parts
            self._here.send(
                [self._encoders()],
                lambda done: self.progress("codes", done, n_parts, "parts"),
            )
            self._encoded = True
            self.progress.clear()
            _give_back()


def _give_back() -> None:
    """Let go of what reading needed: rounds need none of it."""
    pa.default_memory_pool().release_unused()
    give_back()
