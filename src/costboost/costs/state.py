"""The canonical form of costs, ``C[true, action]``: a tuple of *cells*.

A cell is one entry of the cost matrix over the rows: a 0-d array if all rows share it, an array of
shape (n,) if each has its own, or a `Source` if it is read from a table that is not at hand yet (a
column, or a function of the table). So a million rows with one price per row and three scalars take
one array, and a constant matrix takes a handful of numbers::

    form       cells                                     cell (k, a)
    "matrix"   K * A, in the order C[0, 0], C[0, 1] ..   cells[k * A + a]
    "rows"     1: the price of getting row i wrong       cells[0] if k != a else 0
    "answers"  K: the price of answer a for row i        needs the truth: no cell exists

``state.columns`` are the values of all cells. Asking for them while one is a `Source` is an error:
prices that have not been read cannot be taken for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from costboost.costs.expressions import Expression
from costboost.inputs.arrays import FloatArray, freeze
from costboost.inputs.labels import usual_positive

__all__ = [
    "Cell",
    "Columns",
    "Source",
    "State",
    "ZERO",
    "dense",
    "expanded",
    "packed",
    "same",
    "same_labels",
    "select",
    "unpacked",
]

Columns = tuple[FloatArray, ...]
Form = Literal["matrix", "rows", "answers"]

ZERO: FloatArray = freeze(np.zeros(()))


class Source(NamedTuple):
    """Where the prices of a cell come from: a column's name, or a function of the table.

    `steps` is the arithmetic still to be done on what is read: ("*", 1.2), ("+", 3.0) ...
    """

    read: str | Callable[[Any], Any]
    steps: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that are read; None where a function does not say."""
        if isinstance(self.read, str):
            return (self.read,)
        return self.read.columns if isinstance(self.read, Expression) else None

    @property
    def what(self) -> str:
        """Say it in words."""
        if isinstance(self.read, str):
            return f"the column {self.read!r}"
        if isinstance(self.read, Expression):
            return f"the expression {self.read.text!r}"
        return f"the function {getattr(self.read, '__name__', self.read)}"


class Cell(NamedTuple):
    """One entry of the matrix, and the name of the column it came from, if that is known."""

    value: FloatArray | Source
    name: str | None = None

    @property
    def values(self) -> FloatArray:
        """The prices; an error if they are still to be read from a table."""
        if isinstance(self.value, Source):
            raise ValueError(
                f"These costs read {self.value.what} of a table, which is not at hand here: give "
                "costs.bind_table(X), where X is the table of these rows."
            )
        return self.value

    @property
    def n_rows(self) -> int | None:
        """Number of rows with prices of their own; None for a constant or a source."""
        value = self.value
        return value.size if not isinstance(value, Source) and value.ndim else None


