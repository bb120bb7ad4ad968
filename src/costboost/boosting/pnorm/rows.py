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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.pnorm.methods import (
    Method,
    MethodInput,
    make_stochastic,
    norm_weights,
    power,
)
from costboost.boosting.train_cost import DecisionPricing, make_pricing
from costboost.costs import Costs
from costboost.runtime.messages import largest, message, total
from costboost.shards.grid import FloatGrid, exact_count, exact_sum
from costboost.shards.layout import RowData
from costboost.shards.rows import Shard, round_key, uniform
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
        For histograms of few codes; see `costboost.shards.grid.Vectors`.
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


# The least mislabel weight: smaller ones would be slow to compute with, and 0 could never grow.
TINY = 1e-280


# Before the first round.


@message(reduce=largest, changes=True)
def set_excess(shard: Shard) -> float:
    """Set the excess cost of each answer over the cheapest.

    Return the largest, in user's units.
    """
    largest: float = shard.state.set_excess()
    return largest


@message(reduce=largest)
def weight_range(shard: Shard) -> Floats:
    """Return the largest weight, and minus the least power of two that some weight needs, (2,)."""
    state, found = shard.state, np.array([0.0, -np.inf])
    for rows in state.blocks():
        weights = state.weights[rows]
        alive = weights[weights > 0.0]
        if not len(alive):
            continue
        mantissas, exponents = np.frexp(alive)
        whole = (mantissas * 2.0**53).astype(np.int64)
        # All weights that are multiples of a power of two show it here: the lowest bit set in
        # any.
        last = np.frexp((whole & -whole).astype(float))[1] - 1  # the lowest bit that is set
        np.maximum(found, [np.max(alive), -float(np.min(exponents - 53 + last))], out=found)
    return found


@message(reduce=total, changes=True)
def bind_method(
    shard: Shard, *, unit: float, exponent: int, copies: int, start: float, adaptive: bool
) -> int:
    """Set the units of prices and weights, and H_0; add up the weights without rounding.

    AdaBoost.M2 starts from mislabel weights proportional to cost (Lozano and Abe, section 5).
    """
    state: PNormRows = shard.state
    shape = (state.n_rows, state.n_classes)
    state.excess /= unit
    state.copies = copies
    state.mixture = np.full(shape, start)
    state.vectors = np.empty(shape, dtype=np.int32)
    total = exact_count(state.n_rows)
    if state.weights is not None:
        state.weights = np.ldexp(state.weights, -exponent)
        total = sum(exact_sum(state.weights[rows]) for rows in state.blocks())
    if adaptive:
        _set_mislabel(state)
    return total


def _set_mislabel(state: PNormRows) -> None:
    n_wrong = state.n_classes - 1
    state.mislabel = np.empty((state.n_rows, n_wrong))
    for rows in state.blocks():
        excess, weights = state.excess_of(rows), state.weights_of(rows)
        wrong = wrong_answers(state.labels_of(rows), state.n_classes)
        # Copies of rows share their mislabel weights; the sums count them.
        own = excess[wrong].reshape(-1, n_wrong)
        state.mislabel[rows] = own if weights is None or state.copies else own * weights


# Exact sums.


def _sum_blocks(state: PNormRows, grid: FloatGrid, values_of: Callable[[slice], Floats]) -> Floats:
    """Add up values of rows, (m, any) a block, times the rows' weights, exactly, (2,).

    The two are units and remainders.
    """
    sums = np.zeros(2)
    for rows in state.blocks():
        sums += grid.add(values_of(rows), state.weights_of(rows))
    return sums


@message(reduce=total)
def sum_objective(shard: Shard, *, grid: FloatGrid, p: float, share: float) -> Floats:
    """Add up the p-norm functional of the mixture, each row's brought to sum `share`, (2,)."""
    state: PNormRows = shard.state

    def functional(rows: slice) -> Floats:  # H^p C
        return np.asarray(power(state.mixture[rows] * share, p) * state.excess_of(rows))

    return _sum_blocks(state, grid, functional)


@message(reduce=total)
def sum_distance(
    shard: Shard, *, grid: FloatGrid, answers: Bits | None, stochastic: bool
) -> Floats:
    """Add up the squared distance between a hypothesis and the mixture, (2,)."""
    state: PNormRows = shard.state

    def distance(rows: slice) -> Floats:  # (h - H)^2
        own = hypothesis_answers(answers, state, shard.leaves, rows)
        return np.asarray((mixed_in(own, stochastic=stochastic) - state.mixture[rows]) ** 2)

    return _sum_blocks(state, grid, distance)


@message(reduce=total)
def sum_slope(
    shard: Shard,
    *,
    grid: FloatGrid,
    answers: Bits | None,
    stochastic: bool,
    pseudo: bool,
    p: float,
    alpha: float,
) -> Floats:
    """Add up the derivative in alpha of the objective at (1 - alpha) H + alpha h.

    For relational hypotheses the objective counts answers to y* as the pseudo-loss does:
    L(H) + p sum w (1 - H(y*|x)), with w of this round. Its gradient is what the learner saw; L
    alone would be least for a hypothesis that answers 0 everywhere.
    """
    state: PNormRows = shard.state

    def slope(rows: slice) -> Floats:
        seen = state.seen(rows, p)
        own = hypothesis_answers(answers, state, shard.leaves, rows)
        change = mixed_in(own, stochastic=stochastic) - seen.mixture
        ahead = np.maximum(seen.mixture + alpha * change, 0.0)
        slopes = p * power(ahead, p - 1.0) * seen.costs * change
        if pseudo:
            true = np.arange(len(change)), seen.labels
            slopes[true] -= p * norm_weights(seen).sum(axis=1) * change[true]
        return np.asarray(slopes)

    return _sum_blocks(state, grid, slope)


