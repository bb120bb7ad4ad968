"""The forward stagewise loop of the AdaBoost family: a generator of rounds.

    weights -> learner -> votes -> sums -> alpha -> margins, cost -> weights -> ...

Early stopping, progress, staged prediction and warm starts are consumers of the generator: they
take a round and decide whether to ask for another. What an algorithm is, its `Rule` says; whether
rows are alike within a class (constant costs) or not decides only how sums are taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.effective import EffectiveRule, Setting
from costboost.boosting.adaboost.hypothesis import Hypothesis, Latest
from costboost.boosting.adaboost.learner import LEAF_VALUES, Learner, Lesson
from costboost.boosting.adaboost.ledger import Ledger
from costboost.boosting.adaboost.messages.binding import BoundSums
from costboost.boosting.adaboost.messages.summing import View
from costboost.boosting.adaboost.normalizer import CellSums, Sums
from costboost.boosting.adaboost.rows import Given
from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.adaboost.weights import Weights
from costboost.shards.grid import rounded
from costboost.shards.local import Shards
from costboost.trees.forest import ForestBuilder

Floats = NDArray[np.float64]
Stop = Literal["rounds", "alpha", "perfect"]

LARGEST = 0.1  # AdaCost's largest cost, unless the first step needs a smaller one


@dataclass(frozen=True)
class Round:
    """One round that was taken.

    Attributes
    ----------
    number : int
        From 0.
    alpha : float or (float, float)
        The step, half-log convention; RareBoost has one for each side of the vote.
    error : float
        The weighted error of the votes under this round's weights.
    normalizer : float
        Z_t.
    train_cost : float
        What the decisions after this round cost on the training rows.
    lesson : TreeLesson or OutsideLesson
        What the learner learnt.
    values : float64 array of shape (L, n_outputs)
        What each leaf adds to the margins.
    last : bool
        Whether the learner was perfect, which ends training.
    """

    number: int
    alpha: float | tuple[float, float]
    error: float
    normalizer: float
    train_cost: float
    lesson: Any
    values: Floats
    last: bool = False

    def add_to(self, builder: ForestBuilder) -> None:
        """Add the tree of the round to a forest."""
        builder.add(self.lesson.tree, self.values)


class Boosting:
    """The state of one fit, round after round; weights and margins of rows are with the shards.

    Parameters
    ----------
    shards : Shards
        Rows as `Given.load` makes them, grouped by the labels they aim at.
    rule : Rule
    learner : Learner
    given : Given
        Asked what holds of all rows alike: costs, and whether there are weights.
    setting : Setting
    """

    def __init__(
        self, shards: Shards, rule: Rule, learner: Learner, given: Given, setting: Setting
    ) -> None:
        self.shards, self.rule, self.learner = shards, rule, learner
        self.setting = setting
        self.n_classes = n_classes = given.n_classes
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.stop: Stop = "rounds"
        self.total_alpha = 0.0
        self._latest_wrong = Latest()
        self.terms = EffectiveRule(shards, rule, given.by_class(), n_classes, setting)
        self.weights = Weights(shards, self.terms, weighted=given.weights is not None)
        self._ledger = Ledger(
            shards,
            given.costs,
            n_classes,
            cheapest=rule.decision == "cheapest",
            shares=setting.votes not in LEAF_VALUES,
            own_labels=given.aims_at_truth,
        )

    def cost_bound(self, rounds: Sequence[Round]) -> Floats:
        """Return sum c * prod Z after each round, in the user's units.

        c is what a mistake costs more than the answer aimed at; where that costs something too, it
        is paid in any case and added.
        """
        price, unavoidable = map(rounded, self.shards.call([BoundSums()])[0])
        return np.asarray(unavoidable + price * np.cumprod([done.normalizer for done in rounds]))

    # --- the rounds

    def rounds(self, first: int = 0) -> Iterator[Round]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        if self.stop == "perfect":  # so said the rounds that were replayed
            return
        for number in range(first, self.setting.n_rounds):
            handed = self.weights.handed(joint=self.learner.chooses_step)
            lesson = self.learner.learn(self.shards, number, handed)
            if number == 0 and self._wants_first_step_scale():
                self._choose_scale(lesson)
            taken = self._step(lesson)
            if taken is None:
                self.stop = "alpha"
                return
            alpha, sizes, perfect = taken
            if sizes is not lesson.hypothesis.sizes:
                lesson = replace(lesson, hypothesis=replace(lesson.hypothesis, sizes=sizes))
            yield self._record(number, lesson, alpha, last=perfect)
            if perfect:
                self.stop = "perfect"
                return
        self.stop = "rounds"

    def replay(self, rounds: Sequence[Round]) -> None:
        """Bring weights and margins to where they were after the given rounds."""
        for done in rounds:
            self.learner.recall(self.shards, done.lesson)
            if done.number == 0 and self._wants_first_step_scale():
                self._choose_scale(done.lesson)
            self._record(done.number, done.lesson, done.alpha)
            self.stop = "perfect" if done.last else self.stop

    def _step(self, lesson: Lesson) -> tuple[float | tuple[float, float], Floats, bool] | None:
        """Choose alpha; return (alpha, vote sizes, perfect), or None if no step can be taken."""
        setting, hypothesis = self.setting, lesson.hypothesis
        weights, wrong = lesson.shares, self._wrong(hypothesis)
        perfect = not (weights[wrong] > 0.0).any()
        if self.rule.partition:
            return self._partition_step(weights, hypothesis, perfect)
        if setting.votes in LEAF_VALUES:
            return setting.learning_rate, hypothesis.sizes, False
        if setting.alpha == "estimate":  # Fan et al. 1999, Eq. 11; AdaCost's margins are coded
            alpha = steps.half_log(self._sums(lesson, exponent=True, factor=False))
        elif self.rule.step == "search" or setting.alpha == "search":
            alpha, perfect = self._searched(lesson)
        else:
            closed = self._sums(
                lesson,
                exponent=self.rule.step_margin == "exponent",
                factor=self.rule.step_factor and self.n_classes == 2,
            )
            alpha = steps.half_log(closed, self.n_classes, setting.max_alpha)
        alpha *= setting.learning_rate
        if alpha <= 0.0 and not (self.rule.negative_steps and alpha < 0.0):
            return None
        return alpha, hypothesis.sizes, perfect

    def _searched(self, lesson: Lesson) -> steps.Step:
        """Return the minimiser of the method's own Z.

        CSB0's and CSB1's Z does not depend on alpha: there the voting loss sum D exp(-alpha m)
        is minimised. For K > 2 a wrong vote counts -1/(K - 1), and the result is brought to the
        half-log convention; AdaCost's exponents contain that code already.
        """
        fixed = self.rule.fixed_z
        if self.n_classes == 2 or self.rule.step == "search":
            sums = self._sums(lesson, exponent=not fixed, factor=not fixed)
            return steps.minimiser(sums)
        coded = self._sums(lesson, exponent=not fixed, factor=not fixed, code=True)
        step = steps.minimiser(coded, 4 * self.setting.max_alpha)
        if step.endless:
            return steps.Step(math.copysign(self.setting.max_alpha, step.alpha), endless=True)
        return step._replace(alpha=step.alpha * self.n_classes / (2 * (self.n_classes - 1)))

    def _partition_step(
        self, weights: Floats, hypothesis: Hypothesis, perfect: bool
    ) -> tuple[tuple[float, float], Floats, bool] | None:
        """RareBoost: alpha_p = 1/2 ln(TP / FP), alpha_n = 1/2 ln(TN / FN)."""
        alphas = []
        for vote in (1, 0):
            side = weights[hypothesis.votes == vote].sum(axis=0)
            if side.sum() <= 0.0:
                alphas.append(0.0)  # nobody votes this way: no reason to end
                continue
            q = CellSums(side, np.array([-1.0, 1.0]) if vote else np.array([1.0, -1.0]))
            alpha = steps.half_log(q, 2, self.setting.max_alpha) * self.setting.learning_rate
            if alpha <= 0.0:
                return None
            alphas.append(alpha)
        pair = (alphas[0], alphas[1])
        return pair, np.where(hypothesis.votes == 1, pair[0], pair[1]), perfect

    def _sums(
        self, lesson: Lesson, *, exponent: bool = True, factor: bool = True, code: bool = False
    ) -> Sums:
        """Return the sums of this round, with the rule's exponents and factors or without."""
        hypothesis, terms = lesson.hypothesis, self.terms
        plain = code or not exponent
        if terms.by_cell(hypothesis) or (plain and not hypothesis.by_row):
            if plain:
                wrong = 1.0 / (self.n_classes - 1) if code else 1.0
                u = np.where(self._wrong(hypothesis), -wrong, 1.0)
                u = u * hypothesis.sizes[:, None]
            else:
                u = terms.cell_margins(hypothesis)
            cells = self.weights.of_priced_cells(lesson) if factor else lesson.cells
            tails = partial(self.weights.cell_tails, hypothesis, u, factor=factor)
            q = lesson.shares if cells is lesson.cells else cells / lesson.total
            return CellSums(q, u, tails)
        sums = self.weights.sums(hypothesis, lesson.cells)
        if plain or (terms.has_factors and not factor):
            reach = sums.reach if exponent else terms.largest_size(hypothesis)
            largest = sums.largest if factor else self.weights.largest
            view = View(hypothesis, exponent, factor, code)
            return replace(sums, view=view, known=lesson.cells, largest=largest, reach=reach)
        return sums

    # --- AdaCost's scale

    def _wants_first_step_scale(self) -> bool:
        first_step = self.rule.scale == "first-step" and self.setting.cost_scale == "auto"
        return first_step and self.terms.largest_price > 0.0

    def _choose_scale(self, lesson: Lesson) -> None:
        """Make the largest cost `LARGEST`, or half of that at which the first step would be 0.

        r(s) falls as the costs grow (Fan et al.'s conditions on beta): a step is positive while
        E_D[c] < 1 - 2 eps. Later rounds have larger errors, and weights that have moved to dear
        rows, so that a scale which just lets the first step through ends training soon after.
        """

        def positive(scale: float) -> bool:
            self.weights.rescale(scale)
            plus, minus = self._sums(lesson, factor=False).balance()
            return plus > minus

        low, high = 0.0, 2.0 * LARGEST
        if positive(high):
            low = high
        elif positive(2.0**-60):
            for _ in range(50):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if positive(middle) else (low, middle)
        self.weights.rescale(0.5 * low if low > 0.0 else LARGEST)

    # --- after alpha is known

    def _wrong(self, hypothesis: Hypothesis) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is wrong for a row of the class."""
        return self._latest_wrong.of(hypothesis, lambda said: ~said.right(self.n_classes))

    def _record(
        self,
        number: int,
        lesson: Lesson,
        alpha: float | tuple[float, float],
        *,
        last: bool = False,
    ) -> Round:
        """Vote, pay, compute this round's Z, and make the weights of the next."""
        hypothesis = lesson.hypothesis
        step = 1.0 if isinstance(alpha, tuple) else alpha
        error = float(lesson.shares[self._wrong(hypothesis)].sum())
        self.total_alpha += float(np.sum(alpha)) if isinstance(alpha, tuple) else alpha
        values = self._values(hypothesis, step)
        applied = 1.0 if self.rule.update == "one" else step
        normalizer = self._normalizer(lesson, applied)
        votes = self._ledger.votes(hypothesis, values, self.total_alpha)
        change = self.weights.change(lesson, applied, normalizer)
        *paid, largest = self.shards.call([*votes, change])
        self.weights.settle(change, largest)
        cost = self._ledger.pay(paid)
        return Round(number, alpha, error, normalizer, cost, lesson, values, last)

    def _normalizer(self, lesson: Lesson, alpha: float) -> float:
        """Return Z."""
        sums = self._sums(lesson)
        if not self.weights.is_long(lesson.hypothesis, alpha):
            return sums.z_alone(alpha)
        log_z = sums.tails().log_z(alpha) - math.log(lesson.total)
        return math.exp(min(log_z, 700.0))

    def _values(self, hypothesis: Hypothesis, alpha: float) -> Floats:
        """Return what each leaf adds to the margins, (L, n_outputs)."""
        size = alpha * hypothesis.sizes
        if not (np.abs(size) <= steps.LONGEST).all():
            rate = self.setting.learning_rate
            why = "the exponents of its objective or beta are too small. Scale them up."
            if rate * rate >= abs(alpha):  # the larger of the two factors of the step
                why = f"learning_rate={rate:g} is too large. Lower it, to 1 say."
            raise ValueError(
                f"method={self.rule.name!r} asks for a step of {alpha:g}, beyond what margins can "
                f"hold: {why}"
            )
        if self.n_classes == 2:
            return np.asarray(np.where(hypothesis.votes == 1, size, -size)[:, None])
        values = np.zeros((len(size), self.n_classes))
        values[np.arange(len(size)), hypothesis.votes] = size
        return values
