"""A table in files at work: parts and messages of a fit, and predictions batch by batch."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.costs import Costs, as_costs
from costboost.files.finding import DataFile, open_file, pa, pq
from costboost.files.sources import as_pandas, prices_of
from costboost.fitting.spread import PartsTable
from costboost.inputs.checks import check_number
from costboost.runtime.machine import AFTER, EVERY, TerminalLine, ThreadScratch, release_memory
from costboost.runtime.messages import Call
from costboost.shards.parts import RowSource, TablePart

__all__ = ["FileTable", "InProcess", "StepProgress", "answer_in_batches"]


# ---- Progress of reading, binning and writing, on the terminal.

_WIDTH = 20


class StepProgress:
    """Shows the progress of steps on a terminal; silent where there is none.

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

Orders = Sequence[Call[Any] | Sequence[Call[Any]]]


class InProcess:
    """Carries messages to parts in this process.

    Parameters
    ----------
    sources : sequence of RowSource
    n_threads : int
        Number of threads that parts run in; answers do not depend on it.
    """

    def __init__(self, sources: Sequence[RowSource], n_threads: int = 1) -> None:
        thread_scratch = ThreadScratch()
        self.parts = [TablePart(source, thread_scratch) for source in sources]
        n_threads = min(n_threads, len(self.parts))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.parts)

    def send(self, orders: Orders, on_part: Callable[[int], None] | None = None) -> list[Any]:
        """Send messages to all parts, or one of each list to each part; return reduced answers.

        `on_part` is called with the number of parts that have answered.
        """
        each = [[order] * self.n_parts if isinstance(order, Call) else order for order in orders]
        answers = self._ask(list(zip(*each, strict=True)), on_part)
        return [
            messages[0].reduce([answer[i] for answer in answers]) for i, messages in enumerate(each)
        ]

    def _ask(
        self, orders: list[tuple[Call[Any], ...]], on_part: Callable[[int], None] | None
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


def _answer(part: TablePart, messages: tuple[Call[Any], ...]) -> list[Any]:
    try:
        return [message.answer(part) for message in messages]
    except Exception as error:
        if str(part.source) not in getattr(error, "__notes__", ()):
            error.add_note(str(part.source))
        raise


class FileTable(PartsTable):
    """A table in files, as trainers see it; it shows its progress."""

    def __init__(
        self, cluster: InProcess, names: Sequence[str], progress: StepProgress, *, targets: bool
    ) -> None:
        self.progress, self._here = progress, cluster
        super().__init__(cluster, names, targets=targets)

    def _binning_options(self) -> dict[str, Any]:
        return {
            "held_bytes": min(max(_HELD_A_ROW * self.n_rows, _HELD_LEAST), _HELD_MOST),
            "on_column": lambda done, total: self.progress("bins", done, total, "columns"),
        }

    def fit_binner(self, *args: Any) -> None:
        """Learn how to bin the columns: exactly as if all rows were in one place."""
        super().fit_binner(*args)
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


_PREFIXES = {"predict_proba": "probability", "expected_cost": "cost"}


class Files(Protocol):
    """The parts of a `ParquetTable` that prediction uses."""

    column_names: tuple[str, ...]
    n_rows: int
    costs: Costs | None
    row_id: str | None
    progress: bool | None
    _files: list[DataFile]


def answer_in_batches(
    table: Any,
    model: Any,
    method: str,
    costs: Any = None,
    out: str | os.PathLike[str] | None = None,
    batch_rows: int = 1 << 17,
    **options: Any,
) -> Any:
    """Apply a method of a model to all rows of a table, batch by batch.

    Parameters
    ----------
    table : ParquetTable
    model : fitted estimator
    method : {"predict", "predict_proba", "expected_cost", "decision_function"}
    costs : as in the method, default=None
        By default those of the table, if it has any, else the model's own.
    out : str or path, default=None
        A new Parquet file: a column "prediction", or one for each class or action, and the
        table's `row_id` if it has one, in the order of the table.
    batch_rows : int, default=131072
        At most so many rows are in memory at once.
    **options
        What else the method takes, such as ``interval=`` of ``expected_cost``.

    Returns
    -------
    iterator of ndarray, or str
        One array for each batch of rows, in their order; with `out` its path.
    """
    check_is_fitted(model)
    check_number("batch_rows", batch_rows, low=1, whole=True)
    asking = _Asking(table, model, method, costs, options)
    if out is None:
        return (answer for answer, _, _ in asking.batches(int(batch_rows)))
    return _write(asking, os.fspath(out), int(batch_rows))


class _Asking:
    """One method of one model, and the columns it needs of each batch."""

    def __init__(
        self, table: Files, model: Any, method: str, costs: Any, options: dict[str, Any]
    ) -> None:
        self.table, self.model, self.method, self.options = table, model, method, options
        self.features = self._features()
        self.costs = self._costs(costs)

    def _features(self) -> list[str]:
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"This {type(self.model).__name__} was fitted on columns without names, so it is "
                "not known which columns of the files are meant: fit it on a DataFrame or a "
                "ParquetTable."
            )
        lacking = [name for name in names.tolist() if name not in self.table.column_names]
        if lacking:
            raise ValueError(
                f"The model was fitted on the columns {lacking[:10]}, which these files do not "
                "have."
            )
        return list(names.tolist())

    def _costs(self, given: Any) -> Costs | None:
        """Return the costs to decide by; None: the model needs none, or uses its own."""
        if self.method not in ("predict", "expected_cost") or not hasattr(self.model, "classes_"):
            if given is not None:
                raise ValueError(f"{self.method} takes no costs.")
            return None
        if given is None and not self.model._decides_by_costs():
            return None
        wanted = as_costs(given) if given is not None else self.table.costs
        if wanted is None and self.model.costs_.needs_table:
            wanted = self.model.costs_
        if wanted is not None and wanted.n_rows is not None:
            raise ValueError(
                f"{wanted!r} has {wanted.n_rows} rows in memory, while the table is in files. Name "
                "the column that holds the prices, such as Costs(fp=8, fn='amount')."
            )
        lacking = [] if wanted is None else set(wanted.column_names) - set(self.table.column_names)
        if lacking:
            raise ValueError(f"The costs read {sorted(lacking)}, which these files do not have.")
        return wanted

    def batches(self, n_rows: int) -> Iterator[tuple[NDArray[Any], list[str], pa.RecordBatch]]:
        """Yield the answers to batches of rows, the names of their columns, and the rows."""
        shown = StepProgress(self.table.progress)
        done = 0
        for file in self.table._files:
            file.check()
            with open_file(file.path) as opened:
                for batch in opened.iter_batches(n_rows, columns=self._needed()):
                    if batch.num_rows:
                        yield (*self._answer(batch), batch)
                        done += batch.num_rows
                        shown(self.method, done, self.table.n_rows, "rows")
        shown.clear()

    def _needed(self) -> list[str] | None:
        prices = prices_of(self.costs)
        if prices is None:
            return None
        own = [] if self.table.row_id is None else [self.table.row_id]
        return list(dict.fromkeys([*self.features, *prices, *own]))

    def _answer(self, batch: pa.RecordBatch) -> tuple[NDArray[Any], list[str]]:
        rows = pa.Table.from_batches([batch])
        given = {} if self.costs is None else {"costs": self._bound(rows)}
        found = getattr(self.model, self.method)(
            rows.select(self.features), **given, **self.options
        )
        if hasattr(found, "columns"):  # a frame, by the model's or scikit-learn's own setting
            names = list(getattr(found, "column_names", found.columns))
            columns = [np.asarray(found[name]) for name in names]
            return np.column_stack(columns), [str(name) for name in names]
        return found, self._names(found)

    def _bound(self, rows: pa.Table) -> Costs:
        assert self.costs is not None
        frame = rows if self.costs.names_every_column else as_pandas(rows)
        return self.costs.bind_table(frame)

    def _names(self, found: NDArray[Any]) -> list[str]:
        return [] if found.ndim == 1 else [str(name) for name in self.model.classes_.tolist()]


