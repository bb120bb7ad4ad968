"""Messages before the first round: sums over rows, from which the first margins follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.rows import GradientRows, Held, LossRows
from costboost.boosting.train_cost import make_pricing
from costboost.runtime.messages import first, largest, message, totals
from costboost.shards.grid import exact_count, exact_sum, rounded
from costboost.shards.layout import RowData
from costboost.shards.local import Shards
from costboost.shards.rows import Shard
from costboost.typing import Floats

# Rows of gradient boosting, made here or on a worker.


@dataclass(frozen=True)
class GradientLoader:
    """Makes `GradientRows`; see `costboost.shards.layout`.

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
        """The data of all rows as the loss takes them."""
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
        """Return the state of a shard that holds some rows."""
        data, costs = self.rows.take(rows), self.data.costs
        if costs is None:
            return GradientRows(data)
        if data.costs is not None:  # held once
            return GradientRows(data, make_pricing(data.costs, data.y, slice(None)))
        return GradientRows(data, make_pricing(costs, self.data.y, rows))

    def blank(self) -> GradientLoader:
        """Return a loader of the same settings without rows."""
        return replace(self, data=self.data.take(np.zeros(0, dtype=np.int64)))

    def on(self, data: RowData) -> GradientLoader:
        """Return a loader of the same settings for other rows and their own costs."""
        costs = self.data.costs if data.costs is None else data.costs
        return replace(self, data=replace(data, costs=costs))


def _by_blocks(
    part: Callable[[LossRows], tuple[int, ...]], rows: LossRows, n_sums: int
) -> tuple[int, ...]:
    """Add up exact sums over blocks of rows: what is made on the way stays small."""
    return totals([(0,) * n_sums, *(part(some) for _, some in rows.blocks())])


@message(reduce=largest)
def largest_cost(shard: Shard, *, loss: Any) -> float:
    """Return the largest cost, by which a loss scales."""
    return float(loss.largest_cost(shard.state.data))


@message(reduce=first)
def fetch_row_kinds(shard: Shard) -> LossRows:
    """Return a `LossRows` without rows, which shows whether there are weights, prices and so on."""
    rows: LossRows = shard.state.data.take(slice(0))
    return rows


@message(reduce=largest, changes=True)
def bind_loss(shard: Shard, *, loss: Any, start: tuple[float, ...], moves_by: str) -> Floats:
    """Bind rows to a loss, and set their first margins to a constant.

    Return the largest weight of a row, and of the loss the largest w0, |b| and weighted |a|, (4,).
    `moves_by` is what rows store of a round until its step is taken: see `GradientRows`.
    """
    state, bound = shard.state, loss.bind(shard.state.data)
    if bound is None:  # a user's loss: it gets the arrays of all rows in every round
        state.data = state.data.priced()
    state.terms = Held(state.weights) if bound is None else bound
    state.margins = np.tile(np.array(start), (len(shard.rows), 1))
    state.moves_by = moves_by
    heaviest = 1.0 if state.data.weights is None else np.max(state.weights, initial=0.0)
    largest_size = np.max(state.sizes, initial=0.0) if loss.has_prices else 0.0
    return np.array([heaviest, state.terms.largest_w0, state.terms.drift, largest_size])


@message(reduce=totals)
def sum_targets(shard: Shard) -> tuple[int, ...]:
    """Add up y and the weights, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        weights = rows.unit_or_weights
        return exact_sum(np.asarray(rows.y, dtype=float) * weights), exact_sum(weights)

    return _by_blocks(part, shard.state.data, 2)


@message(reduce=largest)
def target_range(shard: Shard) -> Floats:
    """Return the range of the targets of rows with weight, (2, 1): -smallest, largest."""
    rows = shard.state.data
    # -smallest, so that both ends are reduced by their maximum.
    y = rows.y if rows.weights is None else rows.y[rows.weights > 0.0]
    return np.array([[np.max(part, initial=-np.inf)] for part in (-y, y)])


@message(reduce=totals)
def sum_class_weights(shard: Shard, *, n_classes: int) -> tuple[int, ...]:
    """Add up the weights of every class, without any rounding."""

    def part(rows: LossRows) -> tuple[int, ...]:
        weights, y = rows.weights, rows.y
        if weights is None:
            counts = np.bincount(y, minlength=n_classes).tolist()
            return tuple(map(exact_count, counts))
        return tuple(exact_sum(weights[y == k]) for k in range(n_classes))

    return _by_blocks(part, shard.state.data, n_classes)


def class_weights(shards: Shards, n_classes: int) -> Floats:
    """Return the weight of every class, (K,)."""
    (sums,) = shards.call([sum_class_weights(n_classes=n_classes)])
    return np.array([rounded(part) for part in sums])


def log_shares(shards: Shards, n_outputs: int) -> Floats:
    """Return the log odds of class 1, or the centred logs of every class's share, (J,)."""
    n_classes = 2 if n_outputs == 1 else n_outputs
    parts = class_weights(shards, n_classes).tolist()
    # A class without rows: as likely as one ulp.
    shares = np.maximum(np.array(parts) / math.fsum(parts), 2.0**-52)
    if n_outputs == 1:
        odds = parts[1] / parts[0] if min(parts) > 0 else float(shares[1] / shares[0])
        return np.array([math.log(odds)])
    logs = np.log(shares)
    return np.asarray(logs - math.fsum(logs.tolist()) / n_classes)


@message(reduce=first)
def terms_by_class(shard: Shard, *, loss: Any) -> Any:
    """Return (a, b, w0) by class, or None where rows of a class differ."""
    return loss.of_classes(shard.state.data)


@message(reduce=totals)
def sum_sizes(shard: Shard, *, loss: Any) -> tuple[int, ...]:
    """Add up the weighted |a| of rows, and their weights, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        weights = rows.unit_or_weights
        return exact_sum(loss.bind(rows).sizes * weights), exact_sum(weights)

    return _by_blocks(part, shard.state.data, 2)


@message(reduce=totals)
def sum_at_constant(
    shard: Shard, *, loss: Any, constant: tuple[float, ...], output: int
) -> tuple[int, ...]:
    """Add up the derivatives of one output at a constant, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        margins = np.tile(np.array(constant), (len(rows.y), 1))
        gradients, hessians = loss.derivatives(rows, margins)
        return exact_sum(gradients[:, output]), exact_sum(hessians[:, output])

    return _by_blocks(part, shard.state.data, 2)


def put_margins(shard: Shard, values: Floats) -> None:
    """Set first margins that differ by row, (m, J)."""
    shard.state.margins = values
