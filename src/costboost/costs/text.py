"""How costs are shown: as the call that makes them, long arrays by their size and range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs.expressions import Expression
from costboost.costs.state import Cell, Source, State
from costboost.inputs.arrays import FloatArray

__all__ = ["as_call", "as_number", "short", "signs"]


def as_call(state: State) -> str:
    """Return the ``repr`` of costs."""
    if state.form == "matrix" and state.is_binary and _has_sign(state):
        return f"Costs({_binary(state)})"
    if state.form == "matrix":
        return f"Costs.from_matrix({_matrix(state)}{_names(state)})"
    if state.n_rows is None and not state.sources:
        return f"Costs(every mistake costs {as_number(state.cells[0])})"
    return f"Costs.of_rows({_values(state.shape, state.cells)}{_names(state)})"


def _has_sign(state: State) -> bool:
    return state.classes is None or state.positive_label is not None


def short(labels: NDArray[Any] | None) -> str:
    """Return at most five labels as a list."""
    names = [] if labels is None else labels.tolist()
    shown = [repr(label) for label in names[:5]] + ["..."] * (len(names) > 5)
    return f"[{', '.join(shown)}]"


def as_number(cell: Cell) -> str:
    """Return one cell: its number, the range of its values, or where they come from."""
    value = cell.value
    if isinstance(value, Source):
        return _source(value)
    return _values(value.shape, (cell,)) if value.ndim else _number(value)


def signs(state: State) -> dict[str, tuple[int, int]]:
    """Return where the four prices of two classes stand in the matrix."""
    pos = state.positive_code
    neg = 1 - pos
    return {"fp": (neg, pos), "fn": (pos, neg), "tp": (pos, pos), "tn": (neg, neg)}


def _source(source: Source) -> str:
    name = getattr(source.read, "__name__", type(source.read).__name__)
    says = isinstance(source.read, str | Expression)
    text = repr(source.read) if says else f"<{name} of the table>"
    for sign, number in source.steps:
        text = f"{text} {sign} {number:g}"
    return text


def _binary(state: State) -> str:
    cells = {name: state.cells[2 * k + a] for name, (k, a) in signs(state).items()}
    parts = [
        f"{name}={as_number(cell)}"
        for name, cell in cells.items()
        if name in ("fp", "fn") or isinstance(cell.value, Source) or cell.value.any()
    ]
    if state.positive_label is not None:
        parts.append(f"positive={state.positive_label!r}")
    return ", ".join(parts)


def _matrix(state: State) -> str:
    if state.k * state.a > 16 or (state.n_rows is not None and not _mixed(state)):
        return _values(state.shape[state.n_rows is None :], state.cells)
    cells = np.array([as_number(c) for c in state.cells]).reshape(state.k, state.a)
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in cells) + "]"


def _mixed(state: State) -> bool:
    """Whether some cells are read from a table or shared by all rows, and others are not."""
    return any(cell.n_rows is None for cell in state.cells)


def _names(state: State) -> str:
    classes = "" if state.classes is None else f", classes={short(state.classes)}"
    return classes + ("" if state.actions is None else f", actions={short(state.actions)}")


def _values(shape: tuple[int, ...], cells: Iterable[Cell]) -> str:
    size = " x ".join(map(str, shape))
    columns = [cell.value for cell in cells]
    if any(isinstance(column, Source) for column in columns):
        return ", ".join(_source(c) for c in columns if isinstance(c, Source))
    numbers = [column for column in columns if not isinstance(column, Source)]
    if not all(c.size for c in numbers):
        return f"<{size} values of no rows>"
    low, high = min(c.min() for c in numbers), max(c.max() for c in numbers)
    return f"<{size} values from {low:g} to {high:g}>"


def _number(value: FloatArray) -> str:
    return f"{float(value):g}"