class State(NamedTuple):
    """All there is to a ``Costs``; K and A are None until the labels are known."""

    form: Form
    cells: tuple[Cell, ...]
    n_classes: int | None
    n_actions: int | None
    classes: NDArray[Any] | None = None
    actions: NDArray[Any] | None = None  # None: the actions are the classes
    positive: Any = None  # None: that of 0/1, -1/+1 or booleans, else nobody knows
    signed: bool = False  # given as fp and fn, and not yet tied to labels: needs a positive class
    benefits: bool = False
    index: Any = None  # the pandas index of the rows, where prices came with one

    @property
    def columns(self) -> Columns:
        """The values of all cells."""
        return tuple(cell.values for cell in self.cells)

    def with_columns(self, columns: Iterable[FloatArray]) -> Self:
        """Return the state with other values; cells keep their names."""
        named = zip(columns, self.cells, strict=True)
        return self._replace(cells=tuple(Cell(values, cell.name) for values, cell in named))

    @property
    def sources(self) -> tuple[Source, ...]:
        """What is still to be read from a table."""
        return tuple(cell.value for cell in self.cells if isinstance(cell.value, Source))

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants and unread columns."""
        return next((cell.n_rows for cell in self.cells if cell.n_rows is not None), None)

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
        return (self.length,) if self.form == "rows" else (self.length, len(self.cells))

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
        """Label of the positive class, if there is one and it is known: never a guess."""
        if self.positive is not None or self.classes is None or not self.is_binary:
            return self.positive
        return usual_positive(self.classes)

    @property
    def positive_code(self) -> int:
        """Code of the positive of two classes; of two equals the second, which settles ties."""
        label = self.positive_label
        if label is None or self.classes is None:
            return 1
        return int(self.classes.tolist().index(label))

    def cell(self, k: int, a: int) -> FloatArray:
        """Return ``C[k, a]`` over the rows."""
        if self.form == "rows":
            return self.cells[0].values if k != a else ZERO
        return self.cells[k * self.a + a].values


def select(state: State, rows: Any = slice(None), actions: Any = slice(None)) -> tuple[Cell, ...]:
    """Return the cells of a matrix with its classes and actions chosen by index."""
    cells: NDArray[Any] = np.empty(len(state.cells), dtype=object)
    for i, cell in enumerate(state.cells):
        cells[i] = cell
    grid: NDArray[Any] = cells.reshape(state.k, state.a)
    return tuple(grid[rows][:, actions].flat)


def expanded(state: State) -> State:
    """Turn one price for every mistake into a matrix, once the number of classes is known."""
    price = state.cells[0]
    shared = price.n_rows is None and not isinstance(price.value, Source)
    if state.form != "rows" or state.n_classes is None or not shared:
        return state
    cells = np.ndindex(state.n_classes, state.n_classes)
    filled = tuple(price if k != a else Cell(ZERO) for k, a in cells)
    return state._replace(form="matrix", cells=filled)


def dense(state: State) -> FloatArray:
    """Return the costs as a new array of their own shape."""
    full = [np.broadcast_to(column, (state.length,)) for column in state.columns]
    return np.stack(full, axis=-1).reshape(state.shape)


def same(one: State, other: State) -> bool:
    """Whether two states mean the same costs for the same labels; names of rows do not count."""
    return (
        one.form == other.form
        and one.n_rows == other.n_rows
        and one.shape == other.shape
        and one.positive_label == other.positive_label
        and same_labels(one.classes, other.classes)
        and same_labels(one.actions, other.actions)
        and all(_same_cell(a, b) for a, b in zip(one.cells, other.cells, strict=True))
    )


def _same_cell(one: Cell, other: Cell) -> bool:
    if isinstance(one.value, Source) or isinstance(other.value, Source):
        return type(one.value) is type(other.value) and one.value == other.value
    return bool(np.all(one.value == other.value))


def same_labels(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether both are unknown, or the same labels in the same order."""
    if one is None or other is None:
        return one is other
    return bool(one.tolist() == other.tolist())


def packed(state: State) -> dict[str, Any]:
    """Return a state as plain dictionaries, tuples and arrays, for whoever writes it down."""
    return {**state._asdict(), "cells": tuple(_pack(cell) for cell in state.cells)}


def _pack(cell: Cell) -> dict[str, Any]:
    if isinstance(cell.value, Source):
        return {"read": cell.value.read, "steps": cell.value.steps, "name": cell.name}
    return {"values": cell.value, "name": cell.name}


def unpacked(parts: dict[str, Any]) -> State:
    """Return the state that was packed, its arrays read-only: files do not record that they were.

    What has been written may come back as lists where tuples were.
    """
    state = State(**{**parts, "cells": tuple(_unpack(**cell) for cell in parts["cells"])})
    for array in (state.classes, state.actions):
        if array is not None:
            freeze(array)
    return state


def _unpack(name: str | None, values: Any = None, read: Any = None, steps: Any = ()) -> Cell:
    if values is not None:
        return Cell(freeze(np.asarray(values)), name)
    return Cell(Source(read, tuple((str(sign), float(number)) for sign, number in steps)), name)
