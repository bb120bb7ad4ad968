"""Rows with the price of every answer: what the loop of the L_p family reads, block by block.

    constant costs   shard.data["truth"] (m,) and one table (K, K)
    costs per row    shard.data["excess"] (m, K), "labels" (m,), "floor" (m,)
    weights          shard.data["sample weights"] (m,), if there are any

Passes over rows go by small blocks, so that nothing as large as the rows is made beside them. Sums
are taken over terms on a grid, exactly: they do not depend on their order, so not on the shards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.shards.grid import grid_scale
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_BLOCK = 1 << 14  # numbers in a block: it and its copies stay in the cache
_COPIES = 1 << 6  # weights up to here that are whole numbers stand for copies of rows
_EXACT = 53  # bits: float64 sums of whole numbers below 2**53 are exact in any order
_NOTHING = np.zeros(0)


@dataclass(frozen=True)
class AnswerCosts:
    """What each answer costs over the cheapest one, by class or by row.

    Attributes
    ----------
    labels : int64 array of shape (K,) or (n,)
        The cheapest answer: the true one, unless another costs less.
    excess : float64 array of shape (K, K) or (n, K)
        C, by true class or by row; the largest is between 1/2 and 1.
    floor : float64 array of shape (K,) or (n,)
        What the cheapest answer costs, in the user's units.
    unit : float
        What `excess` was divided by, a power of two.
    constant : bool
        Whether the arrays are by class.
    """

    labels: Int64
    excess: Floats
    floor: Floats
    unit: float
    constant: bool


def answer_costs(costs: Costs, y: Int64, n_classes: int) -> AnswerCosts:
    """Turn bound costs and encoded labels into what each answer costs."""
    keys = np.arange(n_classes) if costs.is_constant else y
    excess = costs.of_labels(keys, encoded=True)
    labels = np.asarray(costs.cheapest_labels(keys, encoded=True), dtype=np.int64)
    floor = excess[np.arange(len(keys)), labels]
    excess -= floor[:, None]
    largest = float(np.max(excess, initial=0.0))
    unit = float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0.0 else 1.0
    excess /= unit
    return AnswerCosts(labels, excess, floor, unit, costs.is_constant)


class PricedRows:
    """The rows of one fit: their costs, their weights, and exact sums over them.

    Parameters
    ----------
    shards : Shards
        Rows in any grouping.
    costs : Costs
        Bound costs in the user's units, square.
    y : int64 array of shape (n,)
        The true labels, encoded.
    sample_weight : float64 array of shape (n,) or None
    n_classes : int

    Attributes
    ----------
    copies : int
        The largest weight, if all are small whole numbers: rows given several times. Else 0.
    total_weight : float
        In units of `weight_unit`, as the weights that the shards hold.
    largest_cost : float
        Max C, between 1/2 and 1 (or 0), in units of `unit`.
    """

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        y: Int64,
        sample_weight: Floats | None,
        n_classes: int,
    ) -> None:
        self.shards, self.n_classes, self.n_rows = shards, n_classes, len(y)
        prices = answer_costs(costs, y, n_classes)
        self.unit, self.constant = prices.unit, prices.constant
        self.largest_cost = float(np.max(prices.excess))
        self._table = self._hold(prices, y)
        self.copies, self.weight_unit, self._heaviest = 1, 1.0, 1.0
        self.total_weight = float(self.n_rows)
        if sample_weight is not None:
            self._set_weights(sample_weight)
        self._floor = self._total_floor()

    def _hold(self, prices: AnswerCosts, y: Int64) -> AnswerCosts:
        """Give the shards what varies by row; keep what varies by class."""
        if prices.constant:
            kind = np.uint8 if self.n_classes <= 256 else np.uint32
            self.shards.scatter("truth", y.astype(kind))
            return prices
        self.shards.scatter("labels", prices.labels)
        self.shards.scatter("excess", prices.excess)
        self.shards.scatter("floor", prices.floor)
        return replace(prices, labels=y[:0], excess=_NOTHING, floor=_NOTHING)

    def _set_weights(self, sample_weight: Floats) -> None:
        """Hold weights so that a weight of 2 is a row given twice, in every sum.

        Divided by a power of two they are small whole numbers, if they can be.
        """
        exponent = _common_exponent(sample_weight)
        weights = sample_weight if exponent is None else np.ldexp(sample_weight, -exponent)
        heaviest = float(np.max(weights))
        if exponent is None or heaviest > _COPIES:
            weights = np.ldexp(weights, -int(np.frexp(heaviest)[1]))
            self.copies = 0
        else:
            self.copies = int(heaviest)
        self._heaviest = float(np.max(weights))
        self.total_weight = math.fsum(weights)
        self.weight_unit = float(np.max(sample_weight) / self._heaviest)
        self.shards.scatter("sample weights", weights)

    # --- some rows of a shard

    def blocks(self, shard: Shard) -> Iterator[slice]:
        """Yield the rows of a shard, a few at a time."""
        step = max(1, _BLOCK // self.n_classes)
        for start in range(0, len(shard.rows), step):
            yield slice(start, min(start + step, len(shard.rows)))

    def excess(self, shard: Shard, rows: slice) -> Floats:
        """Return C, (m, K), in units of `unit`."""
        if self.constant:
            return np.asarray(self._table.excess[shard.data["truth"][rows]])
        return np.asarray(shard.data["excess"][rows])

    def labels(self, shard: Shard, rows: slice) -> Int64:
        """Return the cheapest answers, (m,)."""
        if self.constant:
            return np.asarray(self._table.labels[shard.data["truth"][rows]])
        return np.asarray(shard.data["labels"][rows])

    def weights(self, shard: Shard, rows: slice) -> Floats | None:
        """Return the weights, (m, 1), if there are any."""
        weights = shard.data.get("sample weights")
        return None if weights is None else np.asarray(weights[rows, None])

    # --- sums over all rows

    def sum(self, terms: Callable[[Shard, slice], Floats], bound: float) -> float:
        """Return the weighted sum over all rows of terms of size at most `bound`, exactly.

        A term is cut into whole grid units and a remainder on a finer grid; sums of whole
        numbers below 2**53 do not depend on their order.
        """
        n_terms = self.n_rows * self.n_classes
        scale = grid_scale(bound * self._heaviest, n_terms, _EXACT)
        fine = grid_scale(1.0, n_terms, _EXACT)

        def part(shard: Shard) -> Floats:
            sums = np.zeros(2)
            for rows in self.blocks(shard):
                weights, scaled = self.weights(shard, rows), terms(shard, rows) * scale
                scaled = scaled if weights is None else scaled * weights
                units = np.floor(scaled)
                sums += np.sum(units), np.sum(np.rint((scaled - units) * fine))
            return sums

        units, rest = self.shards.sum(part).tolist()
        return float((units + rest / fine) / scale)

    def total_cost(self, decide: Callable[[Shard, slice], NDArray[Any]]) -> float:
        """Return what decisions cost altogether, in the user's units."""

        def paid(shard: Shard, rows: slice) -> Floats:
            decided = decide(shard, rows)
            if self.constant:
                return np.asarray(self._table.excess[shard.data["truth"][rows], decided][:, None])
            return np.take_along_axis(shard.data["excess"][rows], decided[:, None], axis=1)

        return (self.sum(paid, 1.0) * self.unit + self._floor) * self.weight_unit

    def _total_floor(self) -> float:
        """Return what the cheapest answers cost, over all rows."""
        table = self._table.floor

        def floor(shard: Shard, rows: slice) -> Floats:
            values = (
                table[shard.data["truth"][rows]] if self.constant else shard.data["floor"][rows]
            )
            return np.asarray(values[:, None])

        def largest(shard: Shard) -> float:
            parts = (np.max(np.abs(floor(shard, rows))) for rows in self.blocks(shard))
            return float(max(parts, default=0.0))

        bound = max(self.shards.map(largest))
        return self.sum(floor, bound) if bound > 0.0 else 0.0


def _common_exponent(weights: Floats) -> int | None:
    """Return the power of two whose whole multiples all weights are, if it is not too small."""
    largest = int(np.frexp(float(np.max(weights)))[1])
    for exponent in range(largest - 1, largest - _COPIES.bit_length() - 1, -1):
        scaled: Any = np.ldexp(weights, -exponent)
        if np.all(scaled == np.rint(scaled)):
            return exponent
    return None
