"""A table in files for a fit: its parts in this process, messages to them in threads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from costboost.binning.partitioned import fit_partitioned_binner
from costboost.files.arrow import pa
from costboost.fitting.spread import PartsTable
from costboost.runtime.machine import AFTER, EVERY, TerminalLine, release_memory
from costboost.runtime.messages import Message
from costboost.shards.parts import RowSource, TablePart
from costboost.shards.scratch import ThreadScratch
from costboost.typing import Floats

__all__ = ["StepProgress", "FileTable", "InProcess"]


# Progress of reading, binning and writing, on the terminal.

_WIDTH = 20


class StepProgress:
    """Shows the progress of steps on a terminal; silent elsewhere.

    Parameters
    ----------
    shown : bool or None
        None: where the stream is a terminal.
    stream : text file or None
        Where lines are written; None: the standard error.
    """

    def __init__(self, shown: bool | None = None, stream: Any = None) -> None:
        stream = sys.stderr if stream is None else stream
        looked_at = bool(getattr(stream, "isatty", lambda: False)())
        self.shown = looked_at if shown is None else shown
        self._line, self._start, self._last = TerminalLine(stream), time.monotonic(), 0.0

    def __call__(self, what: str, done: int, total: int, unit: str) -> None:
        """Show that `done` of `total` units of a step are done."""
        now = time.monotonic()
        seconds = now - self._start
        if not self.shown or seconds < AFTER or (now - self._last < EVERY and done < total):
            return
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._line.write(f"costboost: {what:<8} [{bar}] {done}/{total} {unit}   {seconds:.0f} s")
        self._last = now

    def clear(self) -> None:
        """Clear the line, if one is shown."""
        self._line.clear()


_HELD_A_ROW = 24  # bytes of sorted columns while bins are found: fewer than rounds will need
_HELD_LEAST, _HELD_MOST = 1 << 26, 1 << 30

Orders = Sequence[Message | Sequence[Message]]


class InProcess:
    """Carries messages to parts in this process.

    Parameters
    ----------
    sources : sequence of RowSource
    n_threads : int
        Parts are asked by so many threads; answers do not depend on it.
    """

    def __init__(self, sources: Sequence[RowSource], n_threads: int = 1) -> None:
        thread_scratch = ThreadScratch()
        self.parts = [TablePart(source, thread_scratch) for source in sources]
        n_threads = min(n_threads, len(self.parts))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def send(self, orders: Orders, on_part: Callable[[int], None] | None = None) -> list[Any]:
        """Send messages to all parts, or one of each list to each part; return reduced answers.

        `on_part` is called with the number of parts that have answered.
        """
        each = [[order] * self.n_parts if isinstance(order, Message) else order for order in orders]
        answers = self._ask(list(zip(*each, strict=True)), on_part)
        return [
            messages[0].reduce([answer[i] for answer in answers]) for i, messages in enumerate(each)
        ]

    def _ask(
        self, orders: list[tuple[Message, ...]], on_part: Callable[[int], None] | None
    ) -> list[list[Any]]:
        walk = map if self._pool is None else self._pool.map
        answers = []
        for answer in walk(_answer, self.parts, orders):
            answers.append(answer)
            if on_part is not None:
                on_part(len(answers))
        return answers

    def close(self) -> None:
        """End the threads, and let go of all parts."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self.parts.clear()


def _answer(part: TablePart, messages: tuple[Message, ...]) -> list[Any]:
    try:
        return [message.answer(part) for message in messages]
    except Exception as error:
        if str(part.source) not in getattr(error, "__notes__", ()):
            error.add_note(str(part.source))
        raise


class FileTable(PartsTable):
    """A table in files, as trainers see it; says how far it has come."""

    def __init__(
        self, cluster: InProcess, names: Sequence[str], progress: StepProgress, *, targets: bool
    ) -> None:
        self.progress, self._here = progress, cluster
        super().__init__(cluster, names, targets=targets)

    def fit_binner(self, weights: Floats | None, max_bins: int, categorical: Any) -> None:
        """Learn how to bin the columns: exactly as if all rows were in one place."""
        self.binner = fit_partitioned_binner(
            self.cluster.send,
            max_bins=max_bins,
            categorical_features=categorical,
            held_bytes=min(max(_HELD_A_ROW * self.n_rows, _HELD_LEAST), _HELD_MOST),
            on_column=lambda done, total: self.progress("bins", done, total, "columns"),
        )
        _release_memory()

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
            _release_memory()


def _release_memory() -> None:
    """Free the memory that reading needed; rounds need none of it."""
    pa.default_memory_pool().release_unused()
    release_memory()