def _write(asking: _Asking, path: str, batch_rows: int) -> str:
    """Write answers to a new file, which appears when it is whole."""
    if os.path.exists(path):
        raise FileExistsError(f"out={path!r} is there already: name a new file, or remove it.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"out={path!r}: there is no folder {folder!r}.")
    unfinished = f"{path}.{os.getpid()}.part"
    try:
        _write_batches(asking, unfinished, batch_rows)
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
    return path


def _write_batches(asking: _Asking, path: str, batch_rows: int) -> None:
    writer = None
    try:
        for answer, names, batch in asking.batches(batch_rows):
            columns = _columns(asking.method, answer, names)
            if asking.table.row_id is not None:
                columns = {asking.table.row_id: batch.column(asking.table.row_id), **columns}
            rows = pa.table(columns)
            writer = pq.ParquetWriter(path, rows.schema) if writer is None else writer
            writer.write_table(rows.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()


def _columns(method: str, answer: NDArray[Any], names: Sequence[str]) -> dict[str, Any]:
    if answer.ndim == 1:
        name = "prediction" if method == "predict" else method
        return {name: pa.array(answer.tolist() if answer.dtype == object else answer)}
    prefix = _PREFIXES.get(method, method)
    return {f"{prefix}_{name}": answer[:, k] for k, name in enumerate(names)}