# One round.


@message(reduce=largest)
def largest_signed_weight(shard: Shard, *, method: Method, p: float) -> float:
    """Return the largest |signed weight|."""
    state = shard.state
    parts = (np.max(np.abs(state.signed(rows, method, p))) for rows in state.blocks())
    return float(max(parts, default=0.0))


@message(reduce=total, changes=True)
def set_vectors(
    shard: Shard, *, method: Method, p: float, scale: float, draw: tuple[int, int] | None
) -> Int64:
    """Set signed weights on the grid, or examples drawn in proportion to them; return sums.

    Drawn by rejection (Zadrozny et al. 2003), for a (seed, round) `draw` with weights in units of
    the `scale`-th part. The answer adds up the positive ones, and all, (2,).
    """
    state, sums = shard.state, np.zeros(2, dtype=np.int64)
    for rows in state.blocks():
        signed, weights = state.signed(rows, method, p), state.weights_of(rows)
        if draw is None:
            # Exact on the grid: sums of any shards are the same.
            vectors = np.rint(signed * scale).astype(np.int32)
        else:
            vectors = _draw_signs(shard, rows, signed / scale, draw)
        if weights is not None and state.copies:
            vectors *= weights.astype(np.int32)
        state.vectors[rows] = vectors
        positive = np.sum(np.maximum(vectors, 0), dtype=np.int64)
        sums += positive, np.sum(vectors, dtype=np.int64)
    return sums


def _draw_signs(
    shard: Shard, rows: slice, share: Floats, draw: tuple[int, int]
) -> NDArray[np.int32]:
    """Return the signs of shares, each kept with the probability |share|, else 0."""
    n_classes = shard.state.n_classes
    numbers = shard.numbers(rows)[:, None] * np.int64(n_classes) + np.arange(n_classes)
    accepted = uniform(round_key(*draw), numbers) < np.abs(share)
    return np.asarray(np.sign(share) * accepted, dtype=np.int32)


@message(reduce=total)
def sum_reward(shard: Shard, *, answers: Bits | None) -> int:
    """Add up v h, on the grid."""
    state = shard.state
    blocks = (
        state.vectors[rows] * hypothesis_answers(answers, state, shard.leaves, rows)
        for rows in state.blocks()
    )
    return sum(int(np.sum(block, dtype=np.int64)) for block in blocks)


@message(reduce=None, changes=True)
def mix_in(
    shard: Shard, *, answers: Bits | None, stochastic: bool, keep: float, alpha: float
) -> None:
    """Change the mixture: H <- keep H + alpha h."""
    for rows in shard.state.blocks():
        mixture = shard.state.mixture[rows]
        own = hypothesis_answers(answers, shard.state, shard.leaves, rows)
        mixture *= keep
        mixture += alpha * mixed_in(own, stochastic=stochastic)


@message(reduce=total, changes=True)
def count_mixture_decisions(shard: Shard, *, scale: float, priced: bool) -> Int64:
    """Decide for the largest entry of H.

    The answer is a confusion matrix, (K, K), or, where decisions have the prices of their rows, by
    how much the exact price changes, (1, 2).
    """
    state: PNormRows = shard.state
    shape = (1, 2) if priced else (state.n_classes, state.n_classes)
    sums = np.zeros(shape, dtype=np.int64)
    pay = state.pricing.add_change if priced else state.pricing.add_count
    for rows in state.blocks():
        pay(rows, np.argmax(state.mixture[rows], axis=1), state.weights, scale, sums)
    return sums


def _halves(state: PNormRows, answers: Bits, rows: slice) -> Int64:
    """Return 1 + h(x, y*) - h(x, y) of the wrong answers y of some rows, (m, K - 1)."""
    answers, labels = answers.astype(np.int64), state.labels_of(rows)
    own = np.take_along_axis(answers, labels[:, None], axis=1)
    others = answers[wrong_answers(labels, state.n_classes)].reshape(len(labels), -1)
    return np.asarray(1 + own - others)


@message(reduce=total)
def sum_pseudo_loss(shard: Shard, *, grid: FloatGrid, answers: Bits | None) -> Floats:
    """AdaBoost.M2: add up D (1 - h(x, y*) + h(x, y)), and 2 D, (2, 2): units and remainders."""
    state, sums = shard.state, np.zeros((2, 2))
    for rows in state.blocks():
        weights, own = state.mislabel[rows], state.weights_of(rows)
        if own is not None and state.copies:
            weights = weights * own
        halves = _halves(state, hypothesis_answers(answers, state, shard.leaves, rows), rows)
        sums += grid.add((2 - halves) * weights), grid.add(2.0 * weights)
    return sums


@message(reduce=largest, changes=True)
def reweigh(shard: Shard, *, answers: Bits | None, beta: float) -> float:
    """AdaBoost.M2: D <- D beta^(1/2 (1 + h(x, y*) - h(x, y))); return the largest D."""
    state, top = shard.state, 0.0
    factors = np.array([1.0, np.sqrt(beta), beta])
    for rows in state.blocks():
        own, weights = hypothesis_answers(answers, state, shard.leaves, rows), state.mislabel[rows]
        alive = weights > 0.0
        weights *= factors[_halves(state, own, rows)]
        np.maximum(weights, TINY, out=weights, where=alive)
        top = max(top, float(np.max(weights)))
    return top


@message(reduce=None, changes=True)
def rescale_mislabel(shard: Shard, *, exponent: int) -> None:
    """Divide D by a power of two."""
    np.ldexp(shard.state.mislabel, -exponent, out=shard.state.mislabel)
