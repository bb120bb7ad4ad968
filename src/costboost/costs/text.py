"""How costs are shown: as the call that makes them, long arrays by their size and range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs.state import Columns, State
from costboost.inputs.arrays import FloatArray

__all__ = ["describe", "short"]


def describe(state: State) -> str:
    """Return the ``repr`` of costs."""
    if state.form == "matrix" and state.is_binary:
        return f"Costs({_binary(state)})"
    if state.form == "matrix":
        return f"Costs.from_matrix({_matrix(state)}{_names(state)})"
    if state.n_rows is None:
        return f"Costs(every mistake costs {_number(state.columns[0])})"
    return f"Costs.of_rows({_values(state.shape, state.columns)}{_names(state)})"


def short(labels: NDArray[Any] | None) -> str:
    """Return at most five labels as a list."""
    names = [] if labels is None else labels.tolist()
    shown = [repr(label) for label in names[:5]] + ["..."] * (len(names) > 5)
    return f"[{', '.join(shown)}]"


def _binary(state: State) -> str:
    pos = state.positive_code
    neg = 1 - pos
    at = {"fp": (neg, pos), "fn": (pos, neg), "tp": (pos, pos), "tn": (neg, neg)}
    cells = {name: state.cell(*cell) for name, cell in at.items()}
    parts = [
        f"{name}={_values(cell.shape, (cell,)) if cell.ndim else _number(cell)}"
        for name, cell in cells.items()
        if name in ("fp", "fn") or cell.any()
    ]
    if state.positive_label is not None:
        parts.append(f"positive={state.positive_label!r}")
    return ", ".join(parts)


def _matrix(state: State) -> str:
    if state.n_rows is not None or state.k * state.a > 16:
        return _values(state.shape[state.n_rows is None :], state.columns)
    cells = np.array([_number(c) for c in state.columns]).reshape(state.k, state.a)
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in cells) + "]"


def _names(state: State) -> str:
    classes = "" if state.classes is None else f", classes={short(state.classes)}"
    return classes + ("" if state.actions is None else f", actions={short(state.actions)}")


def _values(shape: tuple[int, ...], columns: Columns) -> str:
    size = " x ".join(map(str, shape))
    if not all(c.size for c in columns):
        return f"<{size} values of no rows>"
    low, high = min(c.min() for c in columns), max(c.max() for c in columns)
    return f"<{size} values from {low:g} to {high:g}>"


def _number(value: FloatArray) -> str:
    return f"{float(value):g}"
