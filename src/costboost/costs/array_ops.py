"""Costs as an array of rows: positions of rows, slicing, concatenation, arithmetic with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs.binding import compute
from costboost.costs.reading import read_row_index
from costboost.costs.state import Cell, State, TablePrice, index_of, same_labels
from costboost.inputs.arrays import freeze, read_numbers

__all__ = ["concat", "cut", "hash_of", "is_number", "positions", "scaled", "shifted"]


def positions(state: State, index: Any) -> Any:
    """Return the positions that an index means: labels are looked up if both sides have them."""
    mine = state.index
    if mine is None:
        return read_row_index(index)
    if hasattr(index, "get_indexer_for"):
        return _find(mine, index)
    theirs = index_of(index)
    if theirs is None:
        return read_row_index(index)
    if np.asarray(index).dtype != np.bool_:
        raise IndexError(
            "A Series of numbers may mean labels or positions: give costs.loc[labels], or "
            "costs[positions.to_numpy()]."
        )
    if not mine.equals(theirs):
        raise IndexError(
            "The mask has another index than these costs: make it from the same rows, in the "
            "same order."
        )
    return read_row_index(index)


def cut(state: State, rows: Any) -> State:
    """Return the costs of some rows; what all rows share, and unread columns, stay as they are."""
    cells = tuple(_cut(cell, rows) for cell in state.cells)
    return state._replace(cells=cells, index=None if state.index is None else state.index[rows])


def hash_of(state: State) -> int:
    """Return a hash. Equal costs agree in their first row; all of a million would be slow."""
    first = tuple(_first(cell) for cell in state.cells) if state.length else ()
    return hash((state.form, state.n_rows, state.shape, first))


def _cut(cell: Cell, rows: Any) -> Cell:
    if isinstance(cell.value, TablePrice) or not cell.value.ndim:
        return cell
    return Cell(freeze(cell.value[rows]), cell.name)


def _first(cell: Cell) -> Any:
    return cell.value if isinstance(cell.value, TablePrice) else float(cell.value.flat[0])


def _find(index: Any, labels: Any) -> NDArray[np.intp]:
    """Return the positions of labels, each of which must be there, and there once."""
    if not index.is_unique:
        if index.equals(labels):
            return np.arange(len(index))
        raise IndexError(
            "The index of these costs names some rows twice, so labels do not tell rows apart: cut "
            "by position, costs[rows], or give the table an index without duplicates."
        )
    at = np.asarray(index.get_indexer_for(labels), dtype=np.intp)
    if (at < 0).any():
        missing = labels[at < 0][:1].tolist()[0]
        raise IndexError(f"{missing!r} is not in the index of these costs: they lack that row.")
    return at


def is_number(value: Any) -> bool:
    """Whether costs can be multiplied by it, or it be added."""
    return isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)


def scaled(state: State, factor: float) -> State:
    """Multiply every price; the factor must be positive, or costs would turn into benefits."""
    if not 0.0 < factor < np.inf:
        raise ValueError(f"Costs are multiplied by positive numbers, but {factor!r} was given.")
    return _each(state, "*", float(factor))


def shifted(state: State, number: float) -> State:
    """Add a number to every price."""
    return _each(state, "+", float(number))


def _each(state: State, sign: str, number: float) -> State:
    return state._replace(cells=tuple(_one(c, sign, number, state.benefits) for c in state.cells))


def _one(cell: Cell, sign: str, number: float, benefits: bool) -> Cell:
    if isinstance(cell.value, TablePrice):
        return Cell(cell.value._replace(steps=(*cell.value.steps, (sign, number))), cell.name)
    values = compute(cell.value, sign, number)
    return Cell(read_numbers(values, "the cost", negative=benefits), cell.name)


def concat(states: Sequence[State]) -> State:
    """Put the rows of several costs one after the other; see `costboost.costs.Costs.concat`."""
    if not states:
        raise ValueError("There is nothing to concatenate: give a list of Costs.")
    first = states[0]
    for other in states[1:]:
        _check_alike(first, other)
    columns = zip(*(state.cells for state in states), strict=True)
    cells = tuple(_stack(cells, [state.n_rows for state in states]) for cells in columns)
    indexes = [state.index for state in states]
    index = None
    if all(part is not None for part in indexes):
        index = reduce(lambda one, other: one.append(other), indexes)
    return first._replace(cells=cells, index=index, benefits=any(s.benefits for s in states))


def _check_alike(one: State, other: State) -> None:
    alike = (
        (one.form, one.n_classes, one.n_actions, one.positive_label, one.signed)
        == (other.form, other.n_classes, other.n_actions, other.positive_label, other.signed)
        and same_labels(one.classes, other.classes)
        and same_labels(one.actions, other.actions)
    )
    if not alike:
        raise ValueError(
            "Only costs of the same form, classes, actions and positive class can follow each "
            "other: bind(classes) all of them alike first."
        )


def _stack(cells: Sequence[Cell], lengths: Sequence[int | None]) -> Cell:
    """Put one cell of all parts together; what all share stays one number or one column."""
    first = cells[0].value
    if any(isinstance(cell.value, TablePrice) for cell in cells):
        if not all(isinstance(cell.value, TablePrice) and cell.value == first for cell in cells):
            raise ValueError(
                "Some of these costs read a column that others do not: bind_table(X) each to its "
                "own table first."
            )
        return cells[0]
    values = [cell.values for cell in cells]
    if all(value.ndim == 0 and value == first for value in values):
        return cells[0]
    if None in lengths:
        raise ValueError(
            "Constant costs have no number of rows, so other costs cannot follow them: give one "
            "price per row to each."
        )
    rows = [np.broadcast_to(v, (n,)) for v, n in zip(values, lengths, strict=True)]  # type: ignore[arg-type]
    return Cell(freeze(np.concatenate(rows)), cells[0].name)
