"""Messages of the L_p family to the shards."""

from __future__ import annotations

from dataclasses import dataclass

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
from costboost.shards.grid import FloatGrid, exact_count, exact_sum
from costboost.shards.local import Command, MaxMessage, Message
from costboost.shards.rows import Shard
from costboost.shards.sampling import round_key, uniform
from costboost.typing import Floats, Int64

# The least mislabel weight: smaller ones would be slow to compute with, and 0 could never grow.
TINY = 1e-280


# Before the first round.


@dataclass(frozen=True)
class SetExcess(MaxMessage):
    """Set the excess cost of each answer over the cheapest.

    Returns the largest, in user's units.
    """

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        largest: float = shard.state.set_excess()
        return largest


@dataclass(frozen=True)
class WeightFacts(MaxMessage):
    """The largest weight, and minus the least power of two that some weight needs, (2,)."""

    def answer(self, shard: Shard) -> Floats:
        """Return both."""
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


@dataclass(frozen=True)
class BindMethod(Message):
    """Set the units of prices and weights, and H_0; add up the weights without rounding.

    AdaBoost.M2 starts from mislabel weights proportional to cost (Lozano and Abe, section 5).
    """

    unit: float
    exponent: int
    copies: int
    start: float
    adaptive: bool

    changes = True

    def answer(self, shard: Shard) -> int:
        """Prepare the rows; return the sum of the weights."""
        state: PNormRows = shard.state
        shape = (state.n_rows, state.n_classes)
        state.excess /= self.unit
        state.copies = self.copies
        state.mixture = np.full(shape, self.start)
        state.vectors = np.empty(shape, dtype=np.int32)
        total = exact_count(state.n_rows)
        if state.weights is not None:
            state.weights = np.ldexp(state.weights, -self.exponent)
            total = sum(exact_sum(state.weights[rows]) for rows in state.blocks())
        if self.adaptive:
            self._set_mislabel(state)
        return total

    def _set_mislabel(self, state: PNormRows) -> None:
        n_wrong = state.n_classes - 1
        state.mislabel = np.empty((state.n_rows, n_wrong))
        for rows in state.blocks():
            excess, weights = state.excess_of(rows), state.weights_of(rows)
            wrong = wrong_answers(state.labels_of(rows), state.n_classes)
            # Copies of rows share their mislabel weights; the sums count them.
            own = excess[wrong].reshape(-1, n_wrong)
            state.mislabel[rows] = own if weights is None or self.copies else own * weights


# Exact sums.


@dataclass(frozen=True)
class Sum(Message):
    """Add up terms of rows, times their weights, exactly, (2,): units and remainders."""

    grid: FloatGrid

    def terms(self, shard: Shard, rows: slice) -> Floats:
        """Return the terms of some rows, (m, any)."""
        raise TypeError(f"{type(self).__name__} must say what it adds up.")

    def answer(self, shard: Shard) -> Floats:
        """Return the sums."""
        state, sums = shard.state, np.zeros(2)
        for rows in state.blocks():
            sums += self.grid.add(self.terms(shard, rows), state.weights_of(rows))
        return sums


@dataclass(frozen=True)
class ObjectiveSum(Sum):
    """The p-norm functional of the mixture, each row's brought to sum `share`."""

    p: float
    share: float

    def terms(self, shard: Shard, rows: slice) -> Floats:
        """Return H^p C."""
        state = shard.state
        return np.asarray(power(state.mixture[rows] * self.share, self.p) * state.excess_of(rows))


@dataclass(frozen=True)
class DistanceSum(Sum):
    """The squared distance between a hypothesis and the mixture."""

    answers: Bits | None
    stochastic: bool

    def terms(self, shard: Shard, rows: slice) -> Floats:
        """Return (h - H)^2."""
        answers = hypothesis_answers(self.answers, shard.state, shard.leaves, rows)
        added = mixed_in(answers, stochastic=self.stochastic)
        return np.asarray((added - shard.state.mixture[rows]) ** 2)


@dataclass(frozen=True)
class SlopeSum(Sum):
    """The derivative in alpha of the objective at (1 - alpha) H + alpha h.

    For relational hypotheses the objective counts answers to y* as the pseudo-loss does:
    L(H) + p sum w (1 - H(y*|x)), with w of this round. Its gradient is what the learner saw; L
    alone would be least for a hypothesis that answers 0 everywhere.
    """

    answers: Bits | None
    stochastic: bool
    pseudo: bool
    p: float
    alpha: float

    def terms(self, shard: Shard, rows: slice) -> Floats:
        """Return the derivative at some rows."""
        p, state = self.p, shard.state
        seen = state.seen(rows, p)
        answers = hypothesis_answers(self.answers, state, shard.leaves, rows)
        change = mixed_in(answers, stochastic=self.stochastic) - seen.mixture
        ahead = np.maximum(seen.mixture + self.alpha * change, 0.0)
        slopes = p * power(ahead, p - 1.0) * seen.costs * change
        if self.pseudo:
            own = np.arange(len(change)), seen.labels
            slopes[own] -= p * norm_weights(seen).sum(axis=1) * change[own]
        return np.asarray(slopes)


# One round.


@dataclass(frozen=True)
class LargestSigned(MaxMessage):
    """The largest |signed weight|."""

    method: Method
    p: float

    def answer(self, shard: Shard) -> float:
        """Return its size."""
        state = shard.state
        parts = (np.max(np.abs(state.signed(rows, self.method, self.p))) for rows in state.blocks())
        return float(max(parts, default=0.0))


