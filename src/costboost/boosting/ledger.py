"""Margins of the training rows, and what the decisions by them cost.

With constant costs a confusion matrix of exact counts is priced; with a price per row the prices of
the decisions are added up exactly, so that the cost does not depend on the shards.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _row_kernels as kernels
from costboost.boosting.sums import Hypothesis, to_float
from costboost.costs import Costs
from costboost.trees.shards import Shard, Shards, grid_scale

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_EMPTY = np.zeros(0)


class Ledger:
    """Keeps margins and says what the decisions so far cost on the training rows."""

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        y: Int64,
        sample_weight: Floats | None,
        labels: Int64,
        n_classes: int,
        decision: Literal["sign", "cheapest"],
    ) -> None:
        self.shards, self.costs, self.y = shards, costs, y
        self.sample_weight, self.n_classes = sample_weight, n_classes
        self.weight_scale = 1.0
        if sample_weight is not None:
            self.weight_scale = grid_scale(float(np.max(sample_weight)), len(y))
            shards.scatter("sample weights", sample_weight)
        cheapest = decision == "cheapest"
        self.by_expectation = not costs.is_square or (cheapest and n_classes > 2 and costs.per_row)
        # Rows are grouped by the labels aimed at: a table by class prices them if those are y.
        same_labels = bool(np.array_equal(labels, y))
        self.by_table = costs.is_constant and costs.is_square and same_labels
        if self.by_table:
            self.table = costs.of_labels(np.arange(n_classes), encoded=True)
        elif not self.by_expectation:
            prices = costs.of_labels(y, encoded=True)
            # A power of two, so that nothing is rounded.
            self.unit = math.ldexp(1.0, math.frexp(float(np.max(np.abs(prices))))[1])
            shards.scatter("prices", prices / self.unit)
        self.rewards = np.zeros((0, 0))
        self.limit = np.zeros(1)
        if cheapest and not self.by_expectation:
            self._set_limits()

    def _set_limits(self) -> None:
        """Put AdaMEC's rule in place: rewards of K classes, or limits of the margin."""
        if self.n_classes > 2:
            self.rewards = -self.costs.of_labels(np.arange(self.n_classes), encoded=True)
            return
        # s > threshold with s = (1 + F / A) / 2: F > A (2 threshold - 1)
        limit = 2.0 * np.atleast_1d(self.costs.thresholds()) - 1.0
        if self.costs.per_row:
            self.shards.scatter("limits", limit)
        else:
            self.limit = limit

    def vote(
        self, hypothesis: Hypothesis, values: Floats, alpha: float, total_alpha: float
    ) -> float:
        """Add a round's votes to the margins; return the total cost of the decisions."""
        scale = grid_scale(self._heaviest(), self.shards.n_rows)
        votes = (hypothesis, values, alpha, total_alpha, scale)
        sums = self.shards.sum(lambda shard: self._vote_shard(shard, *votes))
        if self.by_expectation:
            return self._expected_cost(total_alpha)
        if self.by_table:
            return float(np.sum(sums / self.weight_scale * self.table))
        return to_float(sums, scale, 1.0)[0] * self.unit

    def _heaviest(self) -> float:
        return 1.0 if self.sample_weight is None else float(np.max(self.sample_weight))

    def _vote_shard(
        self,
        shard: Shard,
        hypothesis: Hypothesis,
        values: Floats,
        alpha: float,
        total_alpha: float,
        scale: float,
    ) -> Int64:
        """Vote; return a confusion matrix, or the exact price of the decisions, (1, 2)."""
        priced = not (self.by_table or self.by_expectation)
        out = np.zeros((1, 2), dtype=np.int64)
        weights = shard.data.get("sample weights", _EMPTY)
        margins, n_classes = shard.data["margins"], self.n_classes
        if n_classes > 2:
            decisions = np.zeros(len(shard.rows) if priced else 0, np.uint8)
            confusion = np.zeros((n_classes, max(n_classes, self.rewards.shape[1])), np.int64)
            sizes = np.ascontiguousarray(values[np.arange(len(values)), hypothesis.votes])
            votes = (hypothesis.votes, sizes, self.rewards, weights, self.weight_scale)
            rows = (margins, shard.starts, shard.leaves)
            kernels.vote_classes(*rows, *votes, decisions, confusion)
            if priced:
                kernels.price_decisions(decisions, shard.data["prices"], weights, scale, out)
            return out if priced else confusion
        flat = np.ascontiguousarray(values[:, 0])
        if hypothesis.by_row:
            sign = np.where(hypothesis.votes == 1, 1.0, -1.0)[shard.leaves]
            margins[:, 0] += alpha * sign * shard.data["sizes"]
            flat = np.zeros_like(flat)
        tail = (flat, total_alpha * shard.data.get("limits", self.limit), weights)
        if priced:
            prices = shard.data["prices"]
            kernels.vote_at_prices(margins, shard.leaves, *tail, prices, scale, out)
            return out
        confusion = np.zeros((2, 2), dtype=np.int64)
        rows = (margins, shard.starts, shard.leaves)
        kernels.vote_binary(*rows, *tail, self.weight_scale, confusion)
        return confusion

    def _expected_cost(self, total_alpha: float) -> float:
        """Take the slow road: actions that are not classes, or K classes with a price per row."""
        decided = self.costs.decide(vote_shares(self.shards.gather("margins"), total_alpha))
        assert self.costs.classes is not None
        return float(self.costs.total(self.costs.classes[self.y], decided, self.sample_weight))


def vote_shares(margins: Floats, total_alpha: float) -> Floats:
    """Return each class's share of the votes, (n, K): s = sum_{h = k} alpha / sum alpha."""
    if margins.shape[1] == 1:
        share = np.clip(0.5 * (1.0 + margins[:, 0] / total_alpha), 0.0, 1.0)
        return np.column_stack([1.0 - share, share])
    total = margins.sum(axis=1, keepdims=True)
    uniform = np.full(margins.shape, 1.0 / margins.shape[1])  # where nobody has voted
    return np.asarray(np.divide(margins, total, out=uniform, where=total > 0.0))
