"""Training of one ensemble on some rows of a table that is binned once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from costboost.boosting.adaboost.evaluation import aimed_labels, price_scale
from costboost.boosting.adaboost.hypothesis import voted_proba
from costboost.boosting.adaboost.joint import JointFinder
from costboost.boosting.adaboost.learner import (
    LEAF_VALUES,
    Learner,
    OutsideLearner,
    OutsideVotes,
    TreeLearner,
)
from costboost.boosting.adaboost.loop import Boosting, Round
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.adaboost.weights import Setting
from costboost.boosting.links import choices_of, link
from costboost.boosting.objectives import RuleInput
from costboost.calibration import CalibratedScores
from costboost.costs import Costs
from costboost.estimators.adaboost.model import assemble, constant_member, score_maps, to_model
from costboost.estimators.adaboost.plan import NamedObjective, Plan, RowObjective
from costboost.fitting.held_out import (
    ClassResult,
    Follower,
    HeldOutRows,
    class_actions,
    series_of,
    set_history,
)
from costboost.fitting.plan import check_order
from costboost.fitting.trainer import ClassTrainer
from costboost.inputs.checks import plain, warn_caller
from costboost.inputs.outside import check_some_w0
from costboost.model import Member, apply_maps
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats, Int64

FEW = 20  # rounds: who asks for no more may well end early


@dataclass(frozen=True)
class History:
    """What is known of the rounds of one model; `slope` is that of the link."""

    rounds: list[Round]
    evals: dict[str, list[float]]
    cost_bound: Floats | None = None
    slope: float = 2.0


@dataclass(frozen=True)
class OutOfFold:
    """What the recipe saw at its looks, instead of costs after every round.

    Attributes
    ----------
    rounds, losses : list
        The number of rounds, and the loss of the rows that the folds left out.
    train_costs : list of lists
        Of each model kept, the cost of the rows it trained on, at the looks until the last kept.
    """

    rounds: list[int]
    losses: list[float]
    train_costs: list[list[float]]


class Trainer(ClassTrainer):
    """Trains ensembles of the AdaBoost family on any rows of its table."""

    plan: Plan
    histories: list[History]
    _warned = False

    @property
    def scores_are_margins(self) -> bool:  # type: ignore[override]
        """Whether `score` returns real-valued margins rather than shares of votes."""
        return not self.plan.discrete

    # --- training

    def grouping(self) -> tuple[NDArray[np.integer[Any]] | None, int]:
        """Return the answers that rows aim at: a class's rows lie together."""
        n_classes, aim = self.plan.n_classes, self.plan.rule.trains_on_costs
        return aimed_labels(self.costs, self.y, n_classes, aim=aim), n_classes

    @contextmanager
    def open(self, rows: Int64 | None, previous: Any = None) -> Iterator[Boosting]:
        """Set up the rounds on some rows, or on all; their threads end with the block."""
        plan, part = self.plan, self._some(rows)
        y, costs, weights = self._of(part)
        setting = replace(_at_rows(plan.setting, part), n_rounds=self.n_rounds)
        aim = plan.rule.trains_on_costs
        labels = aimed_labels(costs, y, plan.n_classes, aim=aim)
        given = TrainingRows(y, costs, weights, plan.n_classes, labels, aim, setting.objective)
        given = _aim_at_objective(given, plan.rule, setting)
        setting = replace(setting, objective=given.objective)
        with self.table.open(given, part) as shards:
            learner = self._learner(given, part)
            boosting = Boosting(shards, plan.rule, learner, given, setting)
            del rows, part, y, costs, weights, labels, given  # rows elsewhere leave nothing here
            yield boosting

    def assemble(self, rounds: list[Round], slope: float = 2.0) -> Member:
        """Put rounds together; `slope` is that of the link."""
        plan = self.plan
        return assemble(rounds, self.binner, plan.n_classes, plan.setting.votes, slope=slope)

    def model_of(self, loop: Boosting, rounds: list[Round]) -> Member:
        """Return the member of these rounds, with the link of their loop."""
        return self.assemble(rounds, loop.terms.link_slope())

    def attributes(
        self, models: tuple[Member, ...], scores: CalibratedScores | None
    ) -> dict[str, Any]:
        """Return the fitted attributes by which an estimator with these models answers."""
        model = to_model(models, scores, self.plan)
        return {"_model": model, "_rule_name": self.plan.rule.name, "n_iter_": model.n_rounds}

    def _history(
        self, loop: Boosting, rounds: list[Round], evals: dict[str, list[float]]
    ) -> History:
        bound = loop.cost_bound(rounds) if self.plan.bounded else None
        return History(rounds, evals, bound, loop.terms.link_slope())

    def _finish(self, loop: Boosting, history: History, rows: Int64 | None) -> Member:
        if not history.rounds:
            return self._constant(rows)
        if loop.stop == "alpha":
            self._warn_if_early(len(history.rounds))
        return self.assemble(history.rounds, history.slope)

    def _follower(self, loop: Boosting, watched: HeldOutRows) -> Follower:
        return _VotesFollower(self, loop.terms.link_slope, watched)

    def _learner(self, given: TrainingRows, rows: Int64 | None) -> Learner:
        plan, weights = self.plan, given.weights
        if self.binner is None:
            return OutsideLearner(
                plan.estimator,
                self.table_of(rows),
                given.labels,
                plan.n_classes,
                votes=plan.setting.votes,
                random_state=check_random_state(plan.seed),
            )
        check_order(plan.monotone, self.binner)
        finder = None
        stump = plan.limits.max_depth == 1 or plan.limits.max_leaf_nodes == 2
        prices = given.by_class()
        if plan.rule.joint and stump and prices is not None and prices.largest > 0.0:
            # As in Boosting: the largest cost is scaled to 1.
            unit = prices.row_price / prices.largest
            both = (float(unit[1]), float(unit[0]))
            least, ways = plan.limits.min_samples_leaf, plan.monotone
            finder = lambda binner, units: JointFinder(binner, both, units, least, ways)  # noqa: E731
        return TreeLearner(
            self.binner,
            plan.n_classes,
            plan.limits,
            criterion=plan.criterion,
            min_weight_leaf=plan.min_weight_leaf,
            subsample=plan.subsample,
            votes=plan.setting.votes,
            laplace=plan.laplace,
            n_copies=None if weights is None else float(np.sum(weights)),
            seed=plan.seed,
            finder=finder,
            monotone=plan.monotone,
        )

    def _constant(self, rows: Int64 | None) -> Member:
        """Say that no round could be taken, and answer the cheapest constant."""
        plan, answer = self.plan, self._cheapest_constant(rows)
        warn_caller(
            f"method={plan.method!r} could not take a single step: the first learner's votes "
            f"are no better than chance under its weights. The model answers "
            f"{plain(self.classes[answer])!r} always. Try {plan.rule.remedy}, or other costs."
        )
        return constant_member(answer, plan.n_classes, self.binner)

    def _warn_if_early(self, n_taken: int) -> None:
        """Say once that a method ended in the first tenth of the rounds it was asked for."""
        name, n_rounds = self.plan.method, self.n_rounds
        if self._warned or n_rounds < FEW or 10 * n_taken > n_rounds:
            return
        self._warned = True
        warn_caller(
            f"method={name!r} ended after {n_taken} of {n_rounds} rounds: under its weights the "
            f"next learner's votes are no better than chance. Try {self.plan.rule.remedy}, or "
            f"n_estimators={n_taken} if this is all you want."
        )

    # --- for calibration and the report

    def score(self, model: Member, rows: Any) -> Floats:
        """Return the scores of some rows, to calibrate on."""
        if model.forest is None:
            margins = model.margins(self.table_of(rows))
        else:
            walk = partial(model.forest.margins_of_codes, n_threads=self.plan.n_threads)
            margins = self.table.apply(walk, rows)
        scores = apply_maps(score_maps(model, discrete=self.plan.discrete), margins)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def report(
        self, estimator: Any, models: tuple[Member, ...], seen: OutOfFold | None = None
    ) -> None:
        """Set the fitted attributes that tell of rounds, and of what the recipe has seen."""
        kept, names = self.histories_of(models), {"train_cost_": "train_cost"}
        if not self.plan.log_loss:  # which knows neither errors nor Z
            names |= {"estimator_errors_": "error", "normalizers_": "normalizer"}
        series = series_of(kept, self.plan.metric, **names)
        series["estimator_weights_"] = [model.steps for model in models]
        if self.plan.bounded:
            series["cost_bound_"] = [h.cost_bound for h in kept]
        if seen is not None:
            series["validation_rounds_"] = [np.array(seen.rounds)]
            series["validation_loss_"] = [np.array(seen.losses)]
            series["train_cost_"] = [np.array(costs) for costs in seen.train_costs]
        if self.plan.estimator is not None:
            series["estimators_"] = [list(model.estimators) for model in models]
        set_history(estimator, series)
        estimator.n_iter_ = max(len(model) for model in models)


