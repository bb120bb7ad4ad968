"""From the parameters of `PNormBoostClassifier` to a plan: all choices settled, all checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.boosting.pnorm.loop import PNormSetting
from costboost.boosting.pnorm.methods import METHODS, Method
from costboost.calibration import CALIBRATORS
from costboost.costs import Costs
from costboost.fitting.parameters import check_training, check_unbiased
from costboost.fitting.plan import TrainingPlan
from costboost.inputs.checks import check_choice, check_number, fit_seed

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
