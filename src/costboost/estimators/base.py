"""Base of the boosting estimators: from their models' scores to decisions.

    table -> codes, once -> a score of each model -> decision values, probabilities, decisions

There is one model, or one for each fold of a calibration. A score is an array of rows: margins,
margins with the sum of their alphas, or a mixture. Each family defines what its scores mean without
calibration; the rest is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.calibration import CalibratedScores
from costboost.costs import Costs
from costboost.decisions import CostDecisionMixin
from costboost.explain.classifying import ExplainDecisionsMixin
from costboost.explain.explained import ExplainedModel, Member
from costboost.fitting.held_out import EvalSet, read_eval_set
from costboost.fitting.plan import refuse_if_remote
from costboost.fitting.train import Family, FittedModels, Trainer, set_fitted, train_models
from costboost.inputs.checks import check_learner, check_table, count_threads, set_input_tags
from costboost.inputs.estimators import OneFit, RoundCallbacks
from costboost.trees.forest import encode_once
from costboost.typing import Floats


class ScoresMixin(OneFit):
    """Scores of a table by all models of an estimator, at the end and after each round."""

    estimator: Any
    n_iter_: int
    n_jobs: int | None

    def _outside_learners(self) -> dict[str, Any]:
        """Return the learners that are not ours, or None, by the names of their parameters."""
        return {"estimator": self.estimator}

    def _check_outside_learners(self) -> None:
        for name, learner in self._outside_learners().items():
            check_learner(name, learner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        set_input_tags(tags, self._outside_learners().values())
        return tags

    def _loss_needs_all_rows(self) -> bool:
        """Whether a parameter `loss` cannot go to where the rows are."""
        return False

    def _fitted_models(self) -> Sequence[Any]:
        """Return the models: one, or one for each fold."""
        raise NotImplementedError

    def _forest_of(self, model: Any) -> Any:
        """Return the forest whose binner encodes tables for a model; None for outside learners."""
        return model.forest

    def _uncalibrated_member(self, i: int) -> Member:
        """Return the explained member of a model, without its calibration."""
        raise NotImplementedError

    def _score_table(self, model: Any, X: Any, n_threads: int, codes: Any) -> Any:
        """Return one model's score of a table."""
        return model.margins(X, n_threads, codes)

    def _score_table_staged(self, model: Any, X: Any, n_threads: int, codes: Any) -> Iterator[Any]:
        """Yield one model's score of a table after each of its rounds."""
        stages: Iterator[Any] = model.staged_margins(X, n_threads, codes)
        return stages

    def _read(self, X: Any) -> tuple[Any, int, Any]:
        """Return the checked table, the number of threads, and the table's codes."""
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        n_threads = count_threads(self.n_jobs)
        forests = [self._forest_of(model) for model in self._fitted_models()]
        return X, n_threads, encode_once(forests, X, n_threads)

    def _scored(self, X: Any) -> list[Any]:
        """Return the score of each model."""
        given = self._read(X)
        return [self._score_table(model, *given) for model in self._fitted_models()]

    def _staged(self, X: Any) -> Iterator[list[Any]]:
        """Yield the score of each model after each round; one that ended early stays as it was."""
        given = self._read(X)
        stages = [
            self._score_table_staged(model, *given)
            if len(model)
            else repeat(self._score_table(model, *given))
            for model in self._fitted_models()
        ]
        last: list[Any] = [None] * len(stages)
        for _ in range(self.n_iter_):
            last = [next(stage, before) for stage, before in zip(stages, last, strict=True)]
            yield last


