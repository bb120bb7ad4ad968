"""Weights of rows on an integer grid, so that sums are exact whatever their order."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowWeights", "weigh_rows"]

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
    weight = _checked(sample_weight, n_rows)
    units = np.rint(np.ldexp(weight, _GRID_BITS - int(np.frexp(weight.max())[1]))).astype(np.int64)
    units[(units == 0) & (weight > 0)] = 1
    rows = None if units.all() else np.flatnonzero(units)
    kept = units if rows is None else units[rows]
    if kept.min() == kept.max():
        if rows is None:
            return RowWeights(None, None, None, n_rows)
        return RowWeights(rows, None, (units > 0).astype(np.int64), len(rows))
    return RowWeights(rows, kept, units, int(units.sum()))


def _checked(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but X has {n_rows} rows: "
            f"give one weight per row, shape ({n_rows},)."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}: weights must be finite and at least 0."
        )
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: at least one row needs a weight.")
    return weight
