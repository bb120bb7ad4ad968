"""The L_p family as the trainer knows it: plan, rows, learner, loop, held-out rows, model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from costboost.binning.binner import Binner
from costboost.boosting.formulas import normalised
from costboost.boosting.pnorm.learner import (
    OutsideAnswers,
    RelationalClassifier,
    RelationalLearner,
    RelationalTree,
    outside_kind,
)
from costboost.boosting.pnorm.loop import PNormBoosting, PNormRound, PNormSetting
from costboost.boosting.pnorm.methods import METHODS, Method, rate_bound
from costboost.boosting.pnorm.rows import PNormLoader
from costboost.calibration import CALIBRATORS, CalibratedScores
from costboost.costs import Costs
from costboost.fitting.held_out import ClassResult, HeldOutRows
from costboost.fitting.plan import TrainingPlan, check_training, check_unbiased
from costboost.fitting.train import Family, Trainer
from costboost.inputs.checks import check_choice, check_number, fit_seed, plain, warn_caller
from costboost.model import FittedModel, Mixture, Normalise, calibrated, mix
from costboost.shards.layout import Shards
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import Floats, Int64

# From the parameters of `PNormBoostClassifier` to a plan: all choices settled, all checked

STEPS = ("harmonic", "average", "bound", "search")
LEAST = 80  # rows in a leaf, where there are rows enough for LEAVES of them
LEAVES = 10
# Rows of the rarest class that a leaf holds on average. By the rule of three, a leaf without any is
# then one where that class is rarer than elsewhere, with 95% confidence: larger ones add nothing.
RAREST = 3


@dataclass(frozen=True, kw_only=True)
class PNormPlan(TrainingPlan):
    """Everything a training needs to know beside the rows; `limits` lack the least size of a leaf.

    Attributes
    ----------
    method : Method
    setting : PNormSetting
    min_samples_leaf : int or "auto"
    """

    method: Method
    setting: PNormSetting
    min_samples_leaf: int | str
    subsample: float

    @property
    def scores_are_margins(self) -> bool:
        """Scores to calibrate are normalised: values in [0, 1]."""
        return False

    @property
    def width(self) -> int:
        """A column is searched for every class."""
        return self.n_classes

    @property
    def compared_with_constant(self) -> bool:
        """Mixtures may lose to a constant where a class is rare: a warning says so."""
        return True


def settle(
    params: Any, X: Any, y: Int64, weights: Floats | None, costs: Costs, n_classes: int
) -> PNormPlan:
    """Check the parameters of an estimator against each other and the data."""
    _check_parameters(params)
    method = METHODS[params.method]
    _check_combination(params, method, costs)
    seed = fit_seed(params)
    return PNormPlan.read(
        params,
        X,
        n_classes=n_classes,
        calibration=params.calibration,
        seed=seed,
        setting=PNormSetting(params.n_estimators, float(params.p), params.step, seed),
        method=method,
        min_samples_leaf=params.min_samples_leaf,
        subsample=float(params.subsample),
    )


def leaf_rows(min_samples_leaf: int | str, counts: ArrayLike) -> int:
    """Return the least number of rows in a leaf, for so many training rows of each class.

    Examples
    --------
    Alike classes need small leaves, rare ones large leaves, and few rows small ones again.

    >>> [leaf_rows("auto", counts) for counts in ([500, 500, 500], [9000, 990, 10], [50, 3, 0])]
    [9, 80, 5]
    >>> leaf_rows(3, [9000, 990, 10])
    3
    """
    if not isinstance(min_samples_leaf, str):
        return int(min_samples_leaf)
    found = np.asarray(counts)
    n_rows, rarest = int(found.sum()), int(found[found > 0].min())
    return min(max(n_rows // LEAVES, 1), LEAST, -(-RAREST * n_rows // rarest))


def _check_parameters(params: Any) -> None:
    check_training(params, auto_leaf=True)
    check_choice("method", params.method, tuple(METHODS))
    check_choice("step", params.step, STEPS)
    check_choice("calibration", params.calibration, tuple(CALIBRATORS))
    check_unbiased(params.calibration, f"method={params.method!r}", on_costs=True)
    check_number("p", params.p, low=1.0)


def _check_combination(params: Any, method: Method, costs: Costs) -> None:
    if not costs.is_square:
        raise ValueError(
            "PNormBoostClassifier trains on the cost of each answer, so decisions must be the "
            "classes; these costs have other actions. Give costs of the classes to fit, calibrate, "
            "and pass the others to predict."
        )
    if params.step in ("bound", "search") and not method.uses_p:
        raise ValueError(
            f"step={params.step!r} descends on the p-norm functional, which "
            f'method={method.name!r} does not; use step="harmonic" or "average".'
        )
    if params.step == "bound" and not params.p >= 2.0:
        raise ValueError(
            f'step="bound" needs p >= 2, got p={params.p!r}: the gradient is not Lipschitz below. '
            'Use step="harmonic", or "search" for p > 1.'
        )
    if params.step == "search" and not params.p > 1.0:
        raise ValueError(
            'step="search" needs p > 1: at p=1 the objective is linear, and its least value is '
            'at one end, where the mixture is forgotten. Use step="harmonic" or "average".'
        )


# The loop on some rows.


def load_rows(trainer: Trainer, rows: Any) -> PNormLoader:
    """Return the loader of some rows; None are all."""
    return PNormLoader(trainer.data_of(rows), trainer.plan.n_classes)


def open_loop(
    trainer: Trainer, shards: Shards, loader: PNormLoader, rows: Any, previous: Any
) -> PNormBoosting:
    """Return the loop with its learner; warm starts need nothing but the replay of their rounds."""
    plan: Any = trainer.plan
    assert loader.data.costs is not None
    return PNormBoosting(
        shards,
        plan.method,
        _learner(trainer, rows, loader.data.y),
        loader.data.costs,
        plan.n_classes,
        replace(plan.setting, n_rounds=trainer.n_rounds),
        weighted=loader.data.weights is not None,
    )


def _learner(trainer: Trainer, rows: Any, y: Int64) -> RelationalLearner:
    plan: Any = trainer.plan
    if trainer.binner is None:
        X = trainer.table.table_of(rows)
        X = X.tocsr() if sp.issparse(X) else X
        kind = outside_kind(plan.method)
        return RelationalClassifier(plan.estimator, X, plan.n_classes, kind, plan.seed)
    least = leaf_rows(plan.min_samples_leaf, np.bincount(y))
    return RelationalTree(
        trainer.binner,
        plan.n_classes,
        replace(plan.limits, min_samples_leaf=least),
        one_label=plan.method.one_label,
        subsample=plan.subsample,
        seed=plan.seed,
    )


# Its models, and their evaluation.


def to_member(trainer: Trainer, loop: PNormBoosting, rounds: list[PNormRound]) -> Mixture:
    """Return the mixture of some rounds."""
    plan: Any = trainer.plan
    return assemble_mixture(rounds, plan.method, trainer.binner, plan.n_classes)


def finish(trainer: Trainer, loop: PNormBoosting, rounds: list[PNormRound], rows: Any) -> Mixture:
    """Return the model of a training that has ended; without a round, the cheapest constant."""
    plan: Any = trainer.plan
    if not rounds:
        return _constant(trainer, loop, rows)
    judged = plan.patience is not None and plan.metric == "cost"
    if plan.calibration is None and not judged:
        total = rounds[-1].train_cost
        trainer.compare_with_constant(total, rows, "the rows it was trained on")
    return to_member(trainer, loop, rounds)


def _constant(trainer: Trainer, loop: PNormBoosting, rows: Any) -> Mixture:
    """Warn that no round could be taken; return the cheapest constant."""
    plan: Any = trainer.plan
    answer = trainer.cheapest_constant(rows)
    why, remedy = "no answer costs more than another", "other costs"
    if loop.stop == "alpha":
        why, remedy = (
            "the first tree is no better than chance",
            'larger trees or step="harmonic"',
        )
    warn_caller(
        f"method={plan.method.name!r} could not take a single step: {why}. The model answers "
        f"{plain(trainer.classes[answer])!r} always. Try {remedy}."
    )
    return constant_mixture(answer, plan.method, trainer.binner, plan.n_classes)


class MixtureFollower:
    """Mixes rounds at held-out rows, and answers the class of the largest score."""

    def __init__(self, trainer: Trainer, loop: PNormBoosting, part: HeldOutRows) -> None:
        self.binner, self.classes, self.part = trainer.binner, trainer.classes, part
        plan: Any = trainer.plan
        self.plan, start = plan, 0.0 if plan.method.adaptive else 1.0 / plan.n_classes
        self.scores = np.full((len(part.y), self.plan.n_classes), start)

    def follow(self, done: PNormRound) -> ClassResult:
        """Mix a round in; return the predictions of the mixture so far."""
        self._mix(done)
        part, decided = self.part, np.argmax(self.scores, axis=1)
        proba = lambda: normalised(self.scores)  # noqa: E731
        return ClassResult(self.classes, part.y, proba, decided, part.costs, part.weights)

    def _mix(self, done: PNormRound) -> None:
        method = self.plan.method
        stochastic = method.answers == "stochastic"
        added = np.zeros_like(self.scores)
        if self.binner is not None:
            assert self.part.codes is not None
            tree = one_tree(self.binner, done, stochastic=stochastic)
            tree.add_trees(self.part.codes, added, 0, 1)
        else:
            answers = OutsideAnswers(outside_kind(method), self.plan.n_classes, stochastic)
            added += answers(done.hypothesis.estimator, self.part.X)
        self.scores = mix(self.scores, added, done.alpha, adaptive=method.adaptive)


def score(trainer: Trainer, model: Mixture, rows: Any) -> Floats:
    """Return the normalised scores of some rows of the table, (n, K)."""
    if trainer.binner is None:
        return normalised(model.margins(trainer.table.table_of(rows)))
    walk = partial(model.margins, None, n_threads=trainer.plan.n_threads)
    return normalised(trainer.table.apply(walk, rows))


def curves(
    plan: PNormPlan, loop: PNormBoosting, rounds: list[PNormRound], model: Mixture
) -> dict[str, Any]:
    """Return the fitted attributes of every round."""
    found: dict[str, Any] = {
        "train_cost_": np.array([done.train_cost for done in rounds]),
        "estimator_errors_": np.array([done.error for done in rounds]),
        "objective_": np.array([done.objective for done in rounds]),
        "estimator_weights_": model.steps,
    }
    setting = plan.setting
    if setting.step in ("bound", "search") and plan.method.is_bounded(setting.p):
        # The least objective found plus 9 M / (t + 2) (Theorem 4.2).
        rate = rate_bound(loop.largest_cost, setting.p, len(rounds))
        least = np.min(found["objective_"], initial=np.inf)
        found["objective_bound_"] = np.asarray(least + rate)
    if plan.estimator is not None:
        found["estimators_"] = list(model.estimators)
    return found


def attributes(
    plan: PNormPlan, members: tuple[Mixture, ...], scores: CalibratedScores | None
) -> dict[str, Any]:
    """Return the fitted attributes by which an estimator with these members answers."""
    model = to_model(members, scores)
    return {"_model": model, "n_iter_": model.n_rounds}


PNORM = Family(
    settle=settle,
    loader=load_rows,
    loop=open_loop,
    follow=MixtureFollower,
    to_member=to_member,
    finish=finish,
    score=score,
    curves=curves,
    attributes=attributes,
)


MAPS = (Normalise(),)  # of the mixture: to probabilities, and to what is calibrated


def one_tree(binner: Binner, done: PNormRound, *, stochastic: bool) -> Forest:
    """Return the tree of one round, its answers as leaf values."""
    builder = ForestBuilder(done.hypothesis.answers.shape[1])
    done.add_to(builder, stochastic=stochastic)
    return builder.build(binner)


def assemble_mixture(
    rounds: Sequence[PNormRound], method: Method, binner: Binner | None, n_classes: int
) -> Mixture:
    """Return the mixture of at least one round."""
    stochastic = method.answers == "stochastic"
    start = np.full(n_classes, 0.0 if method.adaptive else 1.0 / n_classes)
    steps = np.array([done.alpha for done in rounds])
    if binner is None:
        return Mixture(
            steps,
            None,
            MAPS,
            estimators=tuple(done.hypothesis.estimator for done in rounds),
            start=start,
            answers=OutsideAnswers(outside_kind(method), n_classes, stochastic),
            adaptive=method.adaptive,
        )
    builder = ForestBuilder(n_classes)
    for done in rounds:
        done.add_to(builder, stochastic=stochastic)
    return Mixture(steps, builder.build(binner, start), MAPS, adaptive=method.adaptive)


def constant_mixture(answer: int, method: Method, binner: Binner | None, n_classes: int) -> Mixture:
    """Return the mixture without rounds that always answers one class."""
    start: Floats = np.eye(n_classes)[answer]
    if binner is None:
        return Mixture(np.zeros(0), None, MAPS, start=start, adaptive=method.adaptive)
    trees = ForestBuilder(n_classes).build(binner, start)
    return Mixture(np.zeros(0), trees, MAPS, adaptive=method.adaptive)


def to_model(members: tuple[Mixture, ...], scores: CalibratedScores | None) -> FittedModel:
    """Return the fitted model: calibrated, or deciding by the largest share."""
    if scores is not None:
        return calibrated(members, lambda member: MAPS, scores)
    return FittedModel(members, "largest", "mixture")
