"""From the parameters of the gradient boosting estimators to a plan, all choices settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.boosting.gradient.loop import GradientSetting
from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    read_loss,
)
from costboost.calibration import CALIBRATORS
from costboost.costs import Costs
from costboost.fitting.plan import (
    TrainingPlan,
    check_class_count,
    check_training,
    check_unbiased,
    read_monotone,
)
from costboost.inputs.checks import check_choice, check_number, fit_seed
from costboost.typing import Floats, Int64

STEPS = ("auto", "newton", "exact", "line-search")


@dataclass(frozen=True, kw_only=True)
class GradientPlan(TrainingPlan):
    """Everything a training needs to know beside the rows; see the estimators' parameters.

    Attributes
    ----------
    loss : Loss
    odds : float or None
        F times this is the log odds; None: F is not, or contains costs.
    """

    loss: Any
    odds: float | None
    setting: GradientSetting
    min_weight_leaf: float
    init: Any
    objective: tuple[Floats, Floats, Floats] | None


def settle_regression(params: Any, X: Any, y: Floats, weights: Floats | None) -> GradientPlan:
    """Check the parameters of a regressor against each other and the data."""
    loss = read_loss(REGRESSION_LOSSES, params, y, weights)
    return _settle(params, X, loss, 0, odds=None, max_step=np.inf)


def settle_classification(
    params: Any, X: Any, y: Int64, costs: Costs, n_classes: int
) -> GradientPlan:
    """Check the parameters of a classifier against each other and the data."""
    check_choice("calibration", params.calibration, tuple(CALIBRATORS))
    check_class_count(n_classes)
    loss = read_loss(CLASSIFICATION_LOSSES, params, y)
    objective = loss.read_row_terms(params, len(y), n_classes)
    priced = loss.uses_costs
    check_unbiased(params.calibration, f"loss={params.loss!r}", on_costs=priced)
    if priced and objective is None and not costs.is_square:
        raise ValueError(
            f"loss={params.loss!r} trains on the cost of wrong classes, but the costs have other "
            f"actions. Use loss='log', which needs no costs in training."
        )
    max_step = np.inf
    if params.max_step is not None:
        check_number("max_step", params.max_step, low=0.0, open_low=True)
        max_step = float(params.max_step) / loss.odds
    return _settle(
        params,
        X,
        loss,
        n_classes,
        odds=None if priced else loss.odds,
        max_step=max_step,
        objective=objective,
        costs=costs,
    )


def _settle(
    params: Any,
    X: Any,
    loss: Any,
    n_classes: int,
    *,
    odds: float | None,
    max_step: float,
    objective: tuple[Floats, Floats, Floats] | None = None,
    costs: Costs | None = None,
) -> GradientPlan:
    _check_parameters(params)
    seed = fit_seed(params)
    setting = GradientSetting(
        n_rounds=params.n_estimators,
        step=_step(params, loss),
        learning_rate=float(params.learning_rate),
        l2=float(params.l2_regularization),
        max_step=max_step,
        subsample=float(params.subsample),
        seed=seed,
    )
    return GradientPlan.read(
        params,
        X,
        n_classes=n_classes,
        calibration=getattr(params, "calibration", None),
        metric="cost" if n_classes else "loss",
        seed=seed,
        setting=setting,
        loss=loss,
        odds=odds,
        min_weight_leaf=float(params.min_weight_leaf),
        monotone=read_monotone(params, X, n_classes=n_classes, costs=costs),
        init=params.init,
        objective=objective,
    )


def _step(params: Any, loss: Any) -> Any:
    check_choice("step", params.step, STEPS)
    if params.step == "auto":
        if params.estimator is not None:
            return "line-search"
        return "newton" if loss.smooth else "exact"
    if params.step == "exact" and params.estimator is not None:
        raise ValueError(
            'step="exact" sets the leaves of the built-in tree; with estimator= use "line-search" '
            'or "newton".'
        )
    if params.step == "exact" and loss.endless:
        raise ValueError(
            "The expected cost of a leaf is least at certainty, F = +-infinity: use "
            'step="newton" or "line-search".'
        )
    if params.step == "newton" and not loss.smooth:
        raise ValueError(
            f'loss={params.loss!r} has no curvature for Newton steps: use step="exact" or '
            '"line-search".'
        )
    return params.step


def _check_parameters(params: Any) -> None:
    check_training(params)
    check_number("learning_rate", params.learning_rate, low=0.0, open_low=True)
    check_number("l2_regularization", params.l2_regularization, low=0.0)
    check_number("min_weight_leaf", params.min_weight_leaf, low=0.0, high=0.5)
    if isinstance(params.init, str):
        check_choice("init", params.init, ("zero",))
