"""Messages of the L_p family to the shards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.pnorm.methods import Method, norm_weights, power
from costboost.boosting.pnorm.rows import (
    Bits,
    PNormRows,
    hypothesis_answers,
    mixed_in,
    wrong_answers,
)
from costboost.runtime.messages import largest, message, total
from costboost.shards.grid import FloatGrid, exact_count, exact_sum
from costboost.shards.rows import Shard
from costboost.shards.sampling import round_key, uniform
from costboost.typing import Floats, Int64

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
