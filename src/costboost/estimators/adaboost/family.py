"""The AdaBoost family as the trainer knows it: rows, learner, loop, held-out rows, fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from costboost.binning.binner import Binner
from costboost.boosting.adaboost.joint import JointFinder
from costboost.boosting.adaboost.learner import (
    LEAF_VALUES,
    Learner,
    OutsideLearner,
    OutsideVotes,
    TreeLearner,
    Votes,
)
from costboost.boosting.adaboost.loop import Boosting, Round
from costboost.boosting.adaboost.rows import TrainingRows, aimed_labels
from costboost.boosting.adaboost.weights import price_scale
from costboost.boosting.formulas import RuleInput, choices_of, link, voted_proba
from costboost.calibration import CalibratedScores
from costboost.costs import Costs
from costboost.estimators.adaboost.plan import NamedObjective, Plan, RowObjective, settle
from costboost.fitting.held_out import ClassResult, HeldOutRows, class_actions
from costboost.fitting.plan import check_order
from costboost.fitting.train import Family, Trainer
from costboost.inputs.arrays import check_some_w0
from costboost.inputs.checks import plain, warn_caller
from costboost.model import (
    FittedModel,
    Logistic,
    Map,
    Member,
    Second,
    VoteShares,
    apply_maps,
    calibrated,
)
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats, Int64


def assemble(
    rounds: Sequence[Round],
    binner: Binner | None,
    n_classes: int,
    votes: Votes,
    *,
    slope: float = 2.0,
) -> Member:
    """Return the member of these rounds; `slope` is that of the link of the method's loss."""
    n_outputs = 1 if n_classes == 2 else n_classes
    steps, maps = np.array([done.alpha for done in rounds]), (Logistic(slope),)
    if binner is None:
        return Member(
            steps,
            None,
            maps,
            estimators=tuple(done.model.estimator for done in rounds),
            start=np.zeros(n_outputs),
            answers=OutsideVotes(votes, n_classes),
        )
    builder = ForestBuilder(n_outputs)
    for done in rounds:
        done.add_to(builder)
    return Member(steps, builder.build(binner), maps)


def constant_member(answer: int, n_classes: int, binner: Binner | None) -> Member:
    """Return the member without rounds that always predicts one class."""
    start = np.array([1.0 if answer == 1 else -1.0])
    if n_classes > 2:
        start = (np.arange(n_classes) == answer).astype(float)
    maps = (Logistic(2.0),)
    if binner is None:
        return Member(np.zeros(0), None, maps, start=start)
    return Member(np.zeros(0), ForestBuilder(len(start)).build(binner, start), maps)


def score_maps(member: Member, *, discrete: bool) -> tuple[Map, ...]:
    """Return the maps to what is calibrated: shares of discrete votes, else the margins."""
    if not discrete:
        return ()
    shares = VoteShares(member.total)
    return (shares, Second()) if len(member.first) == 1 else (shares,)


def to_model(
    members: tuple[Member, ...], scores: CalibratedScores | None, plan: Plan
) -> FittedModel:
    """Return the fitted model: calibrated, or deciding by the method's own rule."""
    if scores is not None:
        return calibrated(members, partial(score_maps, discrete=plan.discrete), scores)
    unit = "votes" if plan.n_classes > 2 else "margin"
    if plan.rule.decision != "cheapest":
        return FittedModel(members, "largest", unit)
    # AdaMEC prices shares of votes; fitted values of leaves are none, and have their link.
    leaf_values = plan.setting.votes in LEAF_VALUES
    priced = Logistic(2.0) if leaf_values else VoteShares(members[0].total)
    return FittedModel(members, "cheapest", unit, (priced,))


FEW = 20  # rounds: who asks for no more may well end early


def load_rows(trainer: Trainer, rows: Any) -> TrainingRows:
    """Return the loader of some rows, grouped by the answer that they aim at; None: of all."""
    plan: Any = trainer.plan
    data, aim = trainer.data_of(rows), plan.rule.trains_on_costs
    assert data.costs is not None
    objective = plan.setting.objective
    if rows is not None and isinstance(objective, RowObjective):
        objective = objective.of_rows(rows)
    known = plan.class_prices
    labels = aimed_labels(data.costs, data.y, plan.n_classes, aim=aim, known=known)
    loader = TrainingRows(data, plan.n_classes, labels, aim, objective, known=known)
    if objective is None or isinstance(objective, NamedObjective):
        return loader
    return _aim_at_objective(loader, plan, trainer.n_rounds)


