"""What margins amount to on the training rows: the cost of decisions, or the mean loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _vote_kernels as kernels
from costboost.boosting.gradient.messages import SumValues, WriteValues
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.gradient.starting import WeightedSum
from costboost.boosting.paying import Payer, PriceDecisions
from costboost.costs import Costs
from costboost.shards.grid import grid_scale, rounded, to_floats
from costboost.shards.local import Shards
from costboost.shards.messages import Message
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_NO_DECISIONS = np.zeros(0, dtype=np.uint8)


def loss_tally(loss: Any, rows: LossRows) -> Callable[[Shards, float], float]:
    """Return the function that gives the mean loss of the training rows."""
    if loss.bind(rows.take(slice(0))) is None:  # a user's loss, asked for all rows at once
        return lambda shards, total: loss.mean_value(rows, shards.fetch(_margins), total)
    return MeanLoss()


class MeanLoss:
    """The mean loss of the training rows, where the loss has kernels for it."""

    def __init__(self) -> None:
        self._weight: float | None = None  # of all rows, which does not change

    def __call__(self, shards: Shards, total: float) -> float:
        """Return the mean loss at the shards' margins."""
        if self._weight is None:
            self._weight = rounded(shards.call([WeightedSum()])[0][1])
        (largest,) = shards.call([WriteValues()])
        scale = grid_scale(largest, shards.n_rows)
        (values,) = shards.call([SumValues(scale)])
        return float(to_floats(values, scale, self._weight)[0])


def _margins(shard: Shard) -> Floats:
    return np.asarray(shard.state.margins)


@dataclass(frozen=True)
class CountDecisions(Message):
    """Decide between two classes by the margins; return a confusion matrix of exact counts.

    `limits`, (1,): the second is answered above, unless rows have limits of their own.
    """

    limits: Floats
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the matrix, (2, 2)."""
        state, confusion = shard.state, np.zeros((2, 2), dtype=np.int64)
        rows = (state.margins, state.bill.truth, _limits(shard, self.limits))
        kernels.count_binary(*rows, state.weights, self.scale, confusion)
        return confusion


@dataclass(frozen=True)
class PriceAnswers(Message):
    """Decide in the same way; add up what the decisions cost where rows have their own prices.

    The prices are read where the user gave them: no row holds those of both answers.
    """

    limits: Floats
    scale: float
    unit: float

    def answer(self, shard: Shard) -> Int64:
        """Return the exact price, (1, 2)."""
        state, bill, out = shard.state, shard.state.bill, np.zeros((1, 2), dtype=np.int64)

        def prices(k: int) -> tuple[Floats, Floats]:
            first, second = bill.costs.of_class(k)
            shape = bill.truth.shape
            return np.broadcast_to(first, shape), np.broadcast_to(second, shape)

        rows = (state.margins, bill.truth, _limits(shard, self.limits))
        paid = (*prices(0), *prices(1), self.unit)
        kernels.price_binary(*rows, *paid, state.weights, self.scale, out)
        return out


def _limits(shard: Shard, shared: Floats) -> Floats:
    own: Floats | None = shard.state.bill.limits
    return shared if own is None else own


@dataclass(frozen=True)
class CountChoices(Message):
    """Decide among K > 2 classes by the margins; return a confusion matrix of exact counts.

    Attributes
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

    n_classes: int
    odds: float
    prices: Floats
    scale: float
    kept: bool

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Return the matrix, (K, K)."""
        state, bill = shard.state, shard.state.bill
        decisions = bill.room() if self.kept else _NO_DECISIONS
        confusion = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        how = (self.odds, self.prices, state.weights, self.scale, np.zeros((1, self.n_classes)))
        kernels.count_classes(state.margins, bill.truth, *how, decisions, confusion)
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
        scale = loss.link_scale if cheapest else 1.0
        odds = 1.0 if scale is None else scale
        self.payer = payer = Payer(
            shards,
            costs,
            n_classes,
            cheapest=cheapest,
            odds=odds,
            proba=LossProba(loss),
            own_link=scale is None,
        )
        self._ask: list[Message]  # the last answer is what the payer takes
        if n_classes == 2:
            self._ask = [CountDecisions(payer.limits, payer.weight_scale)]
            if payer.priced:
                self._ask = [PriceAnswers(payer.limits, payer.scale, payer.unit)]
            return
        payer.set_prices()
        how = (odds, payer.class_prices, payer.weight_scale, payer.priced)
        self._ask = [CountChoices(n_classes, *how)]
        if payer.priced:
            self._ask.append(PriceDecisions(payer.scale))

    def __call__(self, shards: Shards, total: float) -> float:
        """Return what the decisions by the shards' margins cost in all."""
        answers = [None] if self.payer.slowly else shards.call(self._ask)
        return self.payer.pay(answers[-1], total)
