"""From the parameters of `PNormBoostClassifier` to a plan: all choices settled, all checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from costboost._inputs import (
    check_choice,
    check_number,
    count_features,
    count_threads,
    draw_seed,
)
from costboost.boosting.mixing import MixingSetting
from costboost.boosting.pnorm import METHODS, Method
from costboost.calibration import CALIBRATORS
from costboost.costs import Costs
from costboost.trees.grower import Limits

STEPS = ("harmonic", "average", "bound", "search")


@dataclass(frozen=True)
class PNormPlan:
    """Everything a training needs to know beside the rows.

    Attributes
    ----------
    method : Method
    setting : MixingSetting
    limits : Limits
    total_rounds : int or None
        Of all models, at most; None where the number of models is not known in advance.
    """

    method: Method
    setting: MixingSetting
    limits: Limits
    subsample: float
    max_bins: int
    categorical_features: Any
    estimator: Any
    n_classes: int
    calibration: str | None
    seed: int
    n_threads: int
    total_rounds: int | None
    validation_fraction: float
    patience: int | None
    tolerance: float
    on_interrupt: Any
    verbose: int


def settle(params: Any, X: Any, costs: Costs, n_classes: int) -> PNormPlan:
    """Check the parameters of an estimator against each other and the data."""
    _check_parameters(params)
    method = METHODS[params.method]
    _check_combination(params, method, costs)
    seed = draw_seed(params.random_state)
    return PNormPlan(
        method=method,
        setting=MixingSetting(params.n_estimators, float(params.p), params.step, seed),
        limits=Limits(
            max_depth=params.max_depth,
            max_leaf_nodes=params.max_leaf_nodes,
            min_samples_leaf=params.min_samples_leaf,
            max_features=count_features(params.max_features, X.shape[1]),
        ),
        subsample=float(params.subsample),
        max_bins=params.max_bins,
        categorical_features=params.categorical_features,
        estimator=params.estimator,
        n_classes=n_classes,
        calibration=params.calibration,
        seed=seed,
        n_threads=count_threads(params.n_jobs),
        total_rounds=_total_rounds(params),
        validation_fraction=params.validation_fraction,
        patience=params.n_iter_no_change,
        tolerance=float(params.tol),
        on_interrupt=params.on_interrupt,
        verbose=int(params.verbose),
    )


def _total_rounds(params: Any) -> int | None:
    if params.calibration is None or isinstance(params.cv, float):
        return int(params.n_estimators)
    if isinstance(params.cv, int):
        return int(params.n_estimators) * (params.cv + (not params.ensemble))
    return None


def _check_parameters(params: Any) -> None:
    check_choice("method", params.method, tuple(METHODS))
    check_choice("step", params.step, STEPS)
    check_choice("on_interrupt", params.on_interrupt, ("raise", "keep"))
    check_choice("calibration", params.calibration, tuple(CALIBRATORS))
    check_number("p", params.p, low=1.0)
    check_number("n_estimators", params.n_estimators, low=1, whole=True)
    check_number("subsample", params.subsample, low=0.0, high=1.0, open_low=True)
    check_number("min_samples_leaf", params.min_samples_leaf, low=1, whole=True)
    check_number("max_bins", params.max_bins, low=2, high=255, whole=True)
    check_number("tol", params.tol, low=0.0)
    check_number("verbose", params.verbose, low=0)
    check_number("validation_fraction", params.validation_fraction, low=0.0, high=0.9)
    for name, low in (("max_depth", 1), ("max_leaf_nodes", 2), ("n_iter_no_change", 1)):
        if getattr(params, name) is not None:
            check_number(name, getattr(params, name), low=low, whole=True)


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
    if params.warm_start and params.calibration is not None:
        raise ValueError(
            "warm_start continues one model, but calibration trains one for each fold: give "
            "calibration=None."
        )
