"""Training of one mixture on some rows of a table that is binned once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from costboost.boosting.pnorm.learner import (
    RelationalClassifier,
    RelationalLearner,
    RelationalTree,
    outside_answers,
)
from costboost.boosting.pnorm.loop import PNormBoosting, PNormRound
from costboost.boosting.pnorm.methods import make_stochastic, rate_bound
from costboost.boosting.pnorm.model import (
    Mixture,
    assemble_mixture,
    constant_mixture,
    mix,
    normalised,
    one_tree,
    outside_kind,
)
from costboost.boosting.pnorm.rows import PNormLoader
from costboost.calibration import CalibratedScores
from costboost.estimators.pnorm.plan import PNormPlan, leaf_rows
from costboost.fitting.class_trainer import ClassTrainer
from costboost.fitting.history import series_of, set_history
from costboost.fitting.judging import Answers, Follower, Watched
from costboost.inputs.checks import plain, warn_caller
from costboost.shards.loading import RowData

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


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
        n_rounds = max(len(model) for model in models)
        return {"_mixtures": models, "_scores": scores, "n_iter_": n_rounds}

    def _follower(self, loop: PNormBoosting, watched: Watched) -> Follower:
        return _Follower(self, watched)

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
            return normalised(model.scores(self.table_of(rows)))
        walk = partial(model.scores_of_codes, n_threads=self.plan.n_threads)
        return normalised(self.table.apply(walk, rows))

    def report(self, estimator: Any, models: tuple[Mixture, ...]) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = self.histories_of(models)
        names = {"estimator_errors_": "error", "objective_": "objective"}
        series = series_of(kept, self.plan.metric, train_cost_="train_cost", **names)
        series["estimator_weights_"] = [model.alphas for model in models]
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


class _Follower:
    """Mixes rounds at held-out rows, and answers the class of the largest score."""

    def __init__(self, trainer: PNormTrainer, watched: Watched) -> None:
        self.plan, self.binner, self.watched = trainer.plan, trainer.binner, watched
        self.classes = trainer.classes
        start = 0.0 if self.plan.method.adaptive else 1.0 / self.plan.n_classes
        self.scores = np.full((len(watched.y), self.plan.n_classes), start)

    def follow(self, done: PNormRound) -> Answers:
        """Mix a round in; return what the mixture says now."""
        self._mix(done)
        part, decided = self.watched, np.argmax(self.scores, axis=1)
        proba = lambda: normalised(self.scores)  # noqa: E731
        return Answers(self.classes, part.y, proba, decided, part.costs, part.weights)

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
            estimator, kind = done.relation.estimator, outside_kind(method)
            answers = outside_answers(estimator, self.watched.X, self.plan.n_classes, kind)
            said += make_stochastic(answers) if stochastic else answers
        self.scores = mix(self.scores, said, done.alpha, adaptive=method.adaptive)
