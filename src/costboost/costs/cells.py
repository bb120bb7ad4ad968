"""One price, or several that belong together: numbers, one per row, columns and functions.

A price that is a string names a column; one that can be called is a function of the table (an
`Expression` is one that says what it reads). All others are numbers, checked here once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from costboost.costs.expressions import Expression
from costboost.costs.labelled import index_of, name_of
from costboost.costs.state import Cell, Source
from costboost.inputs.arrays import FloatArray, read_numbers

__all__ = ["is_source", "read_cell", "read_cells", "some_cost"]


def read_cell(value: Any, name: str, benefits: bool) -> Cell:
    """Read one price: a number, one per row, a column's name or a function of the table."""
    if isinstance(value, str):
        return Cell(Source(value), value)
    if isinstance(value, Expression):
        return Cell(Source(value), value.text)
    if callable(value):
        return Cell(Source(value))
    return Cell(read_numbers(value, name, negative=benefits), name_of(value))


def is_source(value: Any) -> bool:
    """Whether a price is read from a table: a column or a function."""
    return isinstance(value, str) or callable(value)


def read_cells(given: Mapping[str, Any], benefits: bool) -> tuple[tuple[Cell, ...], Any]:
    """Read prices by name; return them and the index that their rows share, if any has one."""
    cells = {name: read_cell(value, name, benefits) for name, value in given.items()}
    _check_lengths({name: cell.value for name, cell in cells.items()})
    return some_cost(cells.values()), _shared_index(given)


def _check_lengths(cells: Mapping[str, FloatArray | Source]) -> None:
    """Check that each value is a scalar or one per row, and that the rows agree."""
    arrays = {name: cell for name, cell in cells.items() if not isinstance(cell, Source)}
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
    indexes = {name: index_of(value) for name, value in given.items()}
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
    if not any(isinstance(cell.value, Source) or cell.value.any() for cell in given):
        raise ValueError("Every cost is zero, so there is nothing to minimise; one must differ.")
    return given
