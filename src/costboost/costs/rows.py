"""Costs as an immutable array of rows: shape, labels, slicing, equality; no arithmetic.

Rows are numbered; those of prices that came with a pandas index have names too, by which
``costs[X.index]`` and ``costs.loc[...]`` find them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costboost.costs.labelled import index_of
from costboost.costs.reading import read_row_index
from costboost.costs.state import Cell, Source, State, dense, same
from costboost.costs.tables import named_columns
from costboost.costs.text import as_call
from costboost.inputs.arrays import freeze

__all__ = ["CostRows"]


class _ByLabel:
    """``costs.loc``: rows by the labels of their index, as pandas finds them."""

    def __init__(self, rows: CostRows) -> None:
        self._rows = rows

    def __getitem__(self, labels: Any) -> Any:
        rows = self._rows
        index = rows._state.index
        if rows.n_rows is None:
            return rows
        if index is None:
            raise IndexError(
                "These costs have no index, so their rows have no names: cut them by position, "
                "costs[rows], or make them from Series of the table."
            )
        import pandas as pd  # an index is there, so pandas is

        return rows[np.atleast_1d(pd.Series(np.arange(len(index)), index=index).loc[labels])]


class CostRows:
    """What `costboost.costs.Costs` shares with an array; constants have one row, never cut."""

    __slots__ = ("_state",)
    __array_ufunc__ = None  # array == costs asks Costs; array * costs is refused

    _state: State

    @classmethod
    def _of(cls, state: State) -> Self:
        rows = object.__new__(cls)
        rows._state = state
        return rows

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants."""
        return self._state.n_rows

    @property
    def per_row(self) -> bool:
        """Whether rows have costs of their own, at hand or in a column of their table."""
        return self.n_rows is not None or self.needs_table

    @property
    def needs_table(self) -> bool:
        """Whether prices are still to be read from a table; see `Costs.bind_table`."""
        return bool(self._state.sources)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that are still to be read; functions do not say theirs."""
        return named_columns(self._state)

    @property
    def names_every_column(self) -> bool:
        """Whether all that is still to be read has a name: none of it is a function."""
        return all(source.columns is not None for source in self._state.sources)

    @property
    def index(self) -> Any:
        """The pandas index of the rows, if the prices came with one; else None."""
        return self._state.index

    @property
    def loc(self) -> Any:
        """Rows by the labels of their index: ``costs.loc[labels]``, slices and masks as in pandas.

        Constants and unread columns come back unchanged.
        """
        return _ByLabel(self)

    @property
    def largest(self) -> float:
        """The largest of all costs, by size: benefits count as much."""
        return max(float(np.max(np.abs(column), initial=0.0)) for column in self._state.columns)

    @property
    def is_constant(self) -> bool:
        """Whether all rows share the same costs."""
        return not self.per_row

    @property
    def shape(self) -> tuple[int, ...]:
        """``(1, K, A)``, ``(n, K, A)``, or ``(n,)`` and ``(n, K)`` for `of_rows`."""
        return self._state.shape

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of the true classes, shape (K,); None until named or bound."""
        return self._state.classes

    @property
    def actions(self) -> NDArray[Any] | None:
        """Labels of the decisions, shape (A,): the classes unless others were named."""
        return self._state.action_labels

    @property
    def is_square(self) -> bool:
        """Whether the decisions are the classes."""
        return self._state.is_square

    @property
    def positive(self) -> Any:
        """The class that a positive decision means; None if nobody said, or there are not two."""
        return self._state.positive_label

    @property
    def contain_truth(self) -> bool:
        """Whether prices are of the answers of each row, given its truth: paid, not decided by."""
        return self._state.form == "answers"

    @property
    def awaits_positive(self) -> bool:
        """Whether prices of `fp` and `fn` were given, and not yet which class is positive."""
        return self._state.signed and self._state.positive is None

    def __len__(self) -> int:
        return self._state.length

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Self:
        """Select rows: an int, slice, integer array or mask, or the pandas index of a table.

        Constants and unread columns come back unchanged; the result of others stays per row, even
        for one row. scikit-learn's ``(index, ...)`` is accepted.
        """
        state = self._state
        if state.n_rows is None:
            return self
        rows = self._positions(index)
        cells = tuple(_cut(cell, rows) for cell in state.cells)
        names = None if state.index is None else state.index[rows]
        return self._of(state._replace(cells=cells, index=names))

    def _positions(self, index: Any) -> Any:
        """Return the positions that an index means: labels, if both know the names of rows."""
        mine = self._state.index
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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Costs are stored by cell; an array of them is always a copy.")
        return dense(self._state).astype(np.float64 if dtype is None else dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        return same(self._state, other._state) if isinstance(other, CostRows) else NotImplemented

    def __hash__(self) -> int:
        # Equal costs agree in their first row; hashing all of a million would be slow.
        first = tuple(_first(cell) for cell in self._state.cells) if len(self) else ()
        return hash((self._state.form, self.n_rows, self.shape, first))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return as_call(self._state)


def _cut(cell: Cell, rows: Any) -> Cell:
    if isinstance(cell.value, Source) or not cell.value.ndim:
        return cell
    return Cell(freeze(cell.value[rows]), cell.name)


def _first(cell: Cell) -> Any:
    return cell.value if isinstance(cell.value, Source) else float(cell.value.flat[0])


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
