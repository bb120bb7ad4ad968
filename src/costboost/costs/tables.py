"""Costs meet the table of their rows: columns are read, and the rows must be the same.

This happens once, where an estimator or a scorer is given a table, and before anything transforms
it. What comes out are ordinary costs per row, which need neither the table nor its index any more.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import _num_samples

from costboost.costs.binding import ROWS_CHANGED, check_rows
from costboost.costs.expressions import ExpressionError
from costboost.costs.labelled import index_of
from costboost.costs.state import Cell, Source, State
from costboost.inputs.arrays import FloatArray, freeze, read_numbers

__all__ = ["bind_table", "compute", "named_columns"]

_PIPELINE = (
    "If a pipeline transforms the table on the way, wrap it: CostColumns(pipeline, costs=...) "
    "reads the columns before anything does."
)


def bind_table(state: State, X: Any) -> State:
    """Read what costs take from a table; see `costboost.costs.Costs.bind_table`."""
    n_samples = _num_samples(X)
    _check_index(state, X)
    check_rows(state, n_samples, "X has")
    if not state.sources and state.index is None:
        return state
    cells = tuple(_read(cell, X, n_samples, state.benefits) for cell in state.cells)
    return state._replace(cells=cells, index=None)


def named_columns(state: State) -> list[str]:
    """Return the names of the columns that costs read, each once."""
    names = (name for source in state.sources for name in source.columns or ())
    return list(dict.fromkeys(names))


def compute(values: FloatArray, sign: str, number: float) -> FloatArray:
    """Multiply by a number, or add it: the same bits for a column as for an array."""
    return np.asarray(values * number if sign == "*" else values + number)


# Columns and functions


def _read(cell: Cell, X: Any, n_samples: int, benefits: bool) -> Cell:
    source = cell.value
    if not isinstance(source, Source):
        return cell
    given = _column(X, source.read) if isinstance(source.read, str) else _call(source, X)
    values = read_numbers(given, source.what, negative=benefits)
    if values.shape not in ((), (n_samples,)):
        raise ValueError(
            f"{source.what} has shape {values.shape}, but X has {n_samples} rows: give one price "
            "for each of them, or one number for all."
        )
    for sign, number in source.steps:
        values = compute(values, sign, number)
    if source.steps:
        values = read_numbers(values, source.what, negative=benefits)
    return Cell(freeze(values), cell.name)


def _column(X: Any, name: str) -> Any:
    """Return one column of a table of any library, by its name."""
    frame: Any = nw.from_native(X, pass_through=True) if hasattr(X, "columns") else X
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(
            f"The costs read the column {name!r}, but X is a {type(X).__name__}, whose columns "
            "have no names: give a DataFrame, or a function in place of the name, such as "
            f"lambda X: X[:, 3]. {_PIPELINE}"
        )
    if name not in frame.columns:
        raise ValueError(
            f"The costs read the column {name!r}, which X does not have: its columns are "
            f"{_some(frame.columns)}. {_PIPELINE}"
        )
    return frame[name].to_numpy()


def _some(names: list[str]) -> str:
    return repr(names) if len(names) <= 10 else f"{names[:10]} and {len(names) - 10} others"


def _call(source: Source, X: Any) -> Any:
    """Return what a function of the table says, checking that it kept the rows in order."""
    assert not isinstance(source.read, str)
    try:
        given = source.read(X)
    except ExpressionError:  # which says what is wrong, and where
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{source.what}, which gives the costs, failed on X (a {type(X).__name__}) with "
            f"{type(error).__name__}: {error}. {_PIPELINE}"
        ) from error
    mine, rows = index_of(given), index_of(X)
    if mine is not None and rows is not None and not mine.equals(rows):
        raise ValueError(
            f"{source.what} returned prices whose index is not that of X: it must give one for "
            "each row of X, in their order."
        )
    return given


# The identity of rows


def _check_index(state: State, X: Any) -> None:
    """Refuse costs of other rows, or of the same rows in another order, where both are named."""
    mine, rows = state.index, index_of(X)
    if mine is None or rows is None or mine.equals(rows):
        return
    if rows.isin(mine).all():
        what = "in another order" if len(mine) == len(rows) else "and others"
        raise ValueError(
            f"These costs are for the rows of X {what}: their index starts with {_start(mine)}, "
            f"that of X with {_start(rows)}. Give costs[X.index]. {ROWS_CHANGED}"
        )
    raise ValueError(
        f"These costs are for other rows than X: their index starts with {_start(mine)}, that of "
        f"X with {_start(rows)}. Take both from the same table, as in Costs(fp=8, "
        "fn=table.loc[X.index, 'amount']); if they belong together by position all the same, give "
        f"the prices without their index, series.to_numpy(). {ROWS_CHANGED}"
    )


def _start(index: Any) -> str:
    shown = [repr(label) for label in index[:3].tolist()]
    return f"[{', '.join(shown)}{', ...' if len(index) > 3 else ''}]"
