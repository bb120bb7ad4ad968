"""What the gradient boosting estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from costboost.boosting.gradient.model import GradientEnsemble
from costboost.estimators.base import ScoresMixin
from costboost.explain.explained import Member
from costboost.inputs.estimators import CallbackSupportMixin, VersionedState


class GradientBoost(
    VersionedState,
    ScoresMixin,
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn is untyped
    BaseEstimator,  # type: ignore[misc]
):
    """What both estimators share: one model's training, margins, and what is told of it."""

    init: Any
    warm_start: bool
    _models: tuple[GradientEnsemble, ...]

    def _outside_learners(self) -> dict[str, Any]:
        first = None if isinstance(self.init, str) else self.init
        return {**super()._outside_learners(), "init": first}

    def _uncalibrated_member(self, i: int) -> Member:
        """Return a model as explanations see it, before calibration."""
        model = self._models[i]
        assert model.forest is not None
        first = None if model.init is None else model.init.margins
        return Member(model.forest, np.ones(len(model.forest)), first)

    def _fitted_models(self) -> tuple[GradientEnsemble, ...]:
        return self._models
