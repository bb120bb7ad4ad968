"""Errors that cost more on one side: quantiles, of which the median is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn
from costboost.boosting.gradient.losses.errors import PINBALL, ErrorTerms
from costboost.boosting.gradient.minimisers import (
    pinball_along,
    pinball_by_leaf,
    pinball_minimiser,
)
from costboost.boosting.gradient.rows import GradientRows, LossRows
from costboost.inputs.checks import check_number
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class PinballLoss(BuiltIn):
    """`over` per unit that F lies above y, `under` per unit that it lies below.

    Its best constant is the quantile of level under / (under + over): with over = under = 1 this
    is the absolute loss and the median. Prices per row, (n, 2), replace the constants.

    Examples
    --------
    >>> import numpy as np
    >>> PinballLoss(over=1, under=9).value(np.zeros(2), np.array([2.0, -2.0])).tolist()
    [2.0, 18.0]
    """

    over: float = 1.0
    under: float = 1.0
    kind: ClassVar[str] = "pinball"
    smooth: ClassVar[bool] = False
    takes_prices: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True  # quantiles of all rows of a leaf

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> PinballLoss:
        """Return the loss of the parameters `over` and `under`."""
        check_number("over", params.over, low=0.0)
        check_number("under", params.under, low=0.0)
        if params.over == 0 and params.under == 0:
            raise ValueError("over and under are both 0: there is nothing to minimise.")
        return cls(float(params.over), float(params.under))

    def _prices(self, prices: Floats | None) -> tuple[Any, Any]:
        return (self.over, self.under) if prices is None else (prices[:, 0], prices[:, 1])

    def value(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return the price of every row's error."""
        over, under = self._prices(prices)
        return np.asarray(np.where(raw > y, over * (raw - y), under * (y - raw)))

    def gradient(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return over, -under, or 0 where F = y."""
        over, under = self._prices(prices)
        return np.where(raw > y, over, np.where(raw < y, -under, 0.0))

    def hessian(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return 1: trees are fitted to the gradients by least squares (Friedman 2001)."""
        return np.ones_like(raw)

    def _extra(self, rows: LossRows) -> tuple[Any, ...]:
        return () if rows.prices is None else (rows.prices,)

    def bind(self, rows: LossRows) -> ErrorTerms:
        """Return the loss at some rows."""
        if rows.prices is None:
            return ErrorTerms.of(
                PINBALL, rows, *(np.array([float(p)]) for p in (self.over, self.under))
            )
        over, under = (np.ascontiguousarray(rows.prices[:, j]) for j in (0, 1))
        return ErrorTerms.of(PINBALL, rows, over, under)

    def priced(self, state: GradientRows) -> Floats:
        """Return y and the weighted prices over and under, (m, 3); 0 for rows not learnt from."""
        rows, weights = state.given, state.given.unit_or_weights
        over, under = self._prices(rows.prices)
        keep = state.keep if len(state.keep) else 1.0
        return np.column_stack(
            [np.asarray(rows.y, float), weights * over * keep, weights * under * keep]
        )

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the quantile."""
        y, over, under = self._fetch(shards)
        return np.array([pinball_minimiser(y, over, under)])

    def leaf_values(self, shards: Shards, n_leaves: int) -> Floats | None:
        """Return every leaf's quantile of the residuals."""
        y, over, under = self._fetch(shards)
        gaps = y - shards.fetch(_margins)[:, 0]
        leaves = shards.fetch(lambda shard: shard.leaves)
        return pinball_by_leaf(gaps, over, under, leaves, n_leaves)

    def best_step(self, shards: Shards) -> float | None:
        """Return the quantile along the steps."""
        y, over, under = self._fetch(shards)
        gaps = y - shards.fetch(_margins)[:, 0]
        return pinball_along(gaps, shards.fetch(lambda s: s.state.steps)[:, 0], over, under)

    def _fetch(self, shards: Shards) -> tuple[Floats, Floats, Floats]:
        y, over, under = shards.fetch(lambda shard: self.priced(shard.state)).T
        return y, over, under


@dataclass(frozen=True)
class AbsoluteLoss(PinballLoss):
    """|y - F|; its best constant is the median."""

    kind: ClassVar[str] = "absolute"
    takes_prices: ClassVar[bool] = False

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> AbsoluteLoss:
        """Return the loss, whatever `over` and `under` are."""
        return cls()


def _margins(shard: Shard) -> Floats:
    return np.asarray(shard.state.margins)