class _VotesFollower:
    """Adds rounds to the margins of held-out rows, and decides by them as the rule does."""

    def __init__(
        self, trainer: Trainer, link_slope: Callable[[], float], watched: HeldOutRows
    ) -> None:
        self.trainer, self.link_slope, self.watched = trainer, link_slope, watched
        n_classes = trainer.plan.n_classes
        self.margins = np.zeros((len(watched.y), 1 if n_classes == 2 else n_classes))
        self.total = 0.0

    def follow(self, done: Round) -> ClassResult:
        """Add a round; return what the model says now."""
        self._add(done)
        part, classes = self.watched, self.trainer.classes
        decided = self._decide()
        return ClassResult(classes, part.y, self._proba, decided, part.costs, part.weights)

    def _proba(self) -> Floats:
        return link(self.margins, self.link_slope())

    def _add(self, done: Round) -> None:
        plan, part, binner = self.trainer.plan, self.watched, self.trainer.binner
        self.total += float(np.sum(done.alpha))
        if binner is None:
            votes = OutsideVotes(plan.setting.votes, plan.n_classes)
            self.margins += votes(done.model.estimator, part.X, done.alpha)
            return
        assert part.codes is not None
        builder = ForestBuilder(self.margins.shape[1])
        done.add_to(builder)
        builder.build(binner).add_trees(part.codes, self.margins, 0, 1)

    def _decide(self) -> Int64:
        costs: Costs = self.watched.costs
        if self.trainer.plan.rule.decision == "cheapest":
            shares = self.trainer.plan.setting.votes not in LEAF_VALUES
            proba = voted_proba(self.margins, self.total, shares=shares)
            return costs.decide(proba, encoded=True)
        if self.trainer.plan.metric != "cost":
            return self.watched.y[:0]  # nobody asks
        return class_actions(costs, choices_of(self.margins))


