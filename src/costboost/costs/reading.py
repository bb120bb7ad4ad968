"""From what users write to a `State`: the only place that validates costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.binding import with_square_actions
from costboost.costs.state import Columns, State
from costboost.inputs.arrays import (
    CodeArray,
    FloatArray,
    as_array,
    freeze,
    read_labels,
    read_numbers,
)

__all__ = ["read_binary", "read_matrix", "read_row_index", "read_rows", "read_value"]

_DICT_KEYS = ("fp", "fn", "tp", "tn", "positive", "benefits")


def read_value(value: Any) -> State:
    """Read the forms that estimators take besides ``Costs``; see `costboost.costs.as_costs`."""
    if value is None:
        return State("rows", (freeze(np.ones(())),), None, None)
    if isinstance(value, Mapping):
        return read_binary(**_checked_keys(value))
    shape: tuple[int, ...] = as_array(value, "costs").shape
    if len(shape) == 2 and shape[0] == shape[1]:
        return read_matrix(value)
    what = f"an array of shape {shape}" if shape else repr(value)
    raise ValueError(
        "costs must be None, a dict such as {'fp': 1, 'fn': 10}, a square array "
        f"C[true, predicted] or a Costs, but {what} was given. For other shapes say what they "
        "mean: Costs(fp=, fn=), Costs.from_matrix(C) or Costs.of_rows(c)."
    )


def _checked_keys(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Check the keys of the dict form: only the arguments of ``Costs``, with fp and fn."""
    unknown = [key for key in given if key not in _DICT_KEYS]
    if unknown:
        raise ValueError(
            f"costs has the unknown key {unknown[0]!r}; a dict of costs has 'fp' and 'fn', and may "
            f"have {', '.join(map(repr, _DICT_KEYS[2:]))}. For other classes use Costs.from_matrix."
        )
    for key in _DICT_KEYS[:2]:
        if key not in given:
            raise ValueError(
                f"costs lacks the key {key!r}; a dict of costs needs both 'fp' and 'fn', such as "
                "{'fp': 1, 'fn': 10}."
            )
    return dict(given)


def read_binary(
    fp: ArrayLike,
    fn: ArrayLike,
    tp: ArrayLike = 0,
    tn: ArrayLike = 0,
    positive: Any = None,
    benefits: bool = False,
) -> State:
    """Read the four prices of two classes; see `costboost.costs.Costs`."""
    given = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    cells = {name: read_numbers(v, name, negative=benefits) for name, v in given.items()}
    _check_lengths(cells)
    if positive is not None and np.ndim(positive) != 0:
        raise ValueError(f"positive must be one label, but {positive!r} was given.")
    return State("matrix", _some_cost(cells.values()), 2, 2, positive=positive)


def _check_lengths(cells: Mapping[str, FloatArray]) -> None:
    """Check that each value is a scalar or one per row, and that the rows agree."""
    first, n_rows = next(((name, c.size) for name, c in cells.items() if c.ndim), ("", 0))
    for name, cell in cells.items():
        if cell.ndim > 1 or cell.shape == (0,):
            raise ValueError(
                f"{name} has shape {cell.shape}; give one number, or one per row, (n_samples,)."
            )
        if cell.ndim and cell.size != n_rows:
            raise ValueError(
                f"{first} has {n_rows} rows, but {name} has {cell.size}. Give one value per "
                "row to each, or a plain number for a cost that all rows share."
            )


def read_matrix(
    C: ArrayLike,
    classes: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    benefits: bool = False,
) -> State:
    """Read a whole matrix, constant or per row; see `costboost.costs.Costs.from_matrix`."""
    values = read_numbers(C, "C", negative=benefits)
    _check_matrix(values, classes)
    n_classes, n_actions = values.shape[-2:]
    class_labels = _read_names(classes, n_classes, "classes", "rows")
    action_labels = _read_names(actions, n_actions, "actions", "columns")
    if action_labels is None and n_actions != n_classes:
        action_labels = freeze(np.arange(n_actions))
    # One contiguous column per cell: slicing and summing then walk along rows.
    cells = np.ascontiguousarray(np.moveaxis(values, 0, -1)) if values.ndim == 3 else values
    columns = _some_cost(freeze(np.asarray(cells[at])) for at in np.ndindex(*cells.shape[:2]))
    state = State("matrix", columns, n_classes, n_actions, class_labels, action_labels)
    return with_square_actions(state)


def _check_matrix(values: FloatArray, classes: ArrayLike | None) -> None:
    """Check the shape of ``C[true, action]``, (K, A) or (n_samples, K, A)."""
    if values.ndim not in (2, 3) or min(values.shape[-2:]) < 2 or 0 in values.shape:
        raise ValueError(
            f"C has shape {values.shape}; from_matrix takes (n_classes, n_actions) or "
            "(n_samples, n_classes, n_actions), with at least two classes and two actions."
        )
    if values.ndim == 2 and values.shape[0] != values.shape[1] and classes is None:
        raise ValueError(
            f"C has shape {values.shape}, which is not square. If its rows are true classes and "
            "its columns actions, name the classes with classes=; if it holds the price of each "
            "answer for each sample, use Costs.of_rows(C)."
        )


def read_rows(c: ArrayLike, classes: ArrayLike | None = None) -> State:
    """Read prices of rows or of their answers; see `costboost.costs.Costs.of_rows`."""
    values = read_numbers(c, "c", row_ndims=(1, 2))
    if values.ndim not in (1, 2) or 0 in values.shape or values.shape[1:] == (1,):
        raise ValueError(
            f"c has shape {values.shape}; of_rows takes (n_samples,), the price of getting "
            "each row wrong, or (n_samples, n_classes), the price of each answer."
        )
    if values.ndim == 1:
        labels = None if classes is None else read_labels(classes, "classes")
        k = None if labels is None else labels.size
        return State("rows", _some_cost([values]), k, k, labels)
    k = values.shape[1]
    labels = _read_names(classes, k, "classes", "columns")
    columns = _some_cost(freeze(np.ascontiguousarray(column)) for column in values.T)
    return State("answers", columns, k, k, labels)


def _read_names(
    names: ArrayLike | None, expected: int, name: str, axis: str
) -> NDArray[Any] | None:
    """Read the labels of one axis of a cost array, if given; there must be `expected` of them."""
    if names is None:
        return None
    labels = read_labels(names, name)
    if labels.size != expected:
        raise ValueError(
            f"{name} has {labels.size} labels, {labels.tolist()}, but the costs have {expected} "
            f"{axis}; name each of them once."
        )
    return labels


def _some_cost(columns: Iterable[FloatArray]) -> Columns:
    """Refuse costs that are all zero: every decision would be as good as any other."""
    given = tuple(columns)
    if not any(column.any() for column in given):
        raise ValueError("Every cost is zero, so there is nothing to minimise; one must differ.")
    return given


def read_row_index(index: Any) -> CodeArray | NDArray[np.bool_] | slice:
    """Read an int, slice, list, integer array or mask, or ``(index, ...)``, as a 1-d index."""
    if isinstance(index, tuple):
        if len(index) != 2 or index[1] is not Ellipsis:
            raise IndexError("Costs are indexed by row only: costs[rows], not costs[rows, k].")
        index = index[0]
    if isinstance(index, slice):
        return index
    rows = np.atleast_1d(np.asarray(index))
    if rows.size == 0 and rows.dtype.kind != "b":
        rows = rows.astype(np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise IndexError(
            "Costs are indexed by row: an int, a slice, a list or array of ints, or a mask, but "
            f"an index of shape {rows.shape} and type {rows.dtype} was given."
        )
    return rows
