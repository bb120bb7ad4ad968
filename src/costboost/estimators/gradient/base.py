"""What the gradient boosting estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from costboost.boosting.gradient.model import GradientEnsemble
from costboost.estimators.faces import ScoresMixin
from costboost.estimators.gradient.trainer import GradientTrainer
from costboost.explain.subject import Member
from costboost.fitting.history import series_of, set_history
from costboost.inputs.callbacks import CallbackSupportMixin
from costboost.inputs.checks import warn_caller
from costboost.inputs.versioned import VersionedState

Floats = NDArray[np.float64]


class GradientBoost(
    VersionedState,
    ScoresMixin,
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn is untyped
    BaseEstimator,  # type: ignore[misc]
):
    """What both estimators share: one model's training, margins, and what is told of it."""

    estimator: Any
    init: Any
    n_jobs: int | None
    warm_start: bool
    n_iter_: int
    _models: tuple[GradientEnsemble, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = self.estimator is None and (self.init is None or isinstance(self.init, str))
        tags.input_tags.allow_nan = own
        tags.input_tags.sparse = True
        tags.input_tags.categorical = own
        tags.input_tags.string = own
        return tags

    def _report(self, trainer: GradientTrainer, cost: str) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = trainer.histories_of(self._models)
        series = series_of(kept, trainer.plan.metric, **{f"train_{cost}_": "train_cost"})
        series["estimator_weights_"] = [model.steps for model in self._models]
        if trainer.binner is None:
            lists = [[list(part) for part in model.estimators] for model in self._models]
            series["estimators_"] = lists
        set_history(self, series)
        self.n_iter_ = max(len(model) for model in self._models)
        self.start_ = self._models[0].start
        if self.n_iter_ == 0 and kept[-1].stop != "flat":
            self._warn_of_no_rounds(kept[-1].stop)

    def _warn_of_no_rounds(self, stop: str) -> None:
        why = {
            "leaf": "no split of the rows is allowed or gains. Give more rows, or a smaller "
            "min_samples_leaf",
            "uphill": "the first step would raise the loss. Use step='newton', another objective "
            "or another estimator",
        }.get(stop, "training was stopped. Let it run for a round")
        warn_caller(
            f"{type(self).__name__} took no step and answers the same for every row: {why}."
        )

    def _bare_member(self, i: int) -> Member:
        """Return a model as explanations see it, before calibration."""
        model = self._models[i]
        assert model.forest is not None
        first = None if model.init is None else model.init.margins
        return Member(model.forest, np.ones(len(model.forest)), first)

    def _fitted_models(self) -> tuple[GradientEnsemble, ...]:
        return self._models
