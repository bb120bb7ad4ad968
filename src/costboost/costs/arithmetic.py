"""Costs times a number, plus a number, and one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np

from costboost.costs.state import Cell, Source, State, same_labels
from costboost.costs.tables import compute
from costboost.inputs.arrays import freeze, read_numbers

__all__ = ["concat", "is_number", "scaled", "shifted"]


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
    if isinstance(cell.value, Source):
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
    if any(isinstance(cell.value, Source) for cell in cells):
        if not all(isinstance(cell.value, Source) and cell.value == first for cell in cells):
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
