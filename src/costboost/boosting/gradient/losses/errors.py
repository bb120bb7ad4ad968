"""What the losses of an error F - y share: targets, prices and weights, and one pair of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.losses.base import FAR, BuiltIn
from costboost.boosting.gradient.messages import residual_ranges
from costboost.boosting.gradient.minimisers import (
    LeafBounds,
    huber_delta,
    minimise_between,
    near_one,
    pinball_along,
    pinball_by_leaf,
    pinball_minimiser,
)
from costboost.boosting.gradient.rows import (
    EVERY,
    BoundLoss,
    GradientRows,
    LossRows,
    Read,
    sum_targets,
    target_range,
)
from costboost.inputs.checks import check_number
from costboost.shards.grid import rounded
from costboost.shards.layout import Shards
from costboost.shards.rows import Shard
from costboost.typing import Array, Floats

# The kernels' numbers, in the order in which they declare them.
SQUARED, PINBALL, HUBER = range(3)
_ZERO = np.zeros(1)


@dataclass(frozen=True)
class ErrorTerms(BoundLoss):
    """A loss of F - y at some rows: its number in the kernels, targets, prices and weights."""

    number: int
    targets: Floats
    over: Floats
    under: Floats
    weights: Floats

    @classmethod
    def of(
        cls, number: int, rows: LossRows, over: Floats = _ZERO, under: Floats = _ZERO
    ) -> ErrorTerms:
        """Bind rows."""
        weights = np.zeros(0) if rows.weights is None else rows.weights
        return cls(number, np.asarray(rows.y, dtype=float), over, under, weights)

    def _rows(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.targets, self.over, self.under, self.weights

    @property
    def depth(self) -> int:
        """A core."""
        return 1

    def derive(self, margins: Floats, total: float, derived: Floats) -> Floats:
        """Write what derivatives are read from; return the largest of both, (1, 2)."""
        largest = np.zeros((1, 2))
        kernels.error_cores(self.number, margins, *self._rows(), derived[0, 0], largest)
        return largest

    def read(self, derived: Floats, output: int) -> Read:
        """Return the derivatives as kernels take them."""
        return self.number, derived[0, 0], 0, EVERY, False, self.over, self.weights

    def write_values(self, margins: Floats, values: Floats) -> float:
        """Write every row's weighted loss; return the largest."""
        return float(kernels.regression_values(self.number, margins, *self._rows(), values))


# Squared errors: the mean.


@dataclass(frozen=True)
class SquaredLoss(BuiltIn):
    """(y - F)^2 / 2; its best constant is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredLoss().value(np.array([0.0, 3.0]), np.array([0.5, 0.5])).tolist()
    [0.125, 3.125]
    """

    kind: ClassVar[str] = "squared"
    quadratic: ClassVar[bool] = True
    longest: ClassVar[float] = FAR  # it rises on both sides, in any unit of the targets

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return half the squared residuals."""
        return np.asarray(0.5 * (raw - y) ** 2)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y."""
        return np.asarray(raw - y)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1."""
        return np.ones_like(raw)

    def bind(self, rows: LossRows) -> ErrorTerms:
        """Return the loss at some rows."""
        return ErrorTerms.of(SQUARED, rows)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the mean."""
        (sums,) = shards.call([sum_targets()])
        return np.array([rounded(sums[0]) / rounded(sums[1])])


# Losses without a closed form: the minimiser lies between the residuals.


class ConvexLoss(BuiltIn):
    """A loss that is convex in F - y, so that its minimiser lies between the residuals."""

    smooth: ClassVar[bool] = False
    least_squares: ClassVar[bool] = True
    longest: ClassVar[float] = FAR  # it rises on both sides, in any unit of the targets

    @property
    def steepest(self) -> float:
        """The slope where the loss is a straight line; 0 where that differs from row to row."""
        return 0.0

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the constant of least loss, which lies among the targets."""
        ends, sums = shards.call([target_range(), sum_targets()])
        bounds, sums_at = self._bounds(ends, rounded(sums[1])), self._sums_at(shards)

        # A convex function that is flat in places: Newton's method needs the ends of the targets as
        # a bracket.
        def at(f0: Floats) -> tuple[Floats, Floats]:
            gradient, hessian = (np.array([part]) for part in sums_at(f0, 0))
            return bounds.level(gradient, hessian), hessian

        return minimise_between(at, bounds.low, bounds.high)

    def leaf_bounds(self, shards: Shards, weigh: Callable[[], Floats]) -> LeafBounds:
        """Return the ends of the residuals of every leaf, between which its minimiser lies."""
        weights = weigh()
        (ends,) = shards.call([residual_ranges(n_leaves=len(weights))])
        return self._bounds(ends, weights)

    def _bounds(self, ends: Floats, weights: Any) -> LeafBounds:
        """Return bounds by -least and largest residuals, (2, L), and the sums of weights.

        Where nothing bends, the gradient is a sum of +-(weight * steepest), each rounded.
        """
        low, high = np.where(np.isfinite(ends), ends, 0.0) * np.array([[-1.0], [1.0]])
        return LeafBounds(low, high, 2.0**-52 * self.steepest * weights)


# Huber's loss: squared errors near, absolute ones far away.


@dataclass(frozen=True)
class HuberLoss(ConvexLoss):
    """Squared up to `delta`, linear beyond: ``r^2 / 2``, else ``delta (|r| - delta / 2)``.

    Examples
    --------
    >>> import numpy as np
    >>> HuberLoss(delta=1.0).value(np.array([0.0, 3.0]), np.array([0.5, 0.5])).tolist()
    [0.125, 2.0]
    """

    delta: float = 1.0
    kind: ClassVar[str] = "huber"

    @property
    def steepest(self) -> float:
        """Delta."""
        return self.delta

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> HuberLoss:
        """Return the loss of the parameter `delta`; None is chosen by the targets."""
        if params.delta is None:
            return cls(huber_delta(y, weights))
        check_number("delta", params.delta, low=0.0, open_low=True)
        return cls(float(params.delta))

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the loss of every row."""
        r = np.abs(raw - y)
        near = np.minimum(r, self.delta)
        return np.asarray(near * (r - 0.5 * near))

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y, cut at delta."""
        return np.clip(raw - y, -self.delta, self.delta)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1 within delta, 0 beyond."""
        return (np.abs(raw - y) <= self.delta).astype(float)

    def bind(self, rows: LossRows) -> ErrorTerms:
        """Return the loss at some rows."""
        return ErrorTerms.of(HUBER, rows, np.array([float(self.delta)]))


