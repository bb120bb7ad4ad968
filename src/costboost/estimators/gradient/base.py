"""What the gradient boosting estimators share."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from costboost.estimators.base import CallbackSupportMixin, MarginsMixin
from costboost.inputs.checks import VersionedState


class GradientBoost(
    VersionedState,
    MarginsMixin,
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn is untyped
    BaseEstimator,  # type: ignore[misc]
):
    """Training and margins, which both estimators share."""

    init: Any
    warm_start: bool

    def _outside_learners(self) -> dict[str, Any]:
        first = None if isinstance(self.init, str) else self.init
        return {**super()._outside_learners(), "init": first}
