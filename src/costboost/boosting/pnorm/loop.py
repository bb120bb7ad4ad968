"""The loop of the L_p family: a generator of rounds.

    H, C -> signed weights -> learner -> h -> alpha -> H <- (1 - alpha) H + alpha h -> ...

Every row holds K numbers of H, K of its costs unless they are constant, and K signed weights of
four bytes. Steps follow from exact sums (`priced_rows.py`), so the model does not depend on the
shards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.normalizer import TINY
from costboost.boosting.pnorm.learner import Relation, RelationalLearner, row_answers
from costboost.boosting.pnorm.methods import (
    Method,
    Rows,
    lipschitz,
    make_stochastic,
    norm_weights,
    power,
)
from costboost.boosting.pnorm.rows import PricedRows
from costboost.costs import Costs
from costboost.shards.grid import grid_scale
from costboost.shards.local import Shards
from costboost.shards.rows import Shard
from costboost.shards.sampling import round_key, uniform

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Stop = Literal["rounds", "alpha", "perfect"]
Step = Literal["harmonic", "average", "bound", "search"]

_VECTOR_BITS = 24  # of the largest signed weight of a row


@dataclass(frozen=True)
class MixingRound:
    """One round that was taken.

    Attributes
    ----------
    number : int
        From 0.
    alpha : float
        The share of the new hypothesis; AdaBoost.M2: its vote, ln(1 / beta).
    error : float
        The weighted error on the relational examples; the pseudo-loss of AdaBoost.M2 and,
        weights brought to sum 1, of L_p-CSB.
    objective : float
        The p-norm functional of the mixture after this round, the mean over rows (Eq. 2).
    train_cost : float
        What the decisions after this round cost on the training rows.
    relation : Relation
        The hypothesis of this round.
    """

    number: int
    alpha: float
    error: float
    objective: float
    train_cost: float
    relation: Relation


@dataclass(frozen=True)
class MixingSetting:
    """What the user chose, beside the method and the learner."""

    n_rounds: int
    p: float = 2.0
    step: Step = "harmonic"
    seed: int = 0


class Mixing:
    """The state of one fit: the mixture at every row, round after round.

    Parameters
    ----------
    shards : Shards
        Rows in any grouping.
    method : Method
    learner : RelationalLearner
    costs : Costs
        Bound costs in the user's units, square.
    y : int64 array of shape (n,)
        The true labels, encoded.
    sample_weight : float64 array of shape (n,) or None
    n_classes : int
    setting : MixingSetting
    """

    def __init__(
        self,
        shards: Shards,
        method: Method,
        learner: RelationalLearner,
        costs: Costs,
        y: Int64,
        sample_weight: Floats | None,
        n_classes: int,
        setting: MixingSetting,
    ) -> None:
        self.shards, self.method, self.learner, self.setting = shards, method, learner, setting
        self.n_classes = n_classes
        self.stop: Stop = "rounds"
        self.total_alpha = 0.0
        self._priced = PricedRows(shards, costs, y, sample_weight, n_classes)
        self._set_rows()

    @property
    def largest_cost(self) -> float:
        """The largest cost of an answer over the cheapest, in the user's units."""
        return self._priced.largest_cost * self._priced.unit

    # --- before the first round

    def _set_rows(self) -> None:
        """Put H_0, and AdaBoost.M2's first D, in place."""
        shape = self.n_classes
        start = 0.0 if self.method.adaptive else 1.0 / shape
        for shard in self.shards.shards:
            m = len(shard.rows)
            shard.data["mixture"] = np.full((m, shape), start)
            shard.data["vectors"] = np.empty((m, shape), dtype=np.int32)
        if self.method.adaptive:
            self._set_mislabel()

    def _set_mislabel(self) -> None:
        """Start from mislabel weights proportional to cost (Lozano and Abe, section 5)."""
        priced = self._priced
        for shard in self.shards.shards:
            shard.data["mislabel"] = np.empty((len(shard.rows), self.n_classes))
            for rows in self._priced.blocks(shard):
                excess, weights = priced.excess(shard, rows), priced.weights(shard, rows)
                if weights is not None and not priced.copies:
                    excess = excess * weights
                shard.data["mislabel"][rows] = excess

    # --- the arrays of some rows

    def _rows(self, shard: Shard, rows: slice) -> Rows:
        name = "mislabel" if self.method.adaptive else "mixture"
        return Rows(
            shard.data[name][rows],
            self._priced.excess(shard, rows),
            self._priced.labels(shard, rows),
            self.setting.p,
        )

    def _hypothesis(self, shard: Shard, relation: Relation, rows: slice) -> Floats:
        """Return what the hypothesis adds to the mixture: h, or its stochastic version."""
        answers = row_answers(shard, relation, rows)
        if self.method.answers == "stochastic":
            return make_stochastic(answers)
        return answers.astype(np.float64)

    # --- the rounds

    def rounds(self, first: int = 0) -> Iterator[MixingRound]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        for number in range(first, self.setting.n_rounds):
            totals = self._set_vectors(number)
            if totals[1] == 0:
                self.stop = "perfect"
                return
            relation = self.learner.learn(self.shards, number)
            error = (totals[0] - self._reward(relation)) / totals[1]
            alpha = self._step(number, relation, error)
            if alpha <= 0.0:
                self.stop = "alpha"
                return
            yield self._take(number, alpha, error, relation)
            if self.method.adaptive and error <= 0.0:
                self.stop = "perfect"
                return
        self.stop = "rounds"

    def replay(self, rounds: Sequence[MixingRound]) -> None:
        """Bring the mixture to where it was after the given rounds."""
        for done in rounds:
            self.learner.recall(self.shards, done.relation)
            self._take(done.number, done.alpha, done.error, done.relation)

    def _take(self, number: int, alpha: float, error: float, relation: Relation) -> MixingRound:
        self._mix(relation, alpha)
        if self.method.adaptive:
            self._reweigh(relation, math.exp(-alpha))
        objective, cost = self._account()
        return MixingRound(number, alpha, error, objective, cost, relation)

    # --- signed weights

    def _signed(self, shard: Shard, rows: slice) -> Floats:
        """Return the signed weights of some rows; copies of rows are not in them."""
        signed = self.method.examples(self._rows(shard, rows))
        weights, copies = self._priced.weights(shard, rows), self._priced.copies
        if weights is None or (self.method.adaptive and not copies):
            return signed  # AdaBoost.M2's D holds them
        return signed * (weights > 0 if copies else weights)

    def _set_vectors(self, number: int) -> tuple[int, int]:
        """Put the signed weights on the grid; return the sums of the positive and of all."""
        largest = max(self.shards.map(self._largest_signed))
        if not largest > 0.0:
            return 0, 0
        repeats, priced = self.method.repeats(self.setting.p), self._priced
        # The same grid with copies as without: 24 bits and 6 for them fit in the four bytes.
        scale = grid_scale(largest, 1, _VECTOR_BITS + 1)

        def write(shard: Shard) -> Int64:
            sums = np.zeros(2, dtype=np.int64)
            for rows in self._priced.blocks(shard):
                signed, weights = self._signed(shard, rows), priced.weights(shard, rows)
                if repeats:
                    vectors = self._drawn(shard, rows, signed / largest, number)
                else:
                    vectors = np.rint(signed * scale).astype(np.int32)
                if weights is not None and priced.copies:
                    vectors *= weights.astype(np.int32)
                shard.data["vectors"][rows] = vectors
                sums += (
                    np.sum(np.maximum(vectors, 0), dtype=np.int64),
                    np.sum(vectors, dtype=np.int64),
                )
            return sums

        positive, net = self.shards.sum(write).tolist()
        return positive, 2 * positive - net

    def _largest_signed(self, shard: Shard) -> float:
        parts = (np.max(np.abs(self._signed(shard, rows))) for rows in self._priced.blocks(shard))
        return float(max(parts, default=0.0))

    def _drawn(self, shard: Shard, rows: slice, share: Floats, number: int) -> NDArray[np.int32]:
        """Draw examples in proportion to their weight, by rejection (Zadrozny et al. 2003)."""
        numbers = shard.rows[rows, None] * self.n_classes + np.arange(self.n_classes)
        accepted = uniform(round_key(self.setting.seed, number + 1), numbers) < np.abs(share)
        return np.asarray(np.sign(share) * accepted, dtype=np.int32)

    def _reward(self, relation: Relation) -> int:
        """Return sum v h, on the grid."""
        if relation.reward is not None:
            return relation.reward

        def part(shard: Shard) -> int:
            blocks = (
                shard.data["vectors"][rows] * row_answers(shard, relation, rows)
                for rows in self._priced.blocks(shard)
            )
            return sum(int(np.sum(block, dtype=np.int64)) for block in blocks)

        return int(self.shards.sum(part))

    # --- steps

    def _step(self, number: int, relation: Relation, error: float) -> float:
        if self.method.adaptive:  # ln(1 / beta), beta = error / (1 - error)
            most = 2.0 * steps.MAX_ALPHA
            return min(math.log((1.0 - error) / error), most) if error > 0.0 else most
        if self.setting.step == "harmonic":
            return 1.0 / (number + 2)
        if self.setting.step == "average":
            return 1.0 / (number + 1)
        if self.setting.step == "bound":
            return self._bound_step(relation)
        return self._searched_step(relation)

    def _bound_step(self, relation: Relation) -> float:
        """Return Eq. 10's alpha, with means over rows in place of sums."""

        def change(shard: Shard, rows: slice) -> Floats:
            mixture = shard.data["mixture"][rows]
            return np.asarray((self._hypothesis(shard, relation, rows) - mixture) ** 2)

        distance = self._priced.sum(change, 1.0)
        curvature = lipschitz(self._priced.largest_cost, self.setting.p) * distance
        slope = self._slope(relation, 0.0)
        return min(-slope / curvature, 1.0) if curvature > 0.0 else 0.0

    def _searched_step(self, relation: Relation) -> float:
        """Return the minimiser over [0, 1] of the convex objective along h - H."""
        slope = cache(partial(self._slope, relation))  # every value is a pass over all rows
        if slope(0.0) >= 0.0:
            return 0.0
        if slope(1.0) <= 0.0:
            return 1.0
        if self.setting.p == 2.0:  # a parabola
            return slope(0.0) / (slope(0.0) - slope(1.0))
        return float(brentq(slope, 0.0, 1.0, xtol=1e-14))

    def _slope(self, relation: Relation, alpha: float) -> float:
        """Return the derivative in alpha of the objective at (1 - alpha) H + alpha h, times n.

        For relational hypotheses the objective counts answers to y* as the pseudo-loss does:
        L(H) + p sum w (1 - H(y*|x)), with w of this round. Its gradient is what the learner saw;
        L alone would be least for a hypothesis that answers 0 everywhere.
        """
        p = self.setting.p
        pseudo = self.method.answers == "relational"

        def terms(shard: Shard, rows: slice) -> Floats:
            seen = self._rows(shard, rows)
            change = self._hypothesis(shard, relation, rows) - seen.mixture
            ahead = np.maximum(seen.mixture + alpha * change, 0.0)
            slopes = p * power(ahead, p - 1.0) * seen.costs * change
            if pseudo:
                own = np.arange(len(change)), seen.labels
                slopes[own] -= p * norm_weights(seen).sum(axis=1) * change[own]
            return np.asarray(slopes)

        return self._priced.sum(terms, p * self.n_classes)

    # --- after the step is known

    def _mix(self, relation: Relation, alpha: float) -> None:
        keep = 1.0 if self.method.adaptive else 1.0 - alpha
        self.total_alpha += alpha

        def mix(shard: Shard) -> None:
            for rows in self._priced.blocks(shard):
                mixture = shard.data["mixture"][rows]
                mixture *= keep
                mixture += alpha * self._hypothesis(shard, relation, rows)

        self.shards.map(mix)

    def _reweigh(self, relation: Relation, beta: float) -> None:
        """AdaBoost.M2: D <- D beta^(1/2 (1 + h(x, y*) - h(x, y)))."""
        factors = np.array([1.0, math.sqrt(beta), beta])

        def reweigh(shard: Shard) -> float:
            largest = 0.0
            for rows in self._priced.blocks(shard):
                said = row_answers(shard, relation, rows).astype(np.int64)
                own = said[np.arange(len(said)), self._priced.labels(shard, rows)]
                weights = shard.data["mislabel"][rows]
                alive = weights > 0.0
                weights *= factors[1 + own[:, None] - said]
                np.maximum(weights, TINY, out=weights, where=alive)
                largest = max(largest, float(np.max(weights)))
            return largest

        largest = max(self.shards.map(reweigh))
        exponent = int(np.frexp(largest)[1])

        def rescale(shard: Shard) -> None:
            np.ldexp(shard.data["mislabel"], -exponent, out=shard.data["mislabel"])

        self.shards.map(rescale)

    def _account(self) -> tuple[float, float]:
        """Return the objective, the mean over rows, and the cost of all decisions."""
        priced, p = self._priced, self.setting.p
        share = 1.0 / self.total_alpha if self.method.adaptive else 1.0

        def terms(shard: Shard, rows: slice) -> Floats:
            return power(shard.data["mixture"][rows] * share, p) * priced.excess(shard, rows)

        def decide(shard: Shard, rows: slice) -> Int64:
            return np.asarray(np.argmax(shard.data["mixture"][rows], axis=1))

        objective = priced.sum(terms, 1.0) * priced.unit / priced.total_weight
        return objective, priced.total_cost(decide)
