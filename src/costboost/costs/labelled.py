"""Labels that come with a table of prices: read by name, never by place.

A pandas frame has labels on both sides unless they are the default 0, 1, 2 ..; a polars frame or a
pyarrow table has names of columns, and may hold the labels of its rows in a first column of
strings. What is labelled on one side only, or contradicts what was said beside it, is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Labelled", "agree", "index_of", "name_of", "read_frame", "settle_names"]


class Labelled(NamedTuple):
    """Values of a table, and the labels of its rows and columns where it has some."""

    values: Any
    rows: list[Any] | None
    columns: list[Any] | None


def index_of(value: Any) -> Any:
    """Return the pandas index of a series or frame; None for whatever has none."""
    index = getattr(value, "index", None)
    return index if hasattr(index, "get_indexer_for") else None


def name_of(value: Any) -> str | None:
    """Return the name of a series, if it has one."""
    name = getattr(value, "name", None) if hasattr(value, "to_numpy") else None
    return name if isinstance(name, str) and name else None


def read_frame(value: Any, *, rows: bool = True) -> Labelled:
    """Read a table with its labels; anything that is no table has none.

    `rows` says that its rows have labels; those of samples do not count as such.
    """
    if isinstance(value, np.ndarray | list | tuple):
        return Labelled(value, None, None)
    index = index_of(value)
    if index is not None and hasattr(value, "columns"):
        sides = (_labels(index), _labels(value.columns)) if rows else (None, _labels(value.columns))
        return Labelled(value.to_numpy(), *_both(*sides, value.shape))
    frame: Any = nw.from_native(value, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return Labelled(value, None, None)
    labels = None
    if rows and frame.columns and frame.schema[frame.columns[0]] == nw.String:
        labels = frame[frame.columns[0]].to_list()
        frame = frame.drop(frame.columns[0])
    unnamed = frame.columns == [f"column_{j}" for j in range(len(frame.columns))]
    return Labelled(frame.to_numpy(), labels, None if unnamed else list(frame.columns))


def _labels(index: Any) -> list[Any] | None:
    """Return the labels of one side of a pandas frame; None if they are the default numbers."""
    default = type(index).__name__ == "RangeIndex" and list(index) == list(range(len(index)))
    return None if default else list(index)


def _both(
    rows: list[Any] | None, columns: list[Any] | None, shape: tuple[int, int]
) -> tuple[list[Any] | None, list[Any] | None]:
    """Take default numbers for labels where the other side has the same ones, in another order."""
    numbers = list(range(shape[0]))
    known = [side for side in (rows, columns) if side is not None]
    if shape[0] != shape[1] or len(known) != 1 or set(known[0]) != set(numbers):
        return rows, columns
    return (numbers, columns) if rows is None else (rows, numbers)


def settle_names(
    table: Labelled, classes: ArrayLike | None, actions: ArrayLike | None
) -> tuple[Any, Any]:
    """Return the names of the classes and of the actions: those of the table, or those given."""
    if table.columns is not None and table.rows is None and classes is None:
        raise ValueError(
            f"The columns of C are labelled {table.columns}, but its rows are not, so it is not "
            "known which row is which class. Label the rows too, or name them with classes=."
        )
    square = table.rows is not None and np.shape(table.values)[-1:] == (len(table.rows),)
    if square and table.columns is None and actions is None:
        raise ValueError(
            f"The rows of C are labelled {table.rows}, but its columns are not, so it is not "
            "known which column is which answer. Label the columns too, or name them with actions=."
        )
    if actions is None and table.rows is not None and table.columns is not None:
        _check_overlap(table.rows, table.columns)
    return agree(table.rows, classes, "rows", "classes"), agree(
        table.columns, actions, "columns", "actions"
    )


def agree(found: list[Any] | None, given: ArrayLike | None, axis: str, name: str) -> Any:
    """Return the labels of one axis, refusing two that contradict each other."""
    if found is None or given is None:
        return given if found is None else found
    if list(np.asarray(given).tolist()) != found:
        raise ValueError(
            f"{name}={np.asarray(given).tolist()} contradicts the labels of the {axis} of C, "
            f"{found}. Labels of a table are read: leave {name} out, or give the plain values, "
            "C.to_numpy(), in that order."
        )
    return given


def _check_overlap(rows: list[Any], columns: list[Any]) -> None:
    """Refuse columns that name some of the classes: one of the two is misspelt or missing."""
    shared = [label for label in rows if label in columns]
    missing = [label for label in rows if label not in columns]
    if shared and missing:
        raise ValueError(
            f"The rows of C are labelled {rows} and its columns {columns}: {missing[0]!r} is no "
            "column. Name every class in both, or, if the columns are actions, confirm them with "
            "actions=."
        )