def _aim_at_objective(given: TrainingRows, rule: Rule, setting: Setting) -> TrainingRows:
    """Gradient-CSB with the user's own a: the pseudo-label is its sign.

    A function is asked once for all rows, with their true labels, unless its signs are theirs.
    """
    objective = setting.objective
    if objective is None or isinstance(objective, NamedObjective):
        return given
    if not isinstance(objective, RowObjective):
        rows = given.load(np.arange(len(given.y)))
        prices = rows.table or rows.prices()
        scale = price_scale(prices.largest, prices.smallest, rule, setting.cost_scale)
        sign = np.where(given.labels == 1, 1.0, -1.0)
        cost = rows.prices().scaled(scale).row_price
        free = prices.largest == 0.0
        at = RuleInput(cost=cost, sign=sign, n_rounds=setting.n_rounds, free=free)
        arrays = objective(at, np.arange(len(sign)))
        check_some_w0(float(np.max(arrays[2], initial=0.0)))
        if np.all(arrays[0] * sign >= 0.0):
            return given
        objective = RowObjective(arrays)
    labels = (objective.arrays[0] > 0.0).astype(np.int64)
    return replace(given, labels=labels, objective=objective, own_prices=True)


def _at_rows(setting: Any, rows: Int64 | None) -> Any:
    """Return the setting with a user's objective cut to the rows of this model."""
    objective = setting.objective
    if rows is None or not isinstance(objective, RowObjective):
        return setting
    a, b, w0 = objective.arrays
    return replace(setting, objective=RowObjective((a[rows], b[rows], w0[rows])))
