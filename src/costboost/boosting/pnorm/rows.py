"""What the L_p family holds of its rows, shard by shard, and what it reads of them by blocks.

    prices      what each answer costs over the cheapest: one table (K, K), or (m, K) by row
    weights     (m,)     if there are any
    mixture     (m, K)   H, the mixture so far
    vectors     (m, K)   int32, signed weights of the relational examples, on a grid
    mislabel    (m, K)   AdaBoost.M2's D

Passes over rows go by small blocks, so that nothing as large as the rows is made beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.pnorm.methods import Method, Rows, make_stochastic
from costboost.costs import Costs
from costboost.shards.loading import RowData

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bits = NDArray[np.uint8]

_BLOCK = 1 << 14  # numbers in a block: it and its copies stay in the cache
_NOTHING = np.zeros(0)


@dataclass(frozen=True)
class AnswerCosts:
    """What each answer costs over the cheapest one, by class or by row.

    Attributes
    ----------
    labels : int64 array of shape (K,) or (n,)
        The cheapest answer: the true one, unless another costs less.
    excess : float64 array of shape (K, K) or (n, K)
        C, by true class or by row, in units of `unit`.
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

    @property
    def largest(self) -> float:
        """The largest of `excess`."""
        return float(np.max(self.excess, initial=0.0))

    def scaled(self, unit: float) -> AnswerCosts:
        """Return the costs in another unit, a power of two."""
        return replace(self, excess=self.excess * (self.unit / unit), unit=unit)


def answer_costs(costs: Costs, y: Int64, n_classes: int) -> AnswerCosts:
    """Turn bound costs and encoded labels into what each answer costs, in the user's units."""
    keys = np.arange(n_classes) if costs.is_constant else y
    excess = costs.of_labels(keys, encoded=True)
    labels = np.asarray(costs.cheapest_labels(keys, encoded=True), dtype=np.int64)
    floor = excess[np.arange(len(keys)), labels]
    return AnswerCosts(labels, excess - floor[:, None], floor, 1.0, costs.is_constant)


def price_unit(largest: float) -> float:
    """Return the power of two that brings the largest cost between 1/2 and 1."""
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0.0 else 1.0


@dataclass
class PNormRows:
    """One shard's rows; see the head of this module.

    Attributes
    ----------
    y : class numbers of shape (m,), the truth
    costs : Costs
        Bound, in the user's units; of these rows, if they have prices of their own.
    n_classes : int
    copies : int
        The largest weight, if all are small whole numbers: rows given several times. Else 0.
    answers : uint8 array of shape (m, K)
        What an outside hypothesis says.
    room : int64 array
        For histograms of few codes; see `costboost.shards.modes.Vectors`.
    """

    y: NDArray[Any]
    costs: Costs
    weights: Floats | None
    n_classes: int
    prices: AnswerCosts = field(init=False)
    copies: int = 1
    mixture: Floats = field(default_factory=lambda: _NOTHING)
    vectors: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    mislabel: Floats = field(default_factory=lambda: _NOTHING)
    answers: Bits | None = None
    room: Int64 | None = None

    def price(self) -> float:
        """Work out what answers cost; return the largest, in the user's units."""
        self.prices = answer_costs(self.costs, np.asarray(self.y, np.int64), self.n_classes)
        return self.prices.largest

    # --- some rows

    def blocks(self) -> Iterator[slice]:
        """Yield all rows, a few at a time."""
        step = max(1, _BLOCK // self.n_classes)
        for start in range(0, len(self.y), step):
            yield slice(start, min(start + step, len(self.y)))

    def _keys(self, rows: slice) -> Any:
        """Return where prices of some rows are: at their classes, or at the rows themselves."""
        return self.y[rows] if self.prices.constant else rows

    def excess(self, rows: slice) -> Floats:
        """Return C, (m, K)."""
        return np.asarray(self.prices.excess[self._keys(rows)])

    def labels(self, rows: slice) -> Int64:
        """Return the cheapest answers, (m,)."""
        return np.asarray(self.prices.labels[self._keys(rows)])

    def floor(self, rows: slice) -> Floats:
        """Return what the cheapest answers cost, (m, 1)."""
        return np.asarray(self.prices.floor[self._keys(rows)][:, None])

    @property
    def sample_weights(self) -> Floats | None:
        """The weights of the rows, (m,), if there are any."""
        return self.weights

    def weights_of(self, rows: slice) -> Floats | None:
        """Return the weights, (m, 1), if there are any."""
        return None if self.weights is None else np.asarray(self.weights[rows, None])

    def seen(self, rows: slice, p: float, *, adaptive: bool) -> Rows:
        """Return some rows as a method sees them."""
        mixture = self.mislabel if adaptive else self.mixture
        return Rows(mixture[rows], self.excess(rows), self.labels(rows), p)

    def signed(self, rows: slice, method: Method, p: float) -> Floats:
        """Return the signed weights of some rows; copies of rows are not in them."""
        signed = method.examples(self.seen(rows, p, adaptive=method.adaptive))
        weights = self.weights_of(rows)
        if weights is None or (method.adaptive and not self.copies):
            return signed  # AdaBoost.M2's D holds them
        return signed * (weights > 0 if self.copies else weights)


@dataclass(frozen=True)
class PNormLoader:
    """Makes `PNormRows`; see `costboost.shards.loading`."""

    data: RowData
    n_classes: int

    labels = None
    n_segments = 1

    def load(self, rows: NDArray[Any] | slice) -> PNormRows:
        """Return what a shard holds of some rows; class numbers take a byte each, if they can."""
        own, kind = self.data.take(rows), np.uint8 if self.n_classes <= 256 else np.uint32
        assert own.costs is not None
        labels = np.ascontiguousarray(own.y, dtype=kind)
        return PNormRows(labels, own.costs, own.weights, self.n_classes)

    def blank(self) -> PNormLoader:
        """Return the same of no rows."""
        return replace(self, data=self.data.take(np.zeros(0, dtype=np.int64)))

    def on(self, data: RowData) -> PNormLoader:
        """Return the same of other rows; their prices are their own, if they have any."""
        costs = self.data.costs if data.costs is None else data.costs
        return replace(self, data=replace(data, costs=costs))


def said(answers: Bits | None, state: PNormRows, leaves: NDArray[Any], rows: slice) -> Bits:
    """Return what a hypothesis says of some rows, (m, K): by leaf, or row by row (None)."""
    if answers is None:
        assert state.answers is not None
        return np.asarray(state.answers[rows])
    return np.asarray(answers[leaves[rows]])


def mixed_in(answers: Bits, *, stochastic: bool) -> Floats:
    """Return what answers add to the mixture: h, or its stochastic version."""
    return make_stochastic(answers) if stochastic else answers.astype(np.float64)
