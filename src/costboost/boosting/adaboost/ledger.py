"""Margins of the training rows, and what the decisions by them cost.

With constant costs a confusion matrix of exact counts is priced; with a price per row the prices of
the decisions are added up exactly, so that the cost does not depend on the shards.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from costboost.boosting import _vote_kernels as kernels
from costboost.boosting.adaboost.links import voted_proba
from costboost.boosting.adaboost.normalizer import BLOCK, Hypothesis
from costboost.boosting.limits import share_limits
from costboost.costs import Costs
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

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
        *,
        shares: bool = True,
    ) -> None:
        self.shards, self.costs, self.y = shards, costs, y
        self.sample_weight, self.n_classes, self.shares = sample_weight, n_classes, shares
        heaviest = 1.0 if sample_weight is None else float(np.max(sample_weight))
        self.scale = grid_scale(heaviest, len(y))
        self.weight_scale = 1.0
        if sample_weight is not None:
            self.weight_scale = self.scale
            shards.scatter("sample weights", sample_weight)
        cheapest = decision == "cheapest"
        binary = n_classes == 2 and costs.is_square
        limits = share_limits(costs) if cheapest and binary else None
        no_limits = limits is None if binary else costs.per_row
        self.by_expectation = not costs.is_square or (cheapest and no_limits)
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
            if n_classes == 2:
                self._paid = shards.sum(self._pay_for_zeros)
        self._total_alpha = 0.0
        self.rewards = np.zeros((0, 0))
        self.limit = np.zeros(1)
        if cheapest and not self.by_expectation:
            self._set_limits(limits)

    def _set_limits(self, limits: Floats | None) -> None:
        """Put AdaMEC's rule in place: rewards of K classes, or limits of the margin."""
        if limits is None:
            self.rewards = -self.costs.of_labels(np.arange(self.n_classes), encoded=True)
            return
        # s > its limit with s = (1 + F / A) / 2: F > A (2 limit - 1)
        limit = 2.0 * limits - 1.0
        if not self.shares:  # 1 / (1 + exp(-2 F)) > its limit
            limit = 0.5 * logit(np.clip(limits, 0.0, 1.0))
        if self.costs.per_row:
            self.shards.scatter("limits", limit)
        else:
            self.limit = limit

    def _pay_for_zeros(self, shard: Shard) -> Int64:
        """Return what deciding 0 everywhere costs, exactly; keep what deciding 1 costs more."""
        out = np.zeros((1, 2), dtype=np.int64)
        self._price(shard, np.zeros(len(shard.rows), np.uint8), out)
        prices = shard.data.pop("prices")
        shard.data["extra"] = prices[:, 1] - prices[:, 0]
        return out

    def _price(self, shard: Shard, decisions: NDArray[np.uint8], out: Int64) -> None:
        weights = shard.data.get("sample weights", _EMPTY)
        kernels.price_decisions(decisions, shard.data["prices"], weights, self.scale, out)

    def vote(self, hypothesis: Hypothesis, values: Floats, total_alpha: float) -> float:
        """Add a round's votes to the margins; return the total cost of the decisions."""
        total_alpha = total_alpha if self.shares else 1.0
        vote = self._vote_binary if self.n_classes == 2 else self._vote_classes
        sums = self.shards.sum(lambda shard: vote(shard, hypothesis, values, total_alpha))
        if self.by_expectation:
            return self._expected_cost(total_alpha)
        if self.by_table:
            return float(np.sum(sums / self.weight_scale * self.table))
        if self.n_classes == 2:  # decisions that changed were priced
            sums = self._paid = self._paid + sums
            self._total_alpha = total_alpha
        return float(to_floats(sums, self.scale)[0]) * self.unit

    def _vote_binary(
        self, shard: Shard, hypothesis: Hypothesis, values: Floats, total_alpha: float
    ) -> Int64:
        """Vote; return a confusion matrix, or by how much the exact price changes, (1, 2)."""
        data = shard.data
        weights, limits = data.get("sample weights", _EMPTY), data.get("limits", self.limit)
        strengths = data["sizes"] if hypothesis.by_row else _EMPTY
        votes = (np.ascontiguousarray(values[:, 0]), strengths, limits)
        if self.by_table or self.by_expectation:
            confusion = np.zeros((2, 2), dtype=np.int64)
            rows = (data["margins"], shard.starts, shard.leaves)
            kernels.vote_binary(*rows, *votes, total_alpha, weights, self.weight_scale, confusion)
            return confusion
        out, turned = np.zeros((1, 2), dtype=np.int64), np.empty(BLOCK + 1, dtype=np.uint16)
        totals = (self._total_alpha, total_alpha)
        paid = (weights, data["extra"], self.scale, turned, out)
        kernels.vote_at_prices(data["margins"], shard.leaves, *votes, *totals, *paid)
        return out

    def _vote_classes(
        self, shard: Shard, hypothesis: Hypothesis, values: Floats, total_alpha: float
    ) -> Int64:
        """Vote; return a confusion matrix, or the exact price of all decisions, (1, 2)."""
        priced, n_classes = not (self.by_table or self.by_expectation), self.n_classes
        decisions = np.zeros(len(shard.rows) if priced else 0, np.uint8)
        confusion = np.zeros((n_classes, max(n_classes, self.rewards.shape[1])), np.int64)
        sizes = np.ascontiguousarray(values[np.arange(len(values)), hypothesis.votes])
        weights = shard.data.get("sample weights", _EMPTY)
        votes = (hypothesis.votes, sizes, self.rewards, weights, self.weight_scale)
        rows = (shard.data["margins"], shard.starts, shard.leaves)
        kernels.vote_classes(*rows, *votes, decisions, confusion)
        if not priced:
            return confusion
        out = np.zeros((1, 2), dtype=np.int64)
        self._price(shard, decisions, out)
        return out

    def _expected_cost(self, total_alpha: float) -> float:
        """Take the slow road: other actions, no limits, or K classes with a price per row."""
        margins = self.shards.gather("margins")
        decided = self.costs.decide(voted_proba(margins, total_alpha, shares=self.shares))
        assert self.costs.classes is not None
        return float(self.costs.total(self.costs.classes[self.y], decided, self.sample_weight))
