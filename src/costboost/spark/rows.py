"""The rows of a partition: batches of Arrow as a source of `costboost.shards.parts`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.shards.parts import Raw
from costboost.spark.columns import Columns

__all__ = ["PartitionRows", "RowReader"]


@dataclass(frozen=True)
class RowReader:
    """How batches are read: picklable, made on the driver.

    Parameters
    ----------
    columns : Columns
    schema : pyarrow.Schema
        Of the batches: an empty partition has none of its own.
    """

    columns: Columns
    schema: Any

    @classmethod
    def of(cls, rows: Any, columns: Columns) -> RowReader:
        """Return a reader of a DataFrame's batches."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return cls(columns, to_arrow_schema(rows.schema))

    def source(self, batches: Iterable[Any]) -> PartitionRows:
        """Return the source of a partition's rows."""
        return PartitionRows(self, batches)


class PartitionRows:
    """The rows of one partition, which Spark hands over once."""

    def __init__(self, reader: RowReader, batches: Iterable[Any]) -> None:
        self._reader = reader
        self._batches: Iterable[Any] | None = batches

    def read(self) -> Raw:
        """Return the rows; nothing is kept of them here."""
        import pyarrow as pa

        if self._batches is None:
            raise RuntimeError("The rows of this partition were let go: the task starts again.")
        batches, self._batches = list(self._batches), None
        table = pa.Table.from_batches(batches, schema=None if batches else self._reader.schema)
        columns = self._reader.columns
        _check_row_ids(table, columns)
        y = np.zeros(0) if columns.label is None else _values(table, columns.label)
        weights = None if columns.weight is None else _floats(table, columns.weight)
        prices = table.select(list(columns.prices)) if columns.prices else None
        return Raw(features_of(table, columns), y, weights, prices)


def features_of(table: Any, columns: Columns) -> Any:
    """Return the features of a table of Arrow: a table, or an array of vectors."""
    if columns.width is None:
        return table.select(list(columns.features))
    return _dense(table, columns.features[0], columns.width)


def _dense(table: Any, name: str, width: int) -> NDArray[Any]:
    """Return vectors as a matrix."""
    vectors = table.column(name)
    lengths = np.asarray(_lengths(vectors))
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        found = int(lengths[wrong[0]])
        what = "a null" if found < 0 else f"a vector of {found} entries"
        raise ValueError(
            f"features_col={name!r} holds {what} where others have {width}: drop such rows, or "
            "make all vectors of one length."
        )
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in vectors.chunks]
    values = np.concatenate(flat) if flat else np.zeros(0)
    return values.reshape(len(lengths), width)


def _lengths(vectors: Any) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(pc.list_value_length(vectors), -1).to_numpy()


def _values(table: Any, name: str) -> NDArray[Any]:
    """Return labels as they are."""
    return np.asarray(table.column(name).to_numpy())


def _floats(table: Any, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _check_row_ids(table: Any, columns: Columns) -> None:
    """Refuse ids that stand twice; rows come sorted by them, equal ones in one partition."""
    if columns.row_id is None:
        return
    ids = table.column(columns.row_id).to_numpy()
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if len(twice):
        raise ValueError(
            f"row_id_col={columns.row_id!r} holds {ids[twice[0]]} more than once, so that the "
            "order of rows is not settled. Give every row an id of its own."
        )