def _aim_at_objective(loader: TrainingRows, plan: Plan, n_rounds: int) -> TrainingRows:
    """Return the loader of Gradient-CSB with the user's own a: rows aim at its sign.

    A function is called once for all rows, with their true labels, unless its signs are theirs.
    """
    objective = loader.objective
    if not isinstance(objective, RowObjective):
        rows = loader.load(np.arange(len(loader.labels)))
        prices = rows.table or rows.prices()
        scale = price_scale(prices.largest, prices.smallest, plan.rule, plan.setting.cost_scale)
        sign = np.where(loader.labels == 1, 1.0, -1.0)
        cost = rows.prices().scaled(scale).row_price
        free = prices.largest == 0.0
        at = RuleInput(cost=cost, sign=sign, n_rounds=n_rounds, free=free)
        arrays = objective(at, np.arange(len(sign)))
        check_some_w0(float(np.max(arrays[2], initial=0.0)))
        if np.all(arrays[0] * sign >= 0.0):
            return loader
        objective = RowObjective(arrays)
    labels = (objective.arrays[0] > 0.0).astype(np.int64)
    return replace(loader, labels=labels, objective=objective, own_prices=True)


def open_loop(
    trainer: Trainer, shards: Any, loader: TrainingRows, rows: Any, previous: Any
) -> Boosting:
    """Return the loop with its learner; warm starts need nothing but the replay of their rounds."""
    plan: Any = trainer.plan
    setting = replace(plan.setting, n_rounds=trainer.n_rounds, objective=loader.objective)
    return Boosting(shards, plan.rule, _learner(trainer, loader, rows), loader, setting)


def _learner(trainer: Trainer, loader: TrainingRows, rows: Any) -> Learner:
    plan: Any = trainer.plan
    weights = loader.data.weights
    if trainer.binner is None:
        return OutsideLearner(
            plan.estimator,
            trainer.table.table_of(rows),
            loader.labels,
            plan.n_classes,
            votes=plan.setting.votes,
            random_state=check_random_state(plan.seed),
        )
    check_order(plan.monotone, trainer.binner)
    finder = None
    stump = plan.limits.max_depth == 1 or plan.limits.max_leaf_nodes == 2
    prices = loader.by_class()
    if plan.rule.joint and stump and prices is not None and prices.largest > 0.0:
        # As in Boosting: the largest cost is scaled to 1.
        unit = prices.row_price / prices.largest
        both = (float(unit[1]), float(unit[0]))
        least, ways = plan.limits.min_samples_leaf, plan.monotone
        finder = lambda binner, units: JointFinder(binner, both, units, least, ways)  # noqa: E731
    return TreeLearner(
        trainer.binner,
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
        # The recipe chooses among columns by what rows left out of the folds cost in all.
        charges=None if plan.in_step else trainer.charges(plan.setting.learning_rate),
    )


def to_member(trainer: Trainer, loop: Boosting, rounds: list[Round]) -> Member:
    """Return the member of some rounds, with the link of their loop."""
    plan: Any = trainer.plan
    kind = (plan.n_classes, plan.setting.votes)
    return assemble(rounds, trainer.binner, *kind, slope=loop.terms.link_slope())


def finish(trainer: Trainer, loop: Boosting, rounds: list[Round], rows: Any) -> Member:
    """Return the model of a training that has ended; without a round, the cheapest constant."""
    plan: Any = trainer.plan
    name, remedy, n_rounds = plan.method, plan.rule.remedy, trainer.n_rounds
    if not rounds:
        answer = trainer.cheapest_constant(rows)
        warn_caller(
            f"method={name!r} could not take a single step: the first learner's votes "
            f"are no better than chance under its weights. The model answers "
            f"{plain(trainer.classes[answer])!r} always. Try {remedy}, or other costs."
        )
        return constant_member(answer, plan.n_classes, trainer.binner)
    early = loop.stop == "alpha" and n_rounds >= FEW and 10 * len(rounds) <= n_rounds
    if early and not trainer.warned_of_early_end:
        trainer.warned_of_early_end = True  # once for all folds
        warn_caller(
            f"method={name!r} ended after {len(rounds)} of {n_rounds} rounds: under its weights "
            f"the next learner's votes are no better than chance. Try {remedy}, or "
            f"n_estimators={len(rounds)} if this is all you want."
        )
    return to_member(trainer, loop, rounds)