# Errors that cost more on one side: quantiles, of which the median is one.


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
        """Return y, weights and the prices over and under, (m, 4); 0 for rows not learnt from."""
        rows = state.data
        # Rows outside the sample get a weight of 0, which moves no quantile.
        keep = state.keep if len(state.keep) else 1.0
        parts = np.asarray(rows.y, float), rows.unit_or_weights * keep, *self._prices(rows.prices)
        return np.column_stack(np.broadcast_arrays(*parts))

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
        """Return y and the weighted prices over and under, in a unit that leaves them room."""
        y, weights, *prices = shards.fetch(lambda shard: self.priced(shard.state)).T
        over, under = near_one(np.array(prices)) * near_one(weights)
        return y, over, under


@dataclass(frozen=True)
class AbsoluteLoss(PinballLoss):
    """``|y - F|``; its best constant is the median.

    Examples
    --------
    >>> import numpy as np
    >>> AbsoluteLoss().value(np.array([0.0, 3.0]), np.array([0.5, 0.5])).tolist()
    [0.5, 2.5]
    """

    kind: ClassVar[str] = "absolute"
    takes_prices: ClassVar[bool] = False

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> AbsoluteLoss:
        """Return the loss, whatever `over` and `under` are."""
        return cls()


# Prices of both sides, per unit and per squared unit.


@dataclass(frozen=True)
class CostLoss(ConvexLoss):
    """Prices over and under, per unit and per squared unit that F lies off y.

    Prices per row, (n, 4), in the order of the fields, replace the constants. With prices per unit
    alone `PinballLoss` takes its place, whose minimisers are quantiles: see `of`.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CostLoss(over=1, under=2, under_squared=0.5)
    >>> loss.value(np.zeros(2), np.array([2.0, -2.0])).tolist()
    [2.0, 6.0]
    """

    over: float = 1.0
    under: float = 1.0
    over_squared: float = 0.0
    under_squared: float = 0.0
    kind: ClassVar[str] = "cost"
    needs_all_rows: ClassVar[bool] = True  # quantiles, where prices are per unit

    @classmethod
    def of(cls, prices: Floats) -> BuiltIn:
        """Return the loss of prices, (n, 4): those of the first row; linear or not by all."""
        over, under, *squares = prices[0].tolist()
        return cls(over, under, *squares) if prices[:, 2:].any() else PinballLoss(over, under)

    def _prices(self, raw: Floats, y: Array, prices: Floats | None) -> tuple[Any, Any]:
        """Return the prices of the side on which each answer lies, per unit and squared unit."""
        if prices is None:
            own = np.array([self.over, self.under, self.over_squared, self.under_squared])
            prices = own[None, :]
        high = raw > y
        linear = np.where(high, prices[:, 0], prices[:, 1])
        return linear, np.where(high, prices[:, 2], prices[:, 3])

    def value(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return the price of every row's error."""
        linear, square = self._prices(raw, y, prices)
        size = np.abs(raw - y)
        return np.asarray(size * (linear + square * size))

    def gradient(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return the price of a little more: negative where F is too low, 0 where F = y."""
        linear, square = self._prices(raw, y, prices)
        error = raw - y
        return np.asarray(np.sign(error) * linear + 2.0 * square * error)

    def hessian(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return twice the squared price."""
        return np.asarray(2.0 * self._prices(raw, y, prices)[1])

    def _extra(self, rows: LossRows) -> tuple[Any, ...]:
        return () if rows.prices is None else (rows.prices,)


def _margins(shard: Shard) -> Floats:
    return np.asarray(shard.state.margins)
