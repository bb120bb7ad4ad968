"""The per-row state of the L_p family, one `PNormRows` for each shard, read block by block.

    pricing     true classes, costs, and the prices of decisions
    weights     (m,)     if there are any
    labels      (m,)     y*, the cheapest answer; by class (K,) where costs are constant
    excess      (m, K)   C, what each answer costs over the cheapest; or (K, K), by class
    mixture     (m, K)   H, the mixture so far
    vectors     (m, K)   int32, signed weights of the relational examples, on a grid
    mislabel    (m, K-1) AdaBoost.M2's D, of the wrong answers

Passes over rows go by small blocks, so that nothing as large as the rows is made beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.pnorm.methods import Method, MethodInput, make_stochastic
from costboost.boosting.train_cost import DecisionPricing, make_pricing
from costboost.costs import Costs
from costboost.shards.layout import RowData
from costboost.typing import AnyInts, Floats, Int64

Bits = NDArray[np.uint8]

_BLOCK = 1 << 14  # numbers in a block: it and its copies stay in the cache
_NOTHING = np.zeros(0)


def cost_over_cheapest(costs: Costs, truth: AnyInts) -> tuple[AnyInts, Floats]:
    """Return the cheapest answer of some rows, (m,), and what each costs more, (m, K).

    The cheapest is the true one, unless another costs less.
    """
    own = truth.astype(np.int64)
    prices = costs.of_labels(own, encoded=True)
    labels = costs.cheapest_labels(own, encoded=True)
    prices -= np.take_along_axis(prices, labels[:, None], axis=1)
    return labels, prices


def wrong_answers(labels: AnyInts, n_classes: int) -> NDArray[np.bool_]:
    """Return where an answer is not the cheapest one, (m, K).

    Examples
    --------
    >>> values = np.arange(6).reshape(2, 3)
    >>> values[wrong_answers(np.array([0, 1]), 3)].reshape(2, 2).tolist()
    [[1, 2], [3, 5]]
    """
    return np.asarray(np.arange(n_classes, dtype=labels.dtype) != labels[:, None])


def price_unit(largest: float) -> float:
    """Return the power of two that brings the largest cost between 1/2 and 1."""
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0.0 else 1.0


@dataclass
class PNormRows:
    """The rows of one shard; arrays as at the head of this module.

    Attributes
    ----------
    pricing : DecisionPricing
    weights : float64 array of shape (m,) or None
    n_classes : int
    copies : int
        The largest weight, if all are small whole numbers: rows given several times. Else 0.
    answers : uint8 array of shape (m, K)
        What an outside hypothesis says.
    buffer : int64 array
        For histograms of few codes; see `costboost.shards.modes.Vectors`.
    """

    pricing: DecisionPricing
    weights: Floats | None
    n_classes: int
    labels: AnyInts = field(default_factory=lambda: np.zeros(0, np.uint8))
    excess: Floats = field(default_factory=lambda: _NOTHING)
    copies: int = 1
    mixture: Floats = field(default_factory=lambda: _NOTHING)
    vectors: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    mislabel: Floats = field(default_factory=lambda: _NOTHING)
    answers: Bits | None = None
    buffer: Int64 | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.pricing.truth)

    def set_excess(self) -> float:
        """Compute the excess costs of answers over the cheapest.

        Return the largest, in user's units.
        """
        costs, truth = self.pricing.costs, self.pricing.truth
        if costs.is_constant:
            self.labels, self.excess = cost_over_cheapest(costs, np.arange(self.n_classes))
        else:
            self.labels = np.empty_like(truth)
            self.excess = np.empty((self.n_rows, self.n_classes))
            for rows in self.blocks():
                own = cost_over_cheapest(costs[rows], truth[rows])
                self.labels[rows], self.excess[rows] = own
        return float(np.max(self.excess, initial=0.0))

    # Some rows.

    def blocks(self) -> Iterator[slice]:
        """Yield all rows, a few at a time."""
        step = max(1, _BLOCK // self.n_classes)
        for start in range(0, self.n_rows, step):
            yield slice(start, min(start + step, self.n_rows))

    def _keys(self, rows: slice) -> Any:
        """Return where prices of some rows are: at their classes, or at the rows themselves."""
        return self.pricing.truth[rows] if self.pricing.costs.is_constant else rows

    def excess_of(self, rows: slice) -> Floats:
        """Return C, (m, K)."""
        return np.asarray(self.excess[self._keys(rows)])

    def labels_of(self, rows: slice) -> AnyInts:
        """Return the cheapest answers, (m,)."""
        return np.asarray(self.labels[self._keys(rows)])

    @property
    def sample_weights(self) -> Floats | None:
        """The weights of the rows, (m,), if there are any."""
        return self.weights

    def weights_of(self, rows: slice) -> Floats | None:
        """Return the weights, (m, 1), if there are any."""
        return None if self.weights is None else np.asarray(self.weights[rows, None])

    def seen(self, rows: slice, p: float, *, adaptive: bool = False) -> MethodInput:
        """Return some rows as a method sees them; `adaptive` as in `Method`."""
        labels, mislabel = self.labels_of(rows), None
        if adaptive:
            mislabel = np.zeros((len(labels), self.n_classes))
            mislabel[wrong_answers(labels, self.n_classes)] = self.mislabel[rows].ravel()
        return MethodInput(self.mixture[rows], self.excess_of(rows), labels, p, mislabel)

    def signed(self, rows: slice, method: Method, p: float) -> Floats:
        """Return the signed weights of some rows, without their sample weights, (m, K)."""
        signed = method.examples(self.seen(rows, p, adaptive=method.adaptive))
        weights = self.weights_of(rows)
        if weights is None or (method.adaptive and not self.copies):
            return signed  # AdaBoost.M2's D holds them
        return signed * (weights > 0 if self.copies else weights)


@dataclass(frozen=True)
class PNormLoader:
    """Makes `PNormRows`; see `costboost.shards.layout`."""

    data: RowData
    n_classes: int

    labels = None
    n_segments = 1

    def load(self, rows: NDArray[Any] | slice) -> PNormRows:
        """Return the state of a shard that holds some rows."""
        y, weights, costs = self.data.y, self.data.weights, self.data.costs
        assert costs is not None
        own = None if weights is None else weights[rows]
        return PNormRows(make_pricing(costs, y, rows), own, self.n_classes)

    def blank(self) -> PNormLoader:
        """Return a loader of the same settings without rows."""
        return replace(self, data=self.data.take(np.zeros(0, dtype=np.int64)))

    def on(self, data: RowData) -> PNormLoader:
        """Return a loader of the same settings for other rows and their own costs."""
        costs = self.data.costs if data.costs is None else data.costs
        return replace(self, data=replace(data, costs=costs))


def hypothesis_answers(
    answers: Bits | None, state: PNormRows, leaves: NDArray[Any], rows: slice
) -> Bits:
    """Return a hypothesis's answers for some rows, (m, K); `answers` are by leaf, or None."""
    if answers is None:
        assert state.answers is not None
        return np.asarray(state.answers[rows])
    return np.asarray(answers[leaves[rows]])


def mixed_in(answers: Bits, *, stochastic: bool) -> Floats:
    """Return h, or its stochastic version, which is added to the mixture."""
    return make_stochastic(answers) if stochastic else answers.astype(np.float64)
