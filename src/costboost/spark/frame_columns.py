"""The columns of a DataFrame that a fit reads, settled on the driver before any row is read.

    features   several columns of numbers, booleans or strings, or one of vectors or arrays
    label, weight, the columns that costs are read from, and a row id

All of them are selected once, under their own names; vectors become arrays (sparse ones dense),
decimals doubles.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.shards.parts import RawRows
from costboost.typing import Floats

__all__ = [
    "FrameColumns",
    "check_there",
    "price_columns",
    "quoted",
    "read_columns",
    "PartitionRows",
    "RowReader",
    "deal_rows",
]

MAX_WIDTH = 65_536  # of vectors: wider ones are sparse, and would not fit if made dense

_NUMBERS = frozenset(
    ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"]
)
_WHOLE = frozenset(["tinyint", "smallint", "int", "bigint"])


@dataclass(frozen=True)
class FrameColumns:
    """Names of columns, by what they are for.

    Attributes
    ----------
    features : tuple of str
        Those of scalars; or the one of vectors.
    width : int or None
        The length of vectors; None: features are scalars.
    label, weight, row_id : str or None
    prices : tuple of str
        The columns that costs are read from.
    """

    features: tuple[str, ...]
    width: int | None
    label: str | None = None
    weight: str | None = None
    prices: tuple[str, ...] = ()
    row_id: str | None = None

    @property
    def all(self) -> list[str]:
        """Every column once."""
        single = (self.label, self.weight, self.row_id)
        named = [*self.features, *self.prices, *(name for name in single if name is not None)]
        return list(dict.fromkeys(named))

    @property
    def feature_names(self) -> list[str]:
        """A name for every feature; entries of vectors are numbered."""
        if self.width is None:
            return list(self.features)
        return [f"{self.features[0]}[{i}]" for i in range(self.width)]

    def expressions(self, frame: Any) -> list[Any]:
        """Return the columns of a DataFrame in types that Arrow has too."""
        return [_plain(frame, name) for name in self.all]

    def select(self, frame: Any) -> Any:
        """Return a DataFrame of these columns alone."""
        return frame.select(*self.expressions(frame))


def _plain(frame: Any, name: str) -> Any:
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions

    column = functions.col(quoted(name))
    kind = _kind(frame, name)
    if kind == "vector":
        return vector_to_array(column).alias(name)
    if kind.startswith("decimal"):
        return column.cast("double").alias(name)
    return column


def quoted(name: str) -> str:
    """Return a name as Spark reads it, dots and all."""
    return "`" + name.replace("`", "``") + "`"


def _kind(frame: Any, name: str) -> str:
    """Return the type of a column in Spark's words, "vector" for those of `pyspark.ml`."""
    kind = frame.schema[name].dataType
    return "vector" if type(kind).__name__ == "VectorUDT" else str(kind.simpleString())


def read_columns(
    frame: Any,
    *,
    features_col: str | None,
    feature_cols: Sequence[str] | None,
    costs: Costs,
    label_col: str | None = None,
    weight_col: str | None = None,
    row_id_col: str | None = None,
    width: int | None = None,
) -> FrameColumns:
    """Find the columns, and refuse what cannot be trained on.

    Parameters
    ----------
    frame : DataFrame
    features_col : str or None
        A column of vectors or arrays; used where `feature_cols` is None.
    feature_cols : sequence of str or None
    costs : Costs
        Constant or by column.
    label_col, weight_col, row_id_col : str or None
    width : int or None
        The length of vectors, where it is known; otherwise the first row is looked at.
    """
    prices = price_columns(costs)
    single = {"label_col": label_col, "weight_col": weight_col, "row_id_col": row_id_col}
    for parameter, name in single.items():
        if name is not None:
            check_there(frame, parameter, name)
    for name in prices:
        check_there(frame, "costs", name)
    if row_id_col is not None and _kind(frame, row_id_col) not in _WHOLE:
        raise ValueError(
            f"row_id_col={row_id_col!r} has type {_kind(frame, row_id_col)}: rows are put in order "
            "by whole numbers (int or bigint), each of which stands once."
        )
    if feature_cols is not None:
        features, width = _check_scalars(frame, feature_cols), None
    else:
        assert features_col is not None
        features, width = (features_col,), _check_vectors(frame, features_col, width)
    return FrameColumns(features, width, label_col, weight_col, prices, row_id_col)


def check_there(frame: Any, parameter: str, name: str) -> None:
    """Refuse a column that is not there."""
    if name not in frame.columns:
        raise ValueError(
            f"{parameter} names {name!r}, which is no column of the DataFrame: its columns are "
            f"{frame.columns}."
        )


def price_columns(costs: Costs) -> tuple[str, ...]:
    """Return the columns that costs are read from; those of functions are unknown."""
    if costs.n_rows is not None:
        raise ValueError(
            f"{costs!r} holds prices of {costs.n_rows} rows, and the rows of a DataFrame have no "
            "positions: put the prices into a column and name it, such as Costs(fp=8, fn='amount')."
        )
    if not costs.names_every_column:
        raise ValueError(
            "These costs are read by a function of the table, which does not say what columns it "
            "needs. Name a column, or write the function as an expression: "
            "Costs(fp=8, fn=costboost.costs.expression('0.4 * amount + 25'))."
        )
    return tuple(costs.column_names)


