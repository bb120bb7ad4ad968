"""A table in Parquet files, as users name it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sklearn.base import is_regressor

from costboost.costs import Costs, as_costs
from costboost.files.finding import column_kinds, cut_parts, find_files, kind_of, pa, read_files
from costboost.files.running import FileTable, InProcess, StepProgress, answer_in_batches
from costboost.files.sources import ParquetColumns, RowGroups, make_folder, prices_of
from costboost.fitting.plan import refuse_if_remote
from costboost.inputs.checks import check_number, count_threads
from costboost.runtime.machine import need

__all__ = ["ParquetTable"]

_ROW_NUMBER = 4  # bytes of a row in the cache, beside its codes


class Opened(NamedTuple):
    """The opened table, as a fit takes it."""

    X: FileTable
    costs: Costs | None


class ParquetTable:
    """A table in Parquet files, to be trained on and predicted for.

    Its rows are never in memory as a whole. A fit reads each column once to find its bins and once
    to write codes, one byte per cell, which are mapped into memory; rounds read codes only. The
    model is that of the same rows in memory, in the order of the files, bit for bit.

    Parameters
    ----------
    path : str, path, or list of those
        A file, a folder of files, a pattern such as ``"rows-*.parquet"``, or a list. Files found
        by a folder or a pattern are taken in the order of their names.
    label : str, default=None
        The column of classes, or of targets; needed to fit.
    costs : Costs, dict or array-like of shape (K, K), default=None
        What mistakes cost: constant, by the name of a column, by an expression, or by a function,
        which gets a pandas DataFrame of all columns of some rows. Prices may be read from columns
        that are no features.
    weight : str, default=None
        The column of weights.
    features : list of str, default=None
        The columns to learn from. By default all but `label`, `weight` and `row_id`.
    row_id : str, default=None
        A column that names the rows: no feature, and written beside what is predicted for them.
    cache : str or path, default=None
        A folder that keeps codes for the next fit with the same bins on the same files. By
        default codes are in a temporary folder, which is removed after the fit. Whoever may
        write to it decides what is learnt: a new one is made for its owner alone (mode 0700).
    part_rows : int, default=1048576
        Neighbouring row groups are worked on together, so many rows or one group at a time. The
        model does not depend on it.
    progress : bool, default=None
        Whether to show how far reading and writing are; by default on a terminal, unless the
        model is set to be silent, ``verbose=0``.

    Attributes
    ----------
    files : list of str
    features : tuple of str
    n_rows : int

    Examples
    --------
    >>> import tempfile, os
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from costboost import CostBoostClassifier, Costs, ParquetTable
    >>> rng = np.random.default_rng(0)
    >>> amount, late = rng.lognormal(size=500), rng.random(500)
    >>> rows = pa.table({"amount": amount, "late": late, "default": late + rng.random(500) > 1.2})
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "loans.parquet")
    >>> pq.write_table(rows, path, row_group_size=100)
    >>> table = ParquetTable(path, label="default", costs=Costs(fp=0.5, fn="amount"))
    >>> table
    ParquetTable(1 file, 500 rows, 2 features, label='default')
    >>> model = CostBoostClassifier("adamec", n_estimators=10, random_state=0).fit(table)
    >>> sum(len(batch) for batch in model.predict(table))
    500
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: Any,
        label: str | None = None,
        costs: Any = None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        row_id: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        part_rows: int = 1 << 20,
        progress: bool | None = None,
    ) -> None:
        need("pyarrow", "ParquetTable")
        check_number("part_rows", part_rows, low=1, whole=True)
        self.label, self.weight, self.row_id = label, weight, row_id
        self.costs = None if costs is None else as_costs(costs)
        self.cache, self.part_rows, self.progress = cache, int(part_rows), progress
        self._files, schemas = read_files(find_files(path))
        self.files = [file.path for file in self._files]
        self.n_rows = sum(sum(file.group_rows) for file in self._files)
        self.column_names = tuple(schemas[0].names)
        self._check_names(schemas)
        self.features = self._read_features(features)
        self._schemas = schemas
        self._check_costs(self.costs)
        if not self.n_rows:
            raise ValueError(f"The files hold no rows: {_some(self.files)}.")

    def __repr__(self) -> str:
        n_files = len(self.files)
        label = "" if self.label is None else f", label={self.label!r}"
        return (
            f"ParquetTable({n_files} file{'s' if n_files > 1 else ''}, {self.n_rows} rows, "
            f"{len(self.features)} features{label})"
        )

    def __len__(self) -> int:
        return self.n_rows

    # What is checked when it is made.

    def _check_names(self, schemas: list[pa.Schema]) -> None:
        known = set(self.column_names)
        if len(known) < len(self.column_names):
            twice = [name for name in known if self.column_names.count(name) > 1]
            raise ValueError(f"{self.files[0]} has two columns {twice[0]!r}: give each its name.")
        for path, schema in zip(self.files, schemas, strict=True):
            if set(schema.names) != known or len(schema.names) != len(self.column_names):
                odd = sorted(set(schema.names) ^ known) or schema.names
                raise ValueError(
                    f"{path} does not have the columns of {self.files[0]}: they differ in "
                    f"{_some(odd)}. Write all files with the same columns, or list only those "
                    "files that belong together."
                )
        for name, column in self._special():
            if column not in known:
                raise self._no_column(f"{name}={column!r}")
        used = [column for _, column in self._special()]
        if len(set(used)) < len(used):
            raise ValueError(
                f"label={self.label!r}, weight={self.weight!r} and row_id={self.row_id!r} must be "
                "different columns."
            )
        if self.weight is not None:
            for path, schema in zip(self.files, schemas, strict=True):
                dtype = schema.field(self.weight).type
                if kind_of(dtype) != "numbers":
                    raise ValueError(
                        f"{path}: weight={self.weight!r} has the type {dtype}; weights must be "
                        "numbers."
                    )

    def _special(self) -> list[tuple[str, str]]:
        named = [("label", self.label), ("weight", self.weight), ("row_id", self.row_id)]
        return [(name, column) for name, column in named if column is not None]

    def _no_column(self, given: str) -> ValueError:
        return ValueError(
            f"{given} is no column of these files: they have {_some(self.column_names)}."
        )

    def _read_features(self, features: Sequence[str] | None) -> tuple[str, ...]:
        special = {column: name for name, column in self._special()}
        if features is None:
            found = tuple(name for name in self.column_names if name not in special)
            if not found:
                raise ValueError("No column is left to learn from: the files need features.")
            return found
        if isinstance(features, str) or not features:
            raise ValueError(f"features={features!r} must be a list of columns, at least one.")
        for name in features:
            if name not in self.column_names:
                raise self._no_column(f"features has {name!r}, which")
            if name in special:
                raise ValueError(
                    f"features has {name!r}, which is the {special[name]}: a model would learn "
                    "what it is to predict or to be weighed by. Leave it out."
                )
        if len(set(features)) < len(features):
            raise ValueError("features names a column twice: name each once.")
        return tuple(features)

    def _check_costs(self, costs: Costs | None) -> None:
        if costs is None:
            return
        if costs.n_rows is not None:
            raise ValueError(
                f"{costs!r} has {costs.n_rows} rows in memory, while the table is in files. Name "
                "the column that holds the prices, such as Costs(fp=8, fn='amount')."
            )
        for name in costs.column_names:
            if name not in self.column_names:
                raise self._no_column(f"The costs read {name!r}, which")

    # Fitting.

    @contextmanager
    def open_for(self, estimator: Any, costs: Any = None) -> Iterator[Opened]:
        """Open the table for a fit; codes and threads end with the block."""
        wanted = self.costs if costs is None else as_costs(costs)
        self._check_costs(wanted)
        refuse_if_remote(estimator, FileTable)
        if self.label is None:
            raise ValueError("To fit, name the column of labels: ParquetTable(..., label=...).")
        n_threads = count_threads(estimator.n_jobs)
        folder = make_folder(self.cache)
        cluster, shown = None, StepProgress(self._shown(estimator))
        try:
            folder.check_space(self.n_rows * (len(self.features) + _ROW_NUMBER))
            columns = self._columns(wanted)
            parts = cut_parts(self._files, min(self.part_rows, -(-self.n_rows // n_threads)))
            sources = [RowGroups(part, columns, folder) for part in parts]
            cluster = InProcess(sources, n_threads)
            table = FileTable(cluster, self.features, shown, targets=is_regressor(estimator))
            yield Opened(table, wanted)
        finally:
            shown.clear()
            if cluster is not None:
                cluster.close()
            folder.close()

    def _shown(self, estimator: Any) -> bool | None:
        """Return whether to show progress: as the table sets it, else as the model does."""
        silent = self.progress is None and getattr(estimator, "verbose", 0) == 0
        return False if silent else self.progress

    def _columns(self, costs: Costs | None) -> ParquetColumns:
        kinds = column_kinds(self.features, self.files, self._schemas)
        assert self.label is not None
        return ParquetColumns(
            self.features,
            tuple(kinds[name] for name in self.features),
            self.label,
            self.weight,
            prices_of(costs),
        )

    # Predicting.

    def answers(self, model: Any, method: str, **options: Any) -> Any:
        """Apply a method of a model to all rows; see `predicting.answer_in_batches`."""
        return answer_in_batches(self, model, method, **options)


def _some(names: Sequence[str]) -> str:
    listed = list(names)
    return repr(listed) if len(listed) <= 10 else f"{listed[:10]} and {len(listed) - 10} others"
