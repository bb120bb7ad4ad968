"""What margins amount to on the training rows: the cost of decisions, or the mean loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _vote_kernels
from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.messages import SumValues, WeightedSum, WriteValues
from costboost.boosting.gradient.rows import Rows
from costboost.boosting.limits import share_limits
from costboost.costs import Costs
from costboost.shards.grid import grid_scale, rounded, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_NO_DECISIONS = np.zeros(0, dtype=np.uint8)


def loss_tally(loss: Any, rows: Rows) -> Callable[[Shards, float], float]:
    """Return the function that gives the mean loss of the training rows."""
    if loss.bind(rows) is None:  # a user's loss, asked for all rows at once
        return lambda shards, total: loss.mean_value(rows, shards.fetch(_margins), total)

    def tally(shards: Shards, total: float) -> float:
        (largest,) = shards.call([WriteValues()])
        scale = grid_scale(largest, shards.n_rows)
        values, sums = shards.call([SumValues(scale), WeightedSum()])
        return float(to_floats(values, scale, rounded(sums[1]))[0])

    return tally


def _margins(shard: Shard) -> Floats:
    return np.asarray(shard.state.margins)


class CostTally:
    """The total cost of the training rows' decisions.

    Parameters
    ----------
    shards : Shards
        With "labels" in place (of the loss; the true ones are scattered here).
    costs : Costs
        Bound, in the user's units.
    y : int64 array of shape (n,)
    weights : float64 array of shape (n,) or None
    odds : float or None
        F times this is the log odds (or the softmax's input), and decisions are the cheapest;
        None: decisions are by the sign of F, or its largest entry.
    proba : callable
        From F to probabilities, where neither is possible in a kernel.
    """

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        y: Int64,
        weights: Floats | None,
        odds: float | None,
        proba: Callable[[Floats], Floats],
        n_classes: int,
    ) -> None:
        self.costs, self.y, self.weights = costs, y, weights
        self.odds, self.proba, self.n_classes = odds, proba, n_classes
        shards.scatter("truth", y.astype(np.uint8))
        self.scale = 1.0
        if weights is not None:
            self.scale = grid_scale(float(np.max(weights)), len(y))
        cheapest = odds is not None
        binary = n_classes == 2 and costs.is_square
        shares = share_limits(costs) if cheapest and binary else None
        no_limits = shares is None if binary else costs.per_row
        self.slowly = cheapest and (not costs.is_square or no_limits)
        self.table = None
        if costs.is_constant and costs.is_square:
            self.table = costs.of_labels(np.arange(n_classes), encoded=True)
        elif not self.slowly:
            prices = costs.of_labels(y, encoded=True)
            self.unit = float(np.max(np.abs(prices))) or 1.0
            shards.scatter("paid", prices / self.unit)
        self.limits = np.zeros(1)
        self._per_row = False
        if shares is not None:
            self._set_limits(shards, np.clip(shares, 0.0, 1.0))

    def _set_limits(self, shards: Shards, shares: Floats) -> None:
        """P > its limit if and only if F > logit(limit) / odds."""
        assert self.odds is not None
        with np.errstate(divide="ignore"):
            limits = (np.log(shares) - np.log1p(-shares)) / self.odds
        self._per_row = self.costs.per_row
        if self._per_row:
            shards.scatter("limits", limits)
        else:
            self.limits = limits[:1]

    def __call__(self, shards: Shards, total: float) -> float:
        """Return what the decisions by the shards' margins cost in all."""
        if self.slowly:
            return self._by_expectation(shards)
        counts = shards.sum(self._count)
        if self.table is not None:
            return float(np.sum(counts / self.scale * self.table))
        heaviest = 1.0 if self.weights is None else float(np.max(self.weights))
        scale = grid_scale(heaviest, shards.n_rows)

        def price(shard: Shard) -> Int64:
            out = np.zeros((1, 2), dtype=np.int64)
            data = shard.data
            rows = (data["decisions"], data["paid"], shard.state.weights)
            _vote_kernels.price_decisions(*rows, scale, out)
            return out

        return float(to_floats(shards.sum(price), scale)[0]) * self.unit

    def _count(self, shard: Shard) -> Int64:
        data = shard.data
        decisions = _NO_DECISIONS
        if self.table is None:
            decisions = data.setdefault("decisions", np.zeros(len(shard.rows), np.uint8))
        confusion = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        weights = (shard.state.weights, self.scale)
        if self.n_classes == 2:
            limits = data["limits"] if self._per_row else self.limits
            rows = (shard.state.margins, data["truth"])
            kernels.count_decisions(*rows, limits, *weights, decisions, confusion)
            return confusion
        prices = np.zeros((0, 0)) if self.odds is None or self.table is None else self.table
        how = (self.odds or 1.0, prices, *weights, np.zeros(self.n_classes))
        kernels.count_choices(shard.state.margins, data["truth"], *how, decisions, confusion)
        return confusion

    def _by_expectation(self, shards: Shards) -> float:
        """Take the slow road: other actions, no limits, or K classes with prices per row."""
        margins = shards.fetch(_margins)
        proba = self.proba(margins[:, 0] if self.n_classes == 2 else margins)
        decided: Any = self.costs.decide(proba)
        assert self.costs.classes is not None
        return float(self.costs.total(self.costs.classes[self.y], decided, self.weights))
