"""The loop of the L_p family: a generator of rounds.

    H, C -> signed weights -> learner -> h -> alpha -> H <- (1 - alpha) H + alpha h -> ...

Every row holds K numbers of H, K of its costs unless they are constant, and K signed weights of
four bytes. Steps follow from exact sums, so the model does not depend on the shards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq

from costboost.boosting.formulas import MAX_ALPHA
from costboost.boosting.pnorm.learner import PairHypothesis, RelationalLearner
from costboost.boosting.pnorm.methods import Method, lipschitz, make_stochastic
from costboost.boosting.pnorm.rows import (
    bind_method,
    count_mixture_decisions,
    largest_signed_weight,
    mix_in,
    price_unit,
    rescale_mislabel,
    reweigh,
    set_excess,
    set_vectors,
    sum_distance,
    sum_objective,
    sum_pseudo_loss,
    sum_reward,
    sum_slope,
    weight_range,
)
from costboost.boosting.train_cost import DecisionCosts
from costboost.costs import Costs
from costboost.runtime.messages import Message
from costboost.shards.grid import FloatGrid, grid_scale, rounded
from costboost.shards.layout import Shards
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats

Stop = Literal["rounds", "alpha", "perfect"]
Step = Literal["harmonic", "average", "bound", "search"]

_VECTOR_BITS = 24  # of the largest signed weight of a row
_COPIES = 1 << 6  # weights up to here that are whole numbers stand for copies of rows


@dataclass(frozen=True)
class PNormRound:
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
    hypothesis : PairTree or PairClassifier
        The hypothesis of this round.
    """

    number: int
    alpha: float
    error: float
    objective: float
    train_cost: float
    hypothesis: Any

    def add_to(self, builder: ForestBuilder, *, stochastic: bool) -> None:
        """Add the tree of the round to a forest, its answers as leaf values."""
        answers = self.hypothesis.answers
        values = make_stochastic(answers) if stochastic else answers.astype(np.float64)
        builder.add(self.hypothesis.tree, values)


@dataclass(frozen=True)
class PNormSetting:
    """The user's parameters, beside the method and the learner."""

    n_rounds: int
    p: float = 2.0
    step: Step = "harmonic"
    seed: int = 0


