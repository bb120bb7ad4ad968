"""Methods by name, as estimators that can decide by new prices.

Named methods are calibrated here unless set otherwise: a command line prices every row, and
prices change, which uncalibrated methods cannot follow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES
from costboost.boosting.pnorm.methods import METHODS
from costboost.calibration import CALIBRATORS
from costboost.cli import UsageError
from costboost.cli.output import Advance
from costboost.costs import FeatureCosts
from costboost.estimators.adaboost.choices import RECIPE_NAMES
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier
from costboost.estimators.pnorm import PNormBoostClassifier

__all__ = ["Maker", "method_names", "show_rounds"]


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [
        *RECIPE_NAMES,
        *RULES,
        *(f"gradient:{loss}" for loss in CLASSIFICATION_LOSSES),
        *METHODS,
    ]


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Settings from which the estimators of all methods are made."""

    rounds: int | None = None
    calibration: str = "auto"
    seed: int = 0
    jobs: int = -1
    feature_costs: FeatureCosts | None = None

    def make(self, method: str) -> Any:
        """Return the estimator of a method, not fitted."""
        known = method_names()
        if method not in known:
            raise UsageError(f"--method {method!r} is not known; there are {', '.join(known)}.")
        if self.jobs == 0:
            raise UsageError("--jobs 0 would do nothing: give a number of threads, or -1.")
        params: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.jobs}
        if self.rounds is not None:
            params["n_estimators"] = self.rounds
        params["calibration"] = _calibration(method, self.calibration)
        if self.feature_costs is not None:
            params["feature_costs"] = self.feature_costs
        if method in METHODS:
            if self.feature_costs is not None:
                raise UsageError(
                    f"--column-cost is not for --method {method}, which knows no prices of columns:"
                    " use auto, a method of the AdaBoost family or gradient:log."
                )
            return PNormBoostClassifier(method=method, **params)
        if method.startswith("gradient:"):
            return GradientBoostClassifier(method.partition(":")[2], **params)
        return CostBoostClassifier(method, **params)


def _calibration(method: str, given: str) -> str | None:
    kinds = [name for name in CALIBRATORS if name]
    if given not in ("auto", "none", *kinds):
        raise UsageError(f"--calibration {given!r} is not known: auto, none, {', '.join(kinds)}.")
    if given == "none":
        return None
    if given != "auto":
        return given
    if method in RECIPE_NAMES or (method in RULES and RULES[method].calibrated):
        return "auto"
    loss = CLASSIFICATION_LOSSES.get(method.partition(":")[2])
    return "sigmoid" if loss is None or loss.uses_costs else None


# --- progress


class _RoundCallback:
    """A callback of scikit-learn's that advances a bar after every round."""

    def __init__(self, advance: Advance) -> None:
        self.advance = advance

    def setup(self, estimator: Any, context: Any) -> None:
        """Learn how many rounds there may be."""
        self.advance(0, of=getattr(context, "max_subtasks", None) or None)

    def on_fit_task_begin(self, estimator: Any, context: Any, **parts: Any) -> None:
        """Do nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any, **parts: Any) -> bool:
        """Count a round."""
        if getattr(context, "task_name", "") == "round":
            self.advance(1)
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""


@contextlib.contextmanager
def show_rounds(model: Any, advance: Advance) -> Iterator[None]:
    """Advance a bar after every round of a fit, where scikit-learn has callbacks (1.9)."""
    if not hasattr(model, "set_callbacks"):
        yield
        return
    model.set_callbacks(_RoundCallback(advance))
    try:
        yield
    finally:
        model.set_callbacks()