def _check_scalars(frame: Any, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not names or len(set(names)) < len(names):
        raise ValueError(
            f"feature_cols={names!r} must be a list of different columns; a single column of "
            "vectors is features_col."
        )
    for name in names:
        check_there(frame, "feature_cols", name)
        kind = _kind(frame, name)
        if kind not in _NUMBERS and not kind.startswith("decimal"):
            raise ValueError(
                f"feature_cols names {name!r} of type {kind}: numbers, booleans and strings (as "
                "categories) can be trained on. Turn dates into numbers, and give vectors as "
                "features_col."
            )
    return tuple(names)


def _check_vectors(frame: Any, name: str, width: int | None) -> int:
    check_there(frame, "features_col", name)
    kind = _kind(frame, name)
    if kind not in ("vector", "array<double>", "array<float>"):
        raise ValueError(
            f"features_col={name!r} has type {kind}: give a column of vectors (as VectorAssembler "
            "makes them) or arrays of floats, or name scalar columns in feature_cols."
        )
    if width is None:
        width = _look_at_width(frame, name)
    if width > MAX_WIDTH:
        raise ValueError(
            f"The vectors of {name!r} have {width:,} entries. Trees here are grown on dense "
            f"columns, at most {MAX_WIDTH:,}: hash to fewer (HashingTF's numFeatures), select some "
            "(UnivariateFeatureSelector), or train locally, where sparse matrices are taken."
        )
    return width


def _look_at_width(frame: Any, name: str) -> int:
    """Return the length of vectors: as their metadata say, or that of the first row."""
    known = frame.schema[name].metadata.get("ml_attr", {}).get("num_attrs")
    if known is not None:
        return int(known)
    first = frame.select(quoted(name)).first()
    if first is None:
        raise ValueError("The DataFrame has no rows: there is nothing to train on.")
    if first[0] is None:
        raise ValueError(
            f"features_col={name!r} is null in the first row: drop such rows, or impute them."
        )
    return len(first[0])


# The rows of a partition: batches of Arrow as a source of `costboost.shards.parts`.


@dataclass(frozen=True)
class RowReader:
    """Reads batches; picklable, made on the driver.

    Parameters
    ----------
    columns : FrameColumns
    schema : pyarrow.Schema
        Of the batches: an empty partition has none of its own.
    """

    columns: FrameColumns
    schema: Any

    @classmethod
    def of(cls, rows: Any, columns: FrameColumns) -> RowReader:
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

    def read(self) -> RawRows:
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
        return RawRows(features_of(table, columns), y, weights, prices)


def features_of(table: Any, columns: FrameColumns) -> Any:
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


def _floats(table: Any, name: str) -> Floats:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _check_row_ids(table: Any, columns: FrameColumns) -> None:
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


# Rows in an order that does not depend on partitions, dealt evenly to the tasks.


def deal_rows(
    frame: Any, columns: FrameColumns, n_tasks: int, checkpoint: str | Path | None = None
) -> Any:
    """Return the rows sorted and in so many partitions; refuse rows that lack something.

    Parameters
    ----------
    frame : DataFrame
        Of these columns (`FrameColumns.select`).
    columns : FrameColumns
    n_tasks : int
    checkpoint : path-like, optional
        Beside this file, bounds are kept.
    """
    from pyspark.sql import functions

    mark = f"row_{secrets.token_hex(4)}"
    number = (
        functions.monotonically_increasing_id()
        if columns.row_id is None
        else functions.col(quoted(columns.row_id)).cast("long")
    )
    numbered = frame.withColumn(mark, number)
    bounds = _kept_bounds(checkpoint, n_tasks, _find_bounds(numbered, columns, mark, n_tasks))
    task = sum(((functions.col(mark) >= bound).cast("int") for bound in bounds), functions.lit(0))
    dealt = numbered.repartitionById(n_tasks, task) if n_tasks > 1 else numbered.repartition(1)
    return dealt.sortWithinPartitions(mark).drop(mark)


def _find_bounds(numbered: Any, columns: FrameColumns, mark: str, n_tasks: int) -> list[int]:
    """Return the first number of every task but the first, and check what all rows must have."""
    from pyspark.sql import functions

    needed = {
        "row_id_col": columns.row_id,
        "label_col": columns.label,
        "weight_col": columns.weight,
    }
    given = {parameter: name for parameter, name in needed.items() if name is not None}
    nulls = [
        functions.count_if(functions.col(quoted(name)).isNull()).alias(p)
        for p, name in given.items()
    ]
    shares = [i / n_tasks for i in range(1, n_tasks)]
    cuts = [functions.percentile_approx(mark, shares, 10_000).alias("cuts")] if shares else []
    facts = numbered.agg(functions.count(functions.lit(1)).alias("n_rows"), *nulls, *cuts).first()
    if facts["n_rows"] == 0:
        raise ValueError("The DataFrame has no rows: there is nothing to train on.")
    for parameter, name in given.items():
        if facts[parameter]:
            raise ValueError(
                f"{parameter}={name!r} is null in {facts[parameter]} of {facts['n_rows']} rows: "
                "drop these rows, or fill it in."
            )
    # The cut itself is the last row of its share.
    return [cut + 1 for cut in facts["cuts"]] if shares else []


def _kept_bounds(checkpoint: str | Path | None, n_tasks: int, found: list[int]) -> list[int]:
    """Return the bounds of a fit that was begun before, if it was; else keep those found."""
    if checkpoint is None:
        return found
    path = Path(f"{checkpoint}.bounds")
    if not Path(checkpoint).exists() or not path.exists():
        path.write_text(json.dumps(found))
        return found
    kept: list[int] = json.loads(path.read_text())
    if len(kept) != n_tasks - 1:
        raise ValueError(
            f"checkpoint={str(checkpoint)!r} was begun with {len(kept) + 1} tasks, and there are "
            f"{n_tasks} now: give num_workers={len(kept) + 1}, or remove the file to start anew."
        )
    return kept
