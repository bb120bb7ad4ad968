"""How gradient boosting's rows are made of what was said of them, here or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.rows import GradientRows, LossRows
from costboost.boosting.paying import make_bill
from costboost.shards.loading import RowData

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GradientLoader:
    """Makes `GradientRows`; see `costboost.shards.loading`.

    Attributes
    ----------
    data : RowData
        Without costs for regression.
    n_outputs : int
    weighted : bool
        Whether weights differ at all.
    shift : int
        Weights are multiplied by this power of two.
    uses_costs : bool
        Whether the loss has prices in it.
    prices : float64 array of shape (n, 2) or None
        Pinball loss's (over, under) of every row.
    objective : tuple of three arrays of shape (n,), or None
        The user's own (a, b, w0) for the cost-exponential loss.
    """

    data: RowData
    n_outputs: int = 1
    weighted: bool = True
    shift: int = 0
    uses_costs: bool = False
    prices: Floats | None = None
    objective: tuple[Floats, ...] | None = None

    labels = None
    n_segments = 1

    @cached_property
    def rows(self) -> LossRows:
        """What the loss needs of the rows."""
        y, weights, costs = self.data.y, self.data.weights, self.data.costs
        if weights is not None:
            weights = np.ldexp(weights, self.shift) if self.shift else weights
        rows = LossRows(y, self.n_outputs, weights if self.weighted else None, prices=self.prices)
        if not self.uses_costs:
            return rows
        if self.objective is not None:
            return replace(rows, objective=self.objective)
        assert costs is not None
        assert costs.classes is not None
        if costs.is_constant:
            table = costs.of_labels(np.arange(len(costs.classes)), encoded=True)
            return replace(rows, table=table)
        return replace(rows, costs=costs)

    def load(self, rows: NDArray[Any] | slice) -> GradientRows:
        """Return what a shard holds of some rows."""
        given, costs = self.rows.take(rows), self.data.costs
        if costs is None:
            return GradientRows(given)
        if given.costs is not None:  # held once
            return GradientRows(given, make_bill(given.costs, given.y, slice(None)))
        return GradientRows(given, make_bill(costs, self.data.y, rows))

    def blank(self) -> GradientLoader:
        """Return the same of no rows."""
        return replace(self, data=self.data.take(np.zeros(0, dtype=np.int64)))

    def on(self, data: RowData) -> GradientLoader:
        """Return the same of other rows; their prices are their own, if they have any."""
        costs = self.data.costs if data.costs is None else data.costs
        return replace(self, data=replace(data, costs=costs))