class PNormBoosting:
    """The loop of one fit; the mixture at every row lives in the shards.

    Parameters
    ----------
    shards : Shards
        Of `PNormRows`, in any grouping.
    method : Method
    learner : RelationalLearner
    costs : Costs
        Bound, in the user's units.
    n_classes : int
    setting : PNormSetting
    weighted : bool
        Whether rows have weights.
    """

    def __init__(
        self,
        shards: Shards,
        method: Method,
        learner: RelationalLearner,
        costs: Costs,
        n_classes: int,
        setting: PNormSetting,
        *,
        weighted: bool = False,
    ) -> None:
        self.shards, self.method, self.learner, self.setting = shards, method, learner, setting
        self.n_classes = n_classes
        self.stop: Stop = "rounds"
        self.total_alpha = 0.0
        (self.largest_cost,) = shards.call([set_excess()])  # in the user's units
        self._unit = price_unit(self.largest_cost)
        exponent, copies = self._weigh() if weighted else (0, 1)
        # AdaBoost.M2 sums votes from 0; all others start from the uniform mixture H_0.
        start = 0.0 if method.adaptive else 1.0 / n_classes
        bind = bind_method(
            unit=self._unit, exponent=exponent, copies=copies, start=start, adaptive=method.adaptive
        )
        (total,) = shards.call([bind])
        self._total_weight = rounded(total)
        self._payer = DecisionCosts(shards, costs, n_classes, cheapest=False)
        self._payer.pay_for_first()

    # Before the first round.

    def _weigh(self) -> tuple[int, int]:
        """Scale the weights so that a weight of 2 counts as a row given twice, in every sum.

        Divided by a power of two they are small whole numbers, if they can be.
        """
        (facts,) = self.shards.call([weight_range()])
        heaviest, finest = float(facts[0]), -int(facts[1])
        top = int(np.frexp(heaviest)[1])
        copies = int(math.ldexp(heaviest, -finest)) if finest >= top - 7 else _COPIES + 1
        # Weights that are small multiples of a power of two count as copies of rows, exactly.
        exponent = finest if copies <= _COPIES else top
        self._heaviest = math.ldexp(heaviest, -exponent)
        self._weight_unit = heaviest / self._heaviest
        return exponent, copies if copies <= _COPIES else 0

    _heaviest = 1.0
    _weight_unit = 1.0

    def _sum(self, kind: Message[..., Floats], bound: float, **what: Any) -> float:
        """Return the weighted sum over all rows of terms of size at most `bound`, exactly."""
        grid = self._grid(bound)
        (sums,) = self.shards.call([kind(grid=grid, **what)])
        return grid.to_float(sums)

    def _grid(self, bound: float) -> FloatGrid:
        """Return the grid for a number of size at most `bound` of every row and class."""
        return FloatGrid.of(bound * self._heaviest, self.shards.n_rows * self.n_classes)

    def _answers_of(self, hypothesis: PairHypothesis) -> dict[str, Any]:
        """Return the answers of a hypothesis by leaf, for messages; None where rows hold them."""
        return {
            "answers": hypothesis.answers,
            "stochastic": self.method.answers == "stochastic",
        }

    # The rounds.

    def rounds(self, first: int = 0) -> Iterator[PNormRound]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        for number in range(first, self.setting.n_rounds):
            totals = self._set_vectors(number)
            if totals[1] == 0:
                self.stop = "perfect"
                return
            learnt = self.learner.learn(self.shards, number)
            hypothesis = learnt.in_units(totals[1], self._weight_unit)
            error = self._error(hypothesis, *totals)
            alpha = self._step(number, hypothesis, error)
            if alpha <= 0.0:
                self.stop = "alpha"
                return
            yield self._take(number, alpha, error, hypothesis)
            if self.method.adaptive and error <= 0.0:
                self.stop = "perfect"
                return
        self.stop = "rounds"

    def replay(self, rounds: Sequence[PNormRound]) -> None:
        """Restore the mixture to its state after the given rounds (warm start)."""
        for done in rounds:
            self.learner.recall(self.shards, done.hypothesis)
            self._take(done.number, done.alpha, done.error, done.hypothesis)

    def _take(
        self, number: int, alpha: float, error: float, hypothesis: PairHypothesis
    ) -> PNormRound:
        self.total_alpha += alpha
        keep = 1.0 if self.method.adaptive else 1.0 - alpha
        self.shards.call([mix_in(**self._answers_of(hypothesis), keep=keep, alpha=alpha)])
        if self.method.adaptive:
            self._reweigh(hypothesis, math.exp(-alpha))
        objective, cost = self._account()
        return PNormRound(number, alpha, error, objective, cost, hypothesis)

    # Signed weights.

    def _set_vectors(self, number: int) -> tuple[int, int]:
        """Set the signed weights on the grid; return (sum of the positive ones, sum of all)."""
        method, p = self.method, self.setting.p
        (largest,) = self.shards.call([largest_signed_weight(method=method, p=p)])
        if not largest > 0.0:
            return 0, 0
        if method.repeats(p):
            message = set_vectors(
                method=method, p=p, scale=largest, draw=(self.setting.seed, number + 1)
            )
        else:
            # The same grid with copies as without: 24 bits and 6 for them fit in the four bytes.
            message = set_vectors(
                method=method, p=p, scale=grid_scale(largest, 1, _VECTOR_BITS + 1), draw=None
            )
        (sums,) = self.shards.call([message])
        positive, net = sums.tolist()
        return positive, 2 * positive - net

    def _error(self, hypothesis: PairHypothesis, positive: int, net: int) -> float:
        """Return the weighted error on the relational examples, given the sums of their weights.

        AdaBoost.M2's step follows from it, and prices may leave one that the grid of the signed
        weights does not hold.
        """
        if self.method.adaptive:
            grid = self._grid(2.0)
            (sums,) = self.shards.call([sum_pseudo_loss(grid=grid, answers=hypothesis.answers)])
            return grid.to_float(sums[0]) / grid.to_float(sums[1])
        reward = hypothesis.reward
        if reward is None:
            (reward,) = self.shards.call([sum_reward(answers=hypothesis.answers)])
        return (positive - int(reward)) / net

    # Steps.

    def _step(self, number: int, hypothesis: PairHypothesis, error: float) -> float:
        if self.method.adaptive:  # ln(1 / beta), beta = error / (1 - error)
            most = 2.0 * MAX_ALPHA
            return min(math.log((1.0 - error) / error), most) if error > 0.0 else most
        if self.setting.step == "harmonic":
            return 1.0 / (number + 2)
        if self.setting.step == "average":
            return 1.0 / (number + 1)
        if self.setting.step == "bound":
            return self._bound_step(hypothesis)
        return self._searched_step(hypothesis)

    def _bound_step(self, hypothesis: PairHypothesis) -> float:
        """Return Eq. 10's alpha, with means over rows in place of sums."""
        distance = self._sum(sum_distance, 1.0, **self._answers_of(hypothesis))
        largest = self.largest_cost / self._unit
        curvature = lipschitz(largest, self.setting.p) * distance
        slope = self._slope(hypothesis, 0.0)
        return min(-slope / curvature, 1.0) if curvature > 0.0 else 0.0

    def _searched_step(self, hypothesis: PairHypothesis) -> float:
        """Return the minimiser over [0, 1] of the convex objective along h - H."""
        # The objective is convex along h - H: the sign of its slope at 0 and 1 decides the ends.
        slope = cache(partial(self._slope, hypothesis))  # every value is a pass over all rows
        if slope(0.0) >= 0.0:
            return 0.0
        if slope(1.0) <= 0.0:
            return 1.0
        if self.setting.p == 2.0:  # a parabola
            return slope(0.0) / (slope(0.0) - slope(1.0))
        # By slopes alone, not by Newton's method: below p = 2 nothing bounds the curvature.
        return float(brentq(slope, 0.0, 1.0, xtol=1e-14))

    def _slope(self, hypothesis: PairHypothesis, alpha: float) -> float:
        """Return the derivative in alpha of the objective at (1 - alpha) H + alpha h, times n."""
        p, method = self.setting.p, self.method
        return self._sum(
            sum_slope,
            p * self.n_classes,
            **self._answers_of(hypothesis),
            pseudo=method.answers == "relational",
            p=p,
            alpha=alpha,
        )

    # After the step is known.

    def _reweigh(self, hypothesis: PairHypothesis, beta: float) -> None:
        (largest,) = self.shards.call([reweigh(answers=hypothesis.answers, beta=beta)])
        self.shards.call([rescale_mislabel(exponent=int(np.frexp(largest)[1]))])

    def _account(self) -> tuple[float, float]:
        """Return the objective, the mean over rows, and the cost of all decisions."""
        share = 1.0 / self.total_alpha if self.method.adaptive else 1.0
        total = self._sum(sum_objective, 1.0, p=self.setting.p, share=share)
        return total * self._unit / self._total_weight, self._pay() * self._weight_unit

    def _pay(self) -> float:
        """Return the cost of all decisions, at the weights that rows hold."""
        decision_costs = self._payer
        (sums,) = self.shards.call(
            [count_mixture_decisions(scale=decision_costs.sum_scale, priced=decision_costs.priced)]
        )
        return decision_costs.pay(sums, self.total_alpha)
