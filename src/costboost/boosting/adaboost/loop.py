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
from costboost.boosting.adaboost.learner import LEAF_VALUES, Hypothesis, Learner, WeakModel
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.adaboost.steps import CellSums, Sums
from costboost.boosting.adaboost.sums import View
from costboost.boosting.adaboost.updates import sum_bound, vote, vote_classes
from costboost.boosting.adaboost.weights import EffectiveRule, LastValue, Setting, Weights
from costboost.boosting.formulas import MAX_ALPHA, voted_proba
from costboost.boosting.train_cost import DecisionCosts, price_decisions
from costboost.costs import Costs
from costboost.runtime.messages import Call
from costboost.shards.grid import rounded
from costboost.shards.layout import Shards
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats, Int64

# Training cost: the margins of the training rows, and what the decisions by them cost.


@dataclass(frozen=True)
class VotedProba:
    """The probabilities by which AdaMEC decides, as a picklable function; see `voted_proba`."""

    shares: bool

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K)."""
        return voted_proba(margins, total, shares=self.shares)


class TrainCost:
    """Updates the training rows' margins round by round, and the total cost of their decisions.

    Parameters
    ----------
    shards : Shards
    costs : Costs
    n_classes : int
    cheapest : bool
        Whether decisions are the cheapest answer; else the largest vote.
    shares : bool
        Whether margins over the sum of alphas are shares of votes; else half the log odds.
    own_labels : bool
        Whether all rows aim at their true classes.
    """

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        n_classes: int,
        *,
        cheapest: bool,
        shares: bool = True,
        own_labels: bool = True,
    ) -> None:
        self.shards, self.shares = shards, shares
        self.decision_costs = DecisionCosts(
            shards,
            costs,
            n_classes,
            cheapest=cheapest,
            odds=None if shares else 2.0,
            proba=VotedProba(shares),
            own_labels=own_labels,
        )
        self._total_alpha = 0.0
        if n_classes > 2:
            self.decision_costs.set_prices()
        else:
            self.decision_costs.pay_for_first()

    def votes(self, hypothesis: Hypothesis, values: Floats, total_alpha: float) -> list[Call[Any]]:
        """Return the calls that add a round's votes to the margins.

        Pass their answers to `pay`.
        """
        before = self._total_alpha
        self._total_alpha = total_alpha if self.shares else 1.0
        if self.decision_costs.n_classes == 2:
            return [self._vote(hypothesis, values, before)]
        return self._vote_classes(hypothesis, values)

    def pay(self, answers: Sequence[Any]) -> float:
        """Return the total cost of the decisions, from the answers to `votes`."""
        return self.decision_costs.pay(answers[-1], self._total_alpha)

    def _vote(self, hypothesis: Hypothesis, values: Floats, before: float) -> Call[Int64]:
        decision_costs, own = self.decision_costs, np.ascontiguousarray(values[:, 0])
        return vote(
            hypothesis=hypothesis,
            values=own,
            limits=decision_costs.limits,
            before=before,
            total=self._total_alpha,
            scale=decision_costs.sum_scale,
            priced=decision_costs.priced,
        )

    def _vote_classes(self, hypothesis: Hypothesis, values: Floats) -> list[Call[Any]]:
        decision_costs = self.decision_costs
        own = np.ascontiguousarray(values[np.arange(len(values)), hypothesis.votes])
        call = vote_classes(
            votes=hypothesis.votes,
            values=own,
            prices=decision_costs.class_prices,
            scale=decision_costs.weight_scale,
            kept=decision_costs.priced,
        )
        if not decision_costs.priced:
            return [call]
        return [call, price_decisions(scale=decision_costs.scale)]


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
    model : WeakTree or WeakEstimator
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
    model: Any
    values: Floats
    last: bool = False

    def add_to(self, builder: ForestBuilder) -> None:
        """Add the tree of the round to a forest."""
        builder.add(self.model.tree, self.values)


class Boosting:
    """The loop of one fit; weights and margins of rows live in the shards.

    Parameters
    ----------
    shards : Shards
        Rows as `TrainingRows.load` makes them, grouped by the labels they aim at.
    rule : Rule
    learner : Learner
    loader : TrainingRows
        Read for costs and whether there are weights; rows themselves are in the shards.
    setting : Setting
    """

    def __init__(
        self, shards: Shards, rule: Rule, learner: Learner, loader: TrainingRows, setting: Setting
    ) -> None:
        self.shards, self.rule, self.learner = shards, rule, learner
        self.setting = setting
        self.n_classes = n_classes = loader.n_classes
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.stop: Stop = "rounds"
        self.total_alpha = 0.0
        self._last_wrong = LastValue()
        self.terms = EffectiveRule(shards, rule, loader.by_class(), n_classes, setting)
        self.weights = Weights(shards, self.terms, weighted=loader.data.weights is not None)
        self._train_cost = TrainCost(
            shards,
            loader.costs,
            n_classes,
            cheapest=rule.decision == "cheapest",
            shares=setting.votes not in LEAF_VALUES,
            own_labels=loader.aims_at_truth,
        )

    def cost_bound(self, rounds: Sequence[Round]) -> Floats:
        """Return sum c * prod Z after each round, in the user's units.

        c is what a mistake costs more than the answer aimed at; where that costs something too, it
        is paid in any case and added.
        """
        price, unavoidable = map(rounded, self.shards.call([sum_bound()])[0])
        return np.asarray(unavoidable + price * np.cumprod([done.normalizer for done in rounds]))

    # The rounds.

    def rounds(self, first: int = 0) -> Iterator[Round]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        if self.stop == "perfect":  # the last replayed round was
            return
        for number in range(first, self.setting.n_rounds):
            # The learner sees weights times the rule's learner factor; the step sees the weights
            # alone.
            learner_weights = self.weights.learner_weights(joint=self.learner.chooses_step)
            model = self.learner.learn(self.shards, number, learner_weights)
            if number == 0 and self._wants_first_step_scale():
                self._choose_scale(model)
            taken = self._step(model)
            if taken is None:
                self.stop = "alpha"
                return
            alpha, sizes, perfect = taken
            if sizes is not model.hypothesis.sizes:
                model = replace(model, hypothesis=replace(model.hypothesis, sizes=sizes))
            yield self._record(number, model, alpha, last=perfect)
            if perfect:
                self.stop = "perfect"
                return
        self.stop = "rounds"

    def replay(self, rounds: Sequence[Round]) -> None:
        """Restore weights and margins to their state after the given rounds (warm start)."""
        for done in rounds:
            self.learner.recall(self.shards, done.model)
            if done.number == 0 and self._wants_first_step_scale():
                self._choose_scale(done.model)
            self._record(done.number, done.model, done.alpha)
            self.stop = "perfect" if done.last else self.stop

    def _step(self, model: WeakModel) -> tuple[float | tuple[float, float], Floats, bool] | None:
        """Choose alpha; return (alpha, vote sizes, perfect), or None if no step can be taken."""
        setting, hypothesis = self.setting, model.hypothesis
        perfect = self._is_perfect(model)
        if self.rule.partition:
            return self._partition_step(model, perfect)
        # Real and gentle votes are fitted values: the step is 1, scaled by the learning rate.
        if setting.votes in LEAF_VALUES:
            return setting.learning_rate, hypothesis.sizes, False
        if setting.alpha == "estimate":  # Fan et al. 1999, Eq. 11; AdaCost's margins are coded
            alpha = steps.half_log(self._sums(model, exponent=True, factor=False))
        elif self.rule.step == "search" or setting.alpha == "search":
            alpha, perfect = self._searched(model)
        else:
            closed = self._sums(
                model,
                exponent=self.rule.step_margin == "exponent",
                factor=self.rule.step_factor and self.n_classes == 2,
            )
            alpha = steps.half_log(closed, self.n_classes)
        alpha *= setting.learning_rate
        # A step of 0 changes nothing, so all later rounds would be this one: training ends.
        if alpha <= 0.0 and not (self.rule.negative_steps and alpha < 0.0):
            return None
        return alpha, hypothesis.sizes, perfect

    def _searched(self, model: WeakModel) -> steps.StepSize:
        """Return the minimiser of the method's own Z.

        CSB0's and CSB1's Z does not depend on alpha: there the voting loss sum D exp(-alpha m)
        is minimised. For K > 2 a wrong vote counts -1/(K - 1), and the result is brought to the
        half-log convention; AdaCost's exponents contain that code already.
        """
        fixed = self.rule.fixed_z
        if self.n_classes == 2 or self.rule.step == "search":
            sums = self._sums(model, exponent=not fixed, factor=not fixed)
            return steps.minimiser(sums)
        # SAMME's code: a wrong vote counts -1 / (K - 1), so that a random guess has margin 0.
        coded = self._sums(model, exponent=not fixed, factor=not fixed, code=True)
        step = steps.minimiser(coded, 4 * MAX_ALPHA)
        if step.endless:
            return steps.StepSize(math.copysign(MAX_ALPHA, step.alpha), endless=True)
        return step._replace(alpha=step.alpha * self.n_classes / (2 * (self.n_classes - 1)))

    def _is_perfect(self, model: WeakModel) -> bool:
        """Whether no row with weight is misclassified.

        Rows too light for the grid do not show in the cells' sums, so these are checked in logs.
        """
        hypothesis, wrong = model.hypothesis, self._wrong(model.hypothesis)
        if (model.shares[wrong] > 0.0).any():
            return False
        u = np.where(wrong, -1.0, 0.0)
        tails = self.weights.cell_tails(hypothesis, u, factor=self.rule.step_factor)
        return tails.sides(0.0)[1] == -math.inf

    def _partition_step(
        self, model: WeakModel, perfect: bool
    ) -> tuple[tuple[float, float], Floats, bool] | None:
        """RareBoost: alpha_p = 1/2 ln(TP / FP), alpha_n = 1/2 ln(TN / FN)."""
        hypothesis, alphas = model.hypothesis, []
        for label in (1, 0):
            chosen = hypothesis.votes == label
            side = model.shares[chosen].sum(axis=0)
            m = np.array([-1.0, 1.0]) if label else np.array([1.0, -1.0])
            u = np.where(chosen[:, None], m, 0.0)
            rows = partial(self.weights.cell_tails, hypothesis, u, factor=False)
            if side.sum() <= 0.0 and max(rows().sides(0.0)) == -math.inf:
                alphas.append(0.0)  # nobody votes this way: no reason to end
                continue
            alpha = steps.half_log(CellSums(side, m, rows)) * self.setting.learning_rate
            if alpha <= 0.0:
                return None
            alphas.append(alpha)
        pair = (alphas[0], alphas[1])
        return pair, np.where(hypothesis.votes == 1, pair[0], pair[1]), perfect

    def _sums(
        self, model: WeakModel, *, exponent: bool = True, factor: bool = True, code: bool = False
    ) -> Sums:
        """Return the sums of this round, with the rule's exponents and factors or without."""
        hypothesis, terms = model.hypothesis, self.terms
        plain = code or not exponent
        # Rows of one leaf and class have the same margin: sums over L x K cells replace a pass over
        # rows.
        if terms.by_cell(hypothesis) or (plain and not hypothesis.by_row):
            if plain:
                wrong = 1.0 / (self.n_classes - 1) if code else 1.0
                u = np.where(self._wrong(hypothesis), -wrong, 1.0)
                u = u * hypothesis.sizes[:, None]
            else:
                u = terms.cell_margins(hypothesis)
            cells = self.weights.of_priced_cells(model) if factor else model.cells
            tails = partial(self.weights.cell_tails, hypothesis, u, factor=factor)
            q = model.shares if cells is model.cells else cells / model.total
            unit = terms.largest_factor(hypothesis) if factor else 1.0
            return CellSums(q, u, tails, unit)
        sums = self.weights.sums(hypothesis, model.cells)
        if plain or (terms.has_factors and not factor):
            reach = sums.reach if exponent else terms.largest_size(hypothesis)
            largest = sums.largest if factor else self.weights.largest
            view = View(hypothesis, exponent, factor, code)
            return replace(sums, view=view, known=model.cells, largest=largest, reach=reach)
        return sums

    # AdaCost's scale.

    def _wants_first_step_scale(self) -> bool:
        first_step = self.rule.scale == "first-step" and self.setting.cost_scale == "auto"
        return first_step and self.terms.largest_price > 0.0

    def _choose_scale(self, model: WeakModel) -> None:
        """Scale costs to `LARGEST`, or half the scale at which the first step would be 0.

        r(s) falls as the costs grow (Fan et al.'s conditions on beta): a step is positive while
        E_D[c] < 1 - 2 eps. Later rounds have larger errors, and weights that have moved to costly
        rows, so that a scale which just lets the first step through ends training soon after.
        """

        def positive(scale: float) -> bool:
            self.weights.rescale(scale)
            plus, minus = self._sums(model, factor=False).balance()
            return plus > minus

        low, high = 0.0, 2.0 * LARGEST
        if positive(high):
            low = high
        elif positive(2.0**-60):
            for _ in range(50):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if positive(middle) else (low, middle)
        self.weights.rescale(0.5 * low if low > 0.0 else LARGEST)

    # Taking the step.

    def _wrong(self, hypothesis: Hypothesis) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is wrong for a row of the class."""
        return self._last_wrong.of(hypothesis, lambda h: ~h.right(self.n_classes))

    def _record(
        self,
        number: int,
        model: WeakModel,
        alpha: float | tuple[float, float],
        *,
        last: bool = False,
    ) -> Round:
        """Move the margins, price the decisions, and update the weights; return the round."""
        hypothesis = model.hypothesis
        step = 1.0 if isinstance(alpha, tuple) else alpha
        error = float(model.shares[self._wrong(hypothesis)].sum())
        self.total_alpha += float(np.sum(alpha)) if isinstance(alpha, tuple) else alpha
        values = self._values(hypothesis, step)
        # CSB1 and the like move weights by a fixed step, whatever alpha the votes get.
        applied = 1.0 if self.rule.update == "one" else step
        normalizer = self._normalizer(model, applied)
        # One call for all: on a cluster every call is a trip.
        votes = self._train_cost.votes(hypothesis, values, self.total_alpha)
        change = self.weights.change(model, applied, normalizer)
        *paid, largest = self.shards.call([*votes, change])
        self.weights.settle(change, largest)
        cost = self._train_cost.pay(paid)
        return Round(number, alpha, error, normalizer, cost, model, values, last)

    def _normalizer(self, model: WeakModel, alpha: float) -> float:
        """Return Z, the sum of the new weights over the old before normalising."""
        sums = self._sums(model)
        if not self.weights.is_long(model.hypothesis, alpha):
            return sums.z_alone(alpha)
        log_z = sums.tails().log_z(alpha) - math.log(model.total)
        return math.exp(min(log_z, 700.0))

    def _values(self, hypothesis: Hypothesis, alpha: float) -> Floats:
        """Return the margins that each leaf adds, (L, n_outputs); raises if the step overflows."""
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