class VotesFollower:
    """Adds rounds to the margins of held-out rows, and decides by them as the rule does."""

    def __init__(self, trainer: Trainer, loop: Boosting, part: HeldOutRows) -> None:
        self.binner, self.classes, self.part = trainer.binner, trainer.classes, part
        self.plan: Any = trainer.plan
        self.link_slope = loop.terms.link_slope
        n_classes = self.plan.n_classes
        self.margins = np.zeros((len(part.y), 1 if n_classes == 2 else n_classes))
        self.total = 0.0

    def follow(self, done: Round) -> ClassResult:
        """Add a round; return the predictions of the model so far."""
        self._add(done)
        part, decided = self.part, self._decide()
        return ClassResult(self.classes, part.y, self._proba, decided, part.costs, part.weights)

    def _proba(self) -> Floats:
        return link(self.margins, self.link_slope())

    def _add(self, done: Round) -> None:
        plan, part = self.plan, self.part
        self.total += float(np.sum(done.alpha))
        if self.binner is None:
            votes = OutsideVotes(plan.setting.votes, plan.n_classes)
            self.margins += votes(done.model.estimator, part.X, done.alpha)
            return
        assert part.codes is not None
        builder = ForestBuilder(self.margins.shape[1])
        done.add_to(builder)
        builder.build(self.binner).add_trees(part.codes, self.margins, 0, 1)

    def _decide(self) -> Int64:
        costs: Costs = self.part.costs
        if self.plan.rule.decision == "cheapest":
            shares = self.plan.setting.votes not in LEAF_VALUES
            proba = voted_proba(self.margins, self.total, shares=shares)
            return costs.decide(proba, encoded=True)
        if self.plan.metric != "cost":
            return self.part.y[:0]  # no metric reads them
        return class_actions(costs, choices_of(self.margins))


def score(trainer: Trainer, model: Member, rows: Any) -> Floats:
    """Return the scores of some rows of the table: (n,), or (n, K) of more than two classes."""
    if model.forest is None:
        margins = model.margins(trainer.table.table_of(rows))
    else:
        walk = partial(model.forest.margins_of_codes, n_threads=trainer.plan.n_threads)
        margins = trainer.table.apply(walk, rows)
    plan: Any = trainer.plan
    scores = apply_maps(score_maps(model, discrete=plan.discrete), margins)
    return scores[:, 0] if scores.shape[1] == 1 else scores


def curves(plan: Plan, loop: Boosting, rounds: list[Round], model: Member) -> dict[str, Any]:
    """Return the fitted attributes of every round."""
    found: dict[str, Any] = {
        "train_cost_": np.array([done.train_cost for done in rounds]),
        "estimator_errors_": np.array([done.error for done in rounds]),
        "normalizers_": np.array([done.normalizer for done in rounds]),
        "estimator_weights_": model.steps,
    }
    if plan.bounded:
        found["cost_bound_"] = loop.cost_bound(rounds)
    if plan.estimator is not None:
        found["estimators_"] = list(model.estimators)
    return found


def attributes(
    plan: Plan, members: tuple[Member, ...], scores: CalibratedScores | None
) -> dict[str, Any]:
    """Return the fitted attributes by which an estimator with these members answers."""
    model = to_model(members, scores, plan)
    return {"_model": model, "_rule_name": plan.rule.name, "n_iter_": model.n_rounds}


ADABOOST = Family(
    settle=settle,
    loader=load_rows,
    loop=open_loop,
    follow=VotesFollower,
    to_member=to_member,
    finish=finish,
    score=score,
    curves=curves,
    attributes=attributes,
)
