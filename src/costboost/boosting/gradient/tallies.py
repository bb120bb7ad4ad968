"""Training curves of gradient boosting: the cost of decisions, or the mean loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.boosting import _vote_kernels as kernels
from costboost.boosting.gradient.messages import sum_values, write_values
from costboost.boosting.gradient.rows import LossRows, sum_targets
from costboost.boosting.train_cost import DecisionCosts, price_decisions
from costboost.costs import Costs
from costboost.runtime.messages import Call, message, total
from costboost.shards.grid import grid_scale, rounded, to_floats
from costboost.shards.layout import Shards
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

_NO_DECISIONS = np.zeros(0, dtype=np.uint8)


def loss_tally(loss: Any, rows: LossRows) -> Callable[[Shards, float], float]:
    """Return the function that gives the mean loss of the training rows."""
    if loss.bind(rows.take(slice(0))) is None:  # a user's loss, which needs all rows at once
        return lambda shards, total: loss.mean_value(rows, shards.fetch(_margins), total)
    return MeanLoss()


class MeanLoss:
    """The mean loss of the training rows, where the loss has kernels for it."""

    def __init__(self) -> None:
        self._weight: float | None = None  # of all rows, which does not change

    def __call__(self, shards: Shards, total: float) -> float:
        """Return the mean loss at the shards' margins."""
        if self._weight is None:
            self._weight = rounded(shards.call([sum_targets()])[0][1])
        (largest,) = shards.call([write_values()])
        scale = grid_scale(largest, shards.n_rows)
        (values,) = shards.call([sum_values(scale=scale)])
        return float(to_floats(values, scale, self._weight)[0])


def _margins(shard: Shard) -> Floats:
    return np.asarray(shard.state.margins)


@message(reduce=total)
def count_decisions(shard: Shard, *, limits: Floats, scale: float) -> Int64:
    """Decide between two classes by the margins; return a confusion matrix of exact counts.

    `limits`, (1,): the second is answered above, unless rows have limits of their own.
    """
    state, confusion = shard.state, np.zeros((2, 2), dtype=np.int64)
    rows = (state.margins, state.pricing.truth, _limits(shard, limits))
    kernels.count_binary(*rows, state.weights, scale, confusion)
    return confusion


@message(reduce=total)
def price_binary_decisions(shard: Shard, *, limits: Floats, scale: float, unit: float) -> Int64:
    """Decide in the same way; add up what the decisions cost where rows have their own prices.

    The prices are read where the user gave them: no row holds those of both answers.
    """
    state, pricing, out = (
        shard.state,
        shard.state.pricing,
        np.zeros((1, 2), dtype=np.int64),
    )

    def prices(k: int) -> tuple[Floats, Floats]:
        first, second = pricing.costs.of_class(k)
        shape = pricing.truth.shape
        return np.broadcast_to(first, shape), np.broadcast_to(second, shape)

    rows = (state.margins, pricing.truth, _limits(shard, limits))
    paid = (*prices(0), *prices(1), unit)
    kernels.price_binary(*rows, *paid, state.weights, scale, out)
    return out


def _limits(shard: Shard, shared: Floats) -> Floats:
    own: Floats | None = shard.state.pricing.limits
    return shared if own is None else own


@message(reduce=total, changes=True)
def count_class_decisions(
    shard: Shard, *, n_classes: int, odds: float, prices: Floats, scale: float, kept: bool
) -> Int64:
    """Decide among K > 2 classes by the margins; return a confusion matrix of exact counts.

    Parameters
    ----------
    n_classes : int
    odds : float
        F times this is the softmax's input.
    prices : float64 array of shape (K, K), or without entries
        Decisions are for the least expected price; without, for the largest F.
    scale : float
    kept : bool
        Whether decisions are kept, to be priced.
    """
    state, pricing = shard.state, shard.state.pricing
    decisions = pricing.last_decisions() if kept else _NO_DECISIONS
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    how = (odds, prices, state.weights, scale, np.zeros((1, n_classes)))
    kernels.count_classes(state.margins, pricing.truth, *how, decisions, confusion)
    return confusion


@dataclass(frozen=True)
class LossProba:
    """The probabilities that a loss makes of margins."""

    loss: Any

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K)."""
        proba: Floats = self.loss.proba(margins[:, 0] if margins.shape[1] == 1 else margins)
        return proba


class CostTally:
    """The total cost of the training rows' decisions.

    Parameters
    ----------
    shards : Shards
    costs : Costs
        Bound, in the user's units.
    loss : BuiltIn
    n_classes : int
    cheapest : bool
        Whether decisions are the cheapest by the loss's probabilities; else they are by the sign
        of F, or its largest entry.
    """

    def __init__(
        self, shards: Shards, costs: Costs, loss: Any, n_classes: int, *, cheapest: bool
    ) -> None:
        # Without a link that scales F there are no limits of the margin: expected costs are needed.
        scale = loss.link_scale if cheapest else 1.0
        odds = 1.0 if scale is None else scale
        self.decision_costs = decision_costs = DecisionCosts(
            shards,
            costs,
            n_classes,
            cheapest=cheapest,
            odds=odds,
            proba=LossProba(loss),
            own_link=scale is None,
        )
        self._calls: list[Call[Any]]  # the answer to the last one goes to `DecisionCosts.pay`
        if n_classes == 2:
            self._calls = [
                count_decisions(limits=decision_costs.limits, scale=decision_costs.weight_scale)
            ]
            if decision_costs.priced:
                self._calls = [
                    price_binary_decisions(
                        limits=decision_costs.limits,
                        scale=decision_costs.scale,
                        unit=decision_costs.unit,
                    )
                ]
            return
        decision_costs.set_prices()
        self._calls = [
            count_class_decisions(
                n_classes=n_classes,
                odds=odds,
                prices=decision_costs.class_prices,
                scale=decision_costs.weight_scale,
                kept=decision_costs.priced,
            )
        ]
        if decision_costs.priced:
            self._calls.append(price_decisions(scale=decision_costs.scale))

    def __call__(self, shards: Shards, total: float) -> float:
        """Return the total cost of the decisions by the shards' margins."""
        answers = [None] if self.decision_costs.slowly else shards.call(self._calls)
        return self.decision_costs.pay(answers[-1], total)
