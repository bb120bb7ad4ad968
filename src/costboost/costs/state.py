"""The canonical form of costs, ``C[true, action]``: a tuple of *columns*.

A column is one cell of the cost matrix over the rows: a 0-d array if all rows share it, else an
array of shape (n,). So a million rows with one price per row and three scalars take one array, and
a constant matrix takes a handful of numbers::

    form       columns                                   cell (k, a)
    "matrix"   K * A, in the order C[0, 0], C[0, 1] ..   columns[k * A + a]
    "rows"     1: the price of getting row i wrong       columns[0] if k != a else 0
    "answers"  K: the price of answer a for row i        needs the truth: no cell exists
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.inputs.arrays import FloatArray, freeze

__all__ = [
    "Columns",
    "State",
    "ZERO",
    "dense",
    "expanded",
    "frozen",
    "same",
    "same_labels",
    "select",
]

Columns = tuple[FloatArray, ...]
Form = Literal["matrix", "rows", "answers"]

ZERO: FloatArray = freeze(np.zeros(()))


class State(NamedTuple):
    """All there is to a ``Costs``; K and A are None until the labels are known."""

    form: Form
    columns: Columns
    n_classes: int | None
    n_actions: int | None
    classes: NDArray[Any] | None = None
    actions: NDArray[Any] | None = None  # None: the actions are the classes
    positive: Any = None  # None: the last class

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants."""
        return next((c.size for c in self.columns if c.ndim), None)

    @property
    def length(self) -> int:
        """Number of rows, 1 for constants."""
        return 1 if self.n_rows is None else self.n_rows

    @property
    def k(self) -> int:
        """Number of classes, K; an error until it is known."""
        if self.n_classes is None:
            raise ValueError("The number of classes is not known: bind(classes) these costs first.")
        return self.n_classes

    @property
    def a(self) -> int:
        """Number of actions, A."""
        return self.k if self.n_actions is None else self.n_actions

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n, K, A)``, or ``(n,)`` and ``(n, K)`` for prices of rows and of answers."""
        if self.form == "matrix":
            return (self.length, self.k, self.a)
        return (self.length,) if self.form == "rows" else (self.length, len(self.columns))

    @property
    def is_square(self) -> bool:
        """Whether the decisions are the classes."""
        return self.actions is None

    @property
    def is_binary(self) -> bool:
        """Whether the decisions are two classes, one of them positive."""
        return self.is_square and self.n_classes == 2

    @property
    def action_labels(self) -> NDArray[Any] | None:
        """Labels of the actions, if known."""
        return self.classes if self.is_square else self.actions

    @property
    def positive_label(self) -> Any:
        """Label of the positive class, if there is one and it is known."""
        if self.positive is not None or self.classes is None or not self.is_binary:
            return self.positive
        return self.classes.tolist()[-1]

    @property
    def positive_code(self) -> int:
        """Code of the positive of two classes."""
        if self.positive is None or self.classes is None:
            return 1
        return int(self.classes.tolist().index(self.positive))

    def cell(self, k: int, a: int) -> FloatArray:
        """Return ``C[k, a]`` over the rows."""
        if self.form == "rows":
            return self.columns[0] if k != a else ZERO
        return self.columns[k * self.a + a]


def select(state: State, rows: Any = slice(None), actions: Any = slice(None)) -> Columns:
    """Return the columns of a matrix with its classes and actions chosen by index."""
    cells: NDArray[Any] = np.empty(len(state.columns), dtype=object)
    for i, column in enumerate(state.columns):
        cells[i] = column
    grid: NDArray[Any] = cells.reshape(state.k, state.a)
    return tuple(grid[rows][:, actions].flat)


def expanded(state: State) -> State:
    """Turn one price for every mistake into a matrix, once the number of classes is known."""
    if state.form != "rows" or state.columns[0].ndim or state.n_classes is None:
        return state
    cells = np.ndindex(state.n_classes, state.n_classes)
    return state._replace(form="matrix", columns=tuple(state.cell(k, a) for k, a in cells))


def dense(state: State) -> FloatArray:
    """Return the costs as a new array of their own shape."""
    full = [np.broadcast_to(column, (state.length,)) for column in state.columns]
    return np.stack(full, axis=-1).reshape(state.shape)


def same(one: State, other: State) -> bool:
    """Whether two states mean the same costs for the same labels."""
    return (
        one.form == other.form
        and one.n_rows == other.n_rows
        and one.shape == other.shape
        and one.positive_label == other.positive_label
        and same_labels(one.classes, other.classes)
        and same_labels(one.actions, other.actions)
        and all(np.all(a == b) for a, b in zip(one.columns, other.columns, strict=True))
    )


def same_labels(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether both are unknown, or the same labels in the same order."""
    if one is None or other is None:
        return one is other
    return bool(one.tolist() == other.tolist())


def frozen(state: State) -> State:
    """Make the arrays of a state read-only: pickles do not record that they were."""
    for array in (*state.columns, state.classes, state.actions):
        if array is not None:
            freeze(array)
    return state
