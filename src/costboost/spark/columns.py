"""Which columns of a DataFrame a fit reads, settled on the driver before any row is looked at.

    features   several columns of numbers, booleans or strings, or one of vectors or arrays
    label, weight, the columns that costs are read from, and a row id

All of them are selected once, under their own names; vectors become arrays (sparse ones dense),
decimals doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from costboost.costs import Costs

__all__ = ["Columns", "check_there", "price_columns", "quoted", "read_columns"]

MAX_WIDTH = 65_536  # of vectors: wider ones are sparse, and would not fit if made dense

_NUMBERS = frozenset(
    ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"]
)
_WHOLE = frozenset(["tinyint", "smallint", "int", "bigint"])


@dataclass(frozen=True)
class Columns:
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
) -> Columns:
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
    return Columns(features, width, label_col, weight_col, prices, row_id_col)


def check_there(frame: Any, parameter: str, name: str) -> None:
    """Refuse a column that is not there."""
    if name not in frame.columns:
        raise ValueError(
            f"{parameter} names {name!r}, which is no column of the DataFrame: its columns are "
            f"{frame.columns}."
        )


def price_columns(costs: Costs) -> tuple[str, ...]:
    """Return the columns that costs are read from; functions do not say which."""
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
