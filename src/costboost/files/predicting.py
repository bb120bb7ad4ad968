"""Predictions for a table in files, batch by batch: written to a file, or yielded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.costs import Costs, as_costs
from costboost.files.arrow import pa, pq
from costboost.files.finding import DataFile, open_file
from costboost.files.running import StepProgress
from costboost.files.sources import as_pandas, prices_of
from costboost.inputs.checks import check_number

__all__ = ["answer_in_batches"]

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

    Returns
    -------
    iterator of ndarray, or str
        One array for each batch of rows, in their order; with `out` its path.
    """
    check_is_fitted(model)
    check_number("batch_rows", batch_rows, low=1, whole=True)
    asking = _Asking(table, model, method, costs)
    if out is None:
        return (answer for answer, _, _ in asking.batches(int(batch_rows)))
    return _write(asking, os.fspath(out), int(batch_rows))


class _Asking:
    """One method of one model, and the columns it needs of each batch."""

    def __init__(self, table: Files, model: Any, method: str, costs: Any) -> None:
        self.table, self.model, self.method = table, model, method
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
        found = getattr(self.model, self.method)(rows.select(self.features), **given)
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
