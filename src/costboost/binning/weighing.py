"""Weights of rows on an integer grid, so that sums are exact whatever their order."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.inputs.arrays import read_weights

__all__ = [
    "Grid",
    "RowWeights",
    "grid_of",
    "weigh_rows",
]

Integers: TypeAlias = NDArray[np.int64]

_GRID_BITS = 30


class RowWeights(NamedTuple):
    """What each row weighs, in units of the grid.

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

    rows: Integers | None
    kept: Integers | None
    every: Integers | None
    total: int


def weigh_rows(sample_weight: Any, n_rows: int) -> RowWeights:
    """Put weights on the grid: the power of two that makes the largest at most 2 ** 30.

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

    def weigh(self, weight: NDArray[np.float64]) -> RowWeights:
        """Put weights of some rows of the table, or of all of them, on the grid."""
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

    def _units(self, weight: NDArray[np.float64]) -> Integers:
        shift = _GRID_BITS - int(np.frexp(self.largest)[1])
        units = np.rint(np.ldexp(weight, shift)).astype(np.int64)
        units[(units == 0) & (weight > 0)] = 1
        return units


def grid_of(weight: NDArray[np.float64]) -> Grid:
    """Return the grid that some weights make."""
    smallest = np.min(weight, where=weight > 0, initial=np.inf)
    return Grid(float(weight.max(initial=0.0)), float(smallest))


def _even(units: Integers, rows: Integers | None) -> RowWeights:
    """Weigh rows that all count the same, or nothing."""
    if rows is None:
        return RowWeights(None, None, None, len(units))
    return RowWeights(rows, None, (units > 0).astype(np.int64), len(rows))
