"""Training of one mixture on some rows of a table that is binned once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from costboost.boosting.links import normalised
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
from costboost.estimators.pnorm.model import (
    assemble_mixture,
    constant_mixture,
    one_tree,
    to_model,
)
from costboost.fitting.held_out import ClassResult, Follower, HeldOutRows, series_of, set_history
from costboost.fitting.plan import TrainingPlan, check_training, check_unbiased
from costboost.fitting.trainer import ClassTrainer
from costboost.inputs.checks import (
    check_choice,
    check_number,
    fit_seed,
    is_spread,
    plain,
    warn_caller,
)
from costboost.model import Mixture, mix
from costboost.shards.layout import RowData
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


def settle(params: Any, X: Any, costs: Costs, n_classes: int) -> PNormPlan:
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


@dataclass(frozen=True)
class PNormHistory:
    """What is known of the rounds of one model; `largest_cost` is max C, in units of cost."""

    rounds: list[PNormRound]
    evals: dict[str, list[float]]
    largest_cost: float


class PNormTrainer(ClassTrainer):
    """Trains mixtures on any rows of its table."""

    plan: PNormPlan
    histories: list[PNormHistory]
    scores_are_margins = False

    @contextmanager
    def open(self, rows: Int64 | None, previous: Any = None) -> Iterator[PNormBoosting]:
        """Set up the rounds on some rows, or on all; their threads end with the block."""
        plan, part = self.plan, self._some(rows)
        y, costs, weights = self._of(part)
        loader = PNormLoader(RowData(y, weights, costs), plan.n_classes)
        with self.table.open(loader, part, width=plan.n_classes) as shards:
            learner = self._relational_learner(part, y)
            setting = replace(plan.setting, n_rounds=self.n_rounds)
            loop = PNormBoosting(
                shards,
                plan.method,
                learner,
                costs,
                plan.n_classes,
                setting,
                weighted=weights is not None,
            )
            del y, costs, weights, loader  # rows elsewhere leave nothing here
            yield loop

    def _history(
        self, loop: PNormBoosting, rounds: list[PNormRound], evals: dict[str, list[float]]
    ) -> PNormHistory:
        return PNormHistory(rounds, evals, loop.largest_cost)

    def _finish(self, loop: PNormBoosting, history: PNormHistory, rows: Int64 | None) -> Mixture:
        if not history.rounds:
            return self._constant(loop, rows)
        judged = self.plan.patience is not None and self.plan.metric == "cost"
        if self.plan.calibration is None and not judged:
            total = history.rounds[-1].train_cost
            self.compare_with_constant(total, rows, "the rows it was trained on")
        return self.model_of(loop, history.rounds)

    def _relational_learner(self, rows: Int64 | None, y: Int64) -> RelationalLearner:
        plan = self.plan
        if self.binner is None:
            X = self.table_of(rows)
            X = X.tocsr() if sp.issparse(X) else X
            kind = outside_kind(plan.method)
            return RelationalClassifier(plan.estimator, X, plan.n_classes, kind, plan.seed)
        least = leaf_rows(plan.min_samples_leaf, np.bincount(y))
        return RelationalTree(
            self.binner,
            plan.n_classes,
            replace(plan.limits, min_samples_leaf=least),
            one_label=plan.method.one_label,
            subsample=plan.subsample,
            seed=plan.seed,
        )

    def model_of(self, loop: PNormBoosting, rounds: list[PNormRound]) -> Mixture:
        """Return the mixture of these rounds."""
        return assemble_mixture(rounds, self.plan.method, self.binner, self.plan.n_classes)

    def attributes(
        self, models: tuple[Mixture, ...], scores: CalibratedScores | None
    ) -> dict[str, Any]:
        """Return the fitted attributes by which an estimator with these models answers."""
        model = to_model(models, scores)
        return {"_model": model, "n_iter_": model.n_rounds}

    def _follower(self, loop: PNormBoosting, watched: HeldOutRows) -> Follower:
        return _MixtureFollower(self, watched)

    def _constant(self, loop: PNormBoosting, rows: Int64 | None) -> Mixture:
        """Say that no round could be taken, and answer the cheapest constant."""
        plan, answer = self.plan, self._cheapest_constant(rows)
        why, remedy = "no answer costs more than another", "other costs"
        if loop.stop == "alpha":
            why, remedy = (
                "the first tree is no better than chance",
                'larger trees or step="harmonic"',
            )
        warn_caller(
            f"method={plan.method.name!r} could not take a single step: {why}. The model answers "
            f"{plain(self.classes[answer])!r} always. Try {remedy}."
        )
        return constant_mixture(answer, plan.method, self.binner, plan.n_classes)

    # --- for calibration and the report

    def score(self, model: Mixture, rows: Any) -> Floats:
        """Return the normalised scores of some rows, to calibrate on."""
        if self.binner is None:
            return normalised(model.margins(self.table_of(rows)))
        walk = partial(model.margins, None, n_threads=self.plan.n_threads)
        return normalised(self.table.apply(walk, rows))

    def judge_left_out(self, rows: Any, proba: Floats) -> None:
        """Compare the cheapest decisions on the rows that folds left out with a constant."""
        if is_spread(self.X):
            return  # as in compare_with_constant
        y, costs, weights = self._of(rows)
        decided = costs.decide(proba, encoded=True)
        total = costs.total(y, decided, weights, encoded=True)
        self.compare_with_constant(total, rows, "the rows that folds left out")

    def report(self, estimator: Any, models: tuple[Mixture, ...]) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = self.histories_of(models)
        names = {"estimator_errors_": "error", "objective_": "objective"}
        series = series_of(kept, self.plan.metric, train_cost_="train_cost", **names)
        series["estimator_weights_"] = [model.steps for model in models]
        setting = self.plan.setting
        descends = setting.step in ("bound", "search")
        if descends and self.plan.method.is_bounded(setting.p):
            series["objective_bound_"] = [self._objective_bound(h) for h in kept]
        if self.plan.estimator is not None:
            series["estimators_"] = [list(model.estimators) for model in models]
        set_history(estimator, series)
        estimator.n_iter_ = max(len(model) for model in models)

    def _objective_bound(self, history: PNormHistory) -> Floats:
        """Return the least objective found plus 9 M / (t + 2) (Theorem 4.2)."""
        found = np.array([done.objective for done in history.rounds])
        rate = rate_bound(history.largest_cost, self.plan.setting.p, len(found))
        return np.asarray(np.min(found, initial=np.inf) + rate)


class _MixtureFollower:
    """Mixes rounds at held-out rows, and answers the class of the largest score."""

    def __init__(self, trainer: PNormTrainer, watched: HeldOutRows) -> None:
        self.plan, self.binner, self.watched = trainer.plan, trainer.binner, watched
        self.classes = trainer.classes
        start = 0.0 if self.plan.method.adaptive else 1.0 / self.plan.n_classes
        self.scores = np.full((len(watched.y), self.plan.n_classes), start)

    def follow(self, done: PNormRound) -> ClassResult:
        """Mix a round in; return what the mixture says now."""
        self._mix(done)
        part, decided = self.watched, np.argmax(self.scores, axis=1)
        proba = lambda: normalised(self.scores)  # noqa: E731
        return ClassResult(self.classes, part.y, proba, decided, part.costs, part.weights)

    def _mix(self, done: PNormRound) -> None:
        method = self.plan.method
        stochastic = method.answers == "stochastic"
        said = np.zeros_like(self.scores)
        if self.binner is not None:
            assert self.watched.codes is not None
            one_tree(self.binner, done, stochastic=stochastic).add_trees(
                self.watched.codes, said, 0, 1
            )
        else:
            answers = OutsideAnswers(outside_kind(method), self.plan.n_classes, stochastic)
            said += answers(done.hypothesis.estimator, self.watched.X)
        self.scores = mix(self.scores, said, done.alpha, adaptive=method.adaptive)
