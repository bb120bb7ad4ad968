"""What a table of any library answers, column by column; and row weights as integers.

Whatever the caller hands over (an array, a sparse matrix, a DataFrame: `table_reading`) is a
`FeatureTable`, which answers two questions about some rows of column j:

- `numbers(j, start, stop)`: float32 or float64, NaN where missing;
- `keys(j, start, stop)`: categories as a dictionary; see `categories`.

Columns that lie together (`plain`) can also be read as one `block`: for a row or two, asking for
them one by one takes far longer than anything done with them.

Nothing here copies a whole table, and no column is converted to float64 unless its own type
needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import Key
from costboost.inputs.arrays import read_weights
from costboost.typing import AnyFloats, Floats, Int64

__all__ = [
    "Grid",
    "RowWeights",
    "grid_of",
    "weigh_rows",
    "FeatureTable",
]


# Row weights on an integer grid: sums are exact whatever their order.


_GRID_BITS = 30


class RowWeights(NamedTuple):
    """Row weights as integers, in units of the grid.

    Attributes
    ----------
    rows : int64 array or None
        The rows of positive weight; None when that is all of them.
    kept : int64 array or None
        Their weights; None when they are all equal, and so as good as 1.
    every : int64 array of shape (n,) or None
        The weights of all rows, zeros included; None when all are 1.
    total : int
        The sum.
    """

    rows: Int64 | None
    kept: Int64 | None
    every: Int64 | None
    total: int


def weigh_rows(sample_weight: Any, n_rows: int) -> RowWeights:
    """Round weights to integers, scaled by the power of two that makes the largest <= 2 ** 30.

    Integer weights below 2 ** 30 are kept exactly (up to a common factor). A positive weight
    counts at least one grid unit; a zero weight means that the row is absent.

    Examples
    --------
    >>> weigh_rows([2, 0, 2], 3).rows.tolist()
    [0, 2]
    """
    if sample_weight is None:
        return RowWeights(None, None, None, n_rows)
    weights = read_weights(sample_weight, n_rows)
    return grid_of(weights).weigh(weights)


class Grid(NamedTuple):
    """The grid that the weights of a table make.

    Attributes
    ----------
    largest : float
        The largest weight of all rows; 0 where none is positive.
    smallest : float
        The smallest that is positive; infinity where none is.
    """

    largest: float
    smallest: float

    def weigh(self, weight: Floats) -> RowWeights:
        """Round weights of some or all rows of the table to the grid."""
        units = self._units(weight)
        rows = None if units.all() else np.flatnonzero(units)
        if self._is_even:
            return _even(units, rows)
        kept = units if rows is None else units[rows]
        return RowWeights(rows, kept, units, int(units.sum()))

    @property
    def _is_even(self) -> bool:
        """Whether all rows that count, count the same."""
        least, most = self._units(np.array([self.smallest, self.largest])).tolist()
        return bool(least == most)

    def _units(self, weight: Floats) -> Int64:
        shift = _GRID_BITS - int(np.frexp(self.largest)[1])
        units = np.rint(np.ldexp(weight, shift)).astype(np.int64)
        units[(units == 0) & (weight > 0)] = 1
        return units


def grid_of(weight: Floats) -> Grid:
    """Return the grid that some weights make."""
    smallest = np.min(weight, where=weight > 0, initial=np.inf)
    return Grid(float(weight.max(initial=0.0)), float(smallest))


def _even(units: Int64, rows: Int64 | None) -> RowWeights:
    """Weigh rows that all count the same, or nothing."""
    if rows is None:
        return RowWeights(None, None, None, len(units))
    return RowWeights(rows, None, (units > 0).astype(np.int64), len(rows))


class FeatureTable(ABC):
    """A table of `n_rows` rows and `n_columns` columns; `names` are its columns' or None."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None

    @abstractmethod
    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        raise TypeError(f"{self.describe(j)} holds numbers.")  # guarded by `has_keys`

    @property
    def plain(self) -> NDArray[np.bool_]:
        """Which columns `block` can read; none of them by default."""
        return np.zeros(self.n_columns, dtype=np.bool_)

    def block(self, columns: Int64, start: int, stop: int) -> tuple[AnyFloats, Int64]:
        """Rows start to stop of plain columns: numbers, (n, m), and where each column stands."""
        raise TypeError("No column of this table is plain.")  # guarded by `plain`

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return False

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds categories, by its type alone."""
        return False

    def itemsize(self) -> int:
        """Bytes of a number in `samples`."""
        return 8

    def copy_columns(self, columns: Sequence[int]) -> Iterator[AnyFloats]:
        """Copy whole numeric columns, each contiguous."""
        for j in columns:
            yield np.array(self.numbers(j, 0, self.n_rows))

    def samples(
        self, columns: Sequence[int], weights: RowWeights
    ) -> Iterator[tuple[AnyFloats, Int64 | None]]:
        """Per column, the numbers of the rows of positive weight (a copy), and their weights."""
        for values in self.copy_columns(columns):
            yield values if weights.rows is None else values[weights.rows], weights.kept

    def describe(self, j: int) -> str:
        """How error messages call column j."""
        return f"Column {j}" if self.names is None else f"Column {self.names[j]!r}"

    def refuse(
        self, j: int, held: object, remedy: str, kind: type[Exception] = ValueError
    ) -> Exception:
        """Make an error that says what column j holds and what to do."""
        return kind(f"{self.describe(j)} holds {held}, which cannot be binned: {remedy}.")