class BoostingClassifierMixin(CostDecisionMixin, ExplainDecisionsMixin, ScoresMixin):
    """Decision values, probabilities, decisions and explanations of a boosting classifier."""

    cv: Any
    ensemble: bool
    _family: Family
    _scores: CalibratedScores | None

    # --- training

    def _read_eval_set(self, eval_set: Any, plan: Any, costs: Costs) -> list[EvalSet] | None:
        """Return the held-out rows that were given, if any."""
        return read_eval_set(self, eval_set, per_row=costs.per_row)

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        costs: Any,
        groups: ArrayLike | None,
        eval_set: Any,
    ) -> Self:
        """Fit: the steps shared by all boosting classifiers."""
        self._check_outside_learners()
        refuse_if_remote(self, X)
        X = check_table(self, X, y, reset=True)
        labels, weights, bound = self._read_rows(X, y, sample_weight, costs)
        plan = self._family.settle(self, X, labels, bound, len(self.classes_))
        held_out = self._read_eval_set(eval_set, plan, bound)
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        trainer = Trainer(self._family, plan, X, labels, weights, bound, observer=callbacks)
        del labels, weights, bound  # the trainer holds them, if anybody here does
        given = lambda: {"the classes of y": self.classes_, "costs": trainer.costs}  # noqa: E731
        folds = {"cv": self.cv, "groups": groups, "ensemble": self.ensemble}
        fit_models = self._fit_models(plan)
        with trainer:
            trainer.bin_table()
            trainer.use_eval_sets(held_out)
            set_fitted(self, trainer, fit_models(self, trainer, given, **folds))
        callbacks.close()
        return self

    def _fit_models(self, plan: Any) -> Callable[..., FittedModels]:
        """Return the function that makes models of a trainer's rows."""
        return train_models

    # --- a family's own meaning of its scores

    def _uncalibrated_values(self, scores: list[Any]) -> Floats:
        """Return the decision values without calibration, (n,) for two classes, else (n, K)."""
        raise NotImplementedError

    def _uncalibrated_proba(self, scores: list[Any]) -> Floats:
        """Return the probabilities without calibration, (n, K)."""
        raise NotImplementedError

    def _published_choices(self, scores: list[Any]) -> NDArray[Any]:
        """Return the class numbers decided by the published rule, (n,)."""
        raise NotImplementedError

    def _uncalibrated_unit(self, *, many: bool) -> str:
        """Return the unit of uncalibrated decision values, such as 'margin'."""
        raise NotImplementedError

    def _to_calibrate(self, model: Any, score: Any) -> Floats:
        """Return one model's score in the form that its calibration takes."""
        raise NotImplementedError

    def _score_of(self, model: Any, margins: Floats) -> Any:
        """Return a model's score of rows, by the sums that its trees make of them."""
        return margins

    def _clipped(self, model: Any, margins: Floats) -> Floats:
        """Return margins that a model can have: slopes are looked for a little beyond."""
        return margins

    # --- scores and probabilities

    def _calibrated(self, scores: list[Any]) -> Floats:
        assert self._scores is not None
        pairs = zip(self._fitted_models(), scores, strict=True)
        return self._scores.predict_proba(self._to_calibrate(*pair) for pair in pairs)

    def _decision_values(self, scores: list[Any]) -> Floats:
        if self._scores is None:
            return self._uncalibrated_values(scores)
        logs = np.log(np.maximum(self._calibrated(scores), 1e-300))
        return np.asarray(logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs)

    def _proba(self, scores: list[Any]) -> Floats:
        return (
            self._uncalibrated_proba(scores) if self._scores is None else self._calibrated(scores)
        )

    # --- decisions

    def _decide(self, scores: list[Any], costs: Any, X: Any) -> NDArray[Any]:
        if self._decides_by_costs():
            proba = self._proba_to_price(scores)
            return self._cheapest(self._decision_costs(costs, X), proba)
        return np.asarray(self.classes_[self._published_choices(scores)])

    def _decides_by_costs(self) -> bool:
        check_is_fitted(self)
        return self._scores is not None

    # --- explanations

    def _scores_of(self, margins: list[Floats]) -> list[Any]:
        pairs = zip(self._fitted_models(), margins, strict=True)
        return [self._score_of(*pair) for pair in pairs]

    def _explained_model(self) -> ExplainedModel:
        many = len(self.classes_) > 2
        calibrated = "log probability" if many else "log odds"
        return ExplainedModel(
            tuple(self._make_member(i) for i in range(len(self._fitted_models()))),
            lambda margins: self._decision_values(self._scores_of(margins)),
            self._uncalibrated_unit(many=many) if self._scores is None else calibrated,
            tuple(self.classes_.tolist()) if many else None,
            None if many else self.classes_.tolist()[-1],
        )

    def _make_member(self, i: int) -> Member:
        member, scores, model = self._uncalibrated_member(i), self._scores, self._fitted_models()[i]
        if scores is None:
            return member

        def probabilities(margins: Floats) -> Floats:
            score = self._score_of(model, self._clipped(model, margins))
            return scores.maps[i].predict(self._to_calibrate(model, score))

        return replace(member, probabilities=probabilities)

    # --- stages

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield ``decision_function`` after each round."""
        for scores in self._staged(X):
            yield self._decision_values(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield ``predict_proba`` after each round, by the calibration of the last."""
        for scores in self._staged(X):
            yield self._proba(scores)

    def staged_predict(self, X: Any, costs: Any = None) -> Iterator[NDArray[Any]]:
        """Yield ``predict`` after each round."""
        self._check_new_costs(costs)
        for scores in self._staged(X):
            yield self._decide(scores, costs, X)