@dataclass(frozen=True)
class SetVectors(Message):
    """Set signed weights on the grid, or examples drawn in proportion to them; returns sums.

    Drawn by rejection (Zadrozny et al. 2003), for a (seed, round) `draw` with weights in units of
    the `scale`-th part. The answer adds up the positive ones, and all, (2,).
    """

    method: Method
    p: float
    scale: float
    draw: tuple[int, int] | None

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Return the sums of the positive ones and of all."""
        state, sums = shard.state, np.zeros(2, dtype=np.int64)
        for rows in state.blocks():
            signed, weights = state.signed(rows, self.method, self.p), state.weights_of(rows)
            if self.draw is None:
                vectors = np.rint(signed * self.scale).astype(np.int32)
            else:
                vectors = self._drawn(shard, rows, signed / self.scale)
            if weights is not None and state.copies:
                vectors *= weights.astype(np.int32)
            state.vectors[rows] = vectors
            positive = np.sum(np.maximum(vectors, 0), dtype=np.int64)
            sums += positive, np.sum(vectors, dtype=np.int64)
        return sums

    def _drawn(self, shard: Shard, rows: slice, share: Floats) -> NDArray[np.int32]:
        assert self.draw is not None
        n_classes = shard.state.n_classes
        numbers = shard.numbers(rows)[:, None] * np.int64(n_classes) + np.arange(n_classes)
        accepted = uniform(round_key(*self.draw), numbers) < np.abs(share)
        return np.asarray(np.sign(share) * accepted, dtype=np.int32)


@dataclass(frozen=True)
class Reward(Message):
    """Add up v h, on the grid."""

    answers: Bits | None

    def answer(self, shard: Shard) -> int:
        """Return the sum."""
        state = shard.state
        blocks = (
            state.vectors[rows] * hypothesis_answers(self.answers, state, shard.leaves, rows)
            for rows in state.blocks()
        )
        return sum(int(np.sum(block, dtype=np.int64)) for block in blocks)


@dataclass(frozen=True)
class Mix(Command):
    """Change the mixture: H <- keep H + alpha h."""

    answers: Bits | None
    stochastic: bool
    keep: float
    alpha: float

    def answer(self, shard: Shard) -> None:
        """Mix."""
        for rows in shard.state.blocks():
            mixture = shard.state.mixture[rows]
            answers = hypothesis_answers(self.answers, shard.state, shard.leaves, rows)
            mixture *= self.keep
            mixture += self.alpha * mixed_in(answers, stochastic=self.stochastic)


@dataclass(frozen=True)
class Decide(Message):
    """Decide for the largest entry of H.

    The answer is a confusion matrix, (K, K), or, where decisions have the prices of their rows, by
    how much the exact price changes, (1, 2).
    """

    scale: float
    priced: bool

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Return the matrix, or the change of the price."""
        state: PNormRows = shard.state
        shape = (1, 2) if self.priced else (state.n_classes, state.n_classes)
        sums = np.zeros(shape, dtype=np.int64)
        pay = state.pricing.add_change if self.priced else state.pricing.add_count
        for rows in state.blocks():
            pay(rows, np.argmax(state.mixture[rows], axis=1), state.weights, self.scale, sums)
        return sums


def _halves(state: PNormRows, answers: Bits, rows: slice) -> Int64:
    """Return 1 + h(x, y*) - h(x, y) of the wrong answers y of some rows, (m, K - 1)."""
    answers, labels = answers.astype(np.int64), state.labels_of(rows)
    own = np.take_along_axis(answers, labels[:, None], axis=1)
    others = answers[wrong_answers(labels, state.n_classes)].reshape(len(labels), -1)
    return np.asarray(1 + own - others)


@dataclass(frozen=True)
class PseudoLoss(Message):
    """AdaBoost.M2: add up D (1 - h(x, y*) + h(x, y)), and 2 D, (2, 2): units and remainders."""

    grid: FloatGrid
    answers: Bits | None

    def answer(self, shard: Shard) -> Floats:
        """Return the sums."""
        state, sums = shard.state, np.zeros((2, 2))
        for rows in state.blocks():
            weights, own = state.mislabel[rows], state.weights_of(rows)
            if own is not None and state.copies:
                weights = weights * own
            halves = _halves(
                state, hypothesis_answers(self.answers, state, shard.leaves, rows), rows
            )
            sums += self.grid.add((2 - halves) * weights), self.grid.add(2.0 * weights)
        return sums


@dataclass(frozen=True)
class Reweigh(MaxMessage):
    """AdaBoost.M2: D <- D beta^(1/2 (1 + h(x, y*) - h(x, y))); tell the largest D."""

    answers: Bits | None
    beta: float

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state, top = shard.state, 0.0
        factors = np.array([1.0, np.sqrt(self.beta), self.beta])
        for rows in state.blocks():
            answers, weights = (
                hypothesis_answers(self.answers, state, shard.leaves, rows),
                state.mislabel[rows],
            )
            alive = weights > 0.0
            weights *= factors[_halves(state, answers, rows)]
            np.maximum(weights, TINY, out=weights, where=alive)
            top = max(top, float(np.max(weights)))
        return top


@dataclass(frozen=True)
class Rescale(Command):
    """Divide D by a power of two."""

    exponent: int

    def answer(self, shard: Shard) -> None:
        """Divide."""
        np.ldexp(shard.state.mislabel, -self.exponent, out=shard.state.mislabel)
