"""What the plans of all families say: trees, rounds, early stopping, calibration.

A plan is the parameters of an estimator, settled and checked. Each family adds its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from costboost.fitting.constraints import read_interactions
from costboost.inputs.checks import check_choice, count_features, count_threads
from costboost.trees.tree import Limits


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that any training needs to know beside the rows.

    Attributes
    ----------
    setting : the loop's own choices, with `n_rounds`
    limits : Limits
    max_bins : int
    categorical_features : which columns hold categories
    estimator : the outside learner, or None
    n_classes : int
        0 for regression.
    calibration : str or None
        The map from scores to probabilities.
    monotone : int8 array of shape (n_features,) or None
        Which way the margin goes with each column; probabilities then never fall with it.
    seed : int
        Of everything random.
    n_threads : int
    total_rounds : int or None
        Of all models, at most; None where the number of models is not known in advance.
    validation_fraction : float
        The share of rows held out.
    metric : str or callable
        What early stopping goes by.
    patience, tolerance, verbose, on_interrupt : see `costboost.boosting.rounds.StoppingPolicy`
    """

    setting: Any
    limits: Limits
    max_bins: int
    categorical_features: Any
    estimator: Any
    n_classes: int
    calibration: str | None
    seed: int
    n_threads: int
    total_rounds: int | None
    validation_fraction: float
    metric: Any
    patience: int | None
    tolerance: float
    verbose: int | Literal["auto"]
    on_interrupt: Literal["raise", "keep"]
    monotone: NDArray[np.int8] | None = None

    @classmethod
    def read(
        cls,
        params: Any,
        X: Any,
        *,
        n_classes: int,
        calibration: str | None,
        metric: str = "cost",
        **own: Any,
    ) -> Self:
        """Read what all families share from the parameters of an estimator.

        `metric` is what "auto" stands for; `own` are seed, setting, and what the family adds.
        """
        if params.warm_start and calibration is not None:
            raise ValueError(
                "warm_start=True continues one model, and calibration trains several. Set "
                "calibration=None."
            )
        return cls(
            limits=_read_limits(params, X),
            max_bins=params.max_bins,
            categorical_features=params.categorical_features,
            estimator=params.estimator,
            n_classes=n_classes,
            calibration=calibration,
            n_threads=count_threads(params.n_jobs),
            total_rounds=_total_rounds(params, calibration),
            validation_fraction=params.validation_fraction,
            metric=_stopping_metric(params, metric),
            patience=params.n_iter_no_change,
            tolerance=float(params.tol),
            verbose="auto" if params.verbose == "auto" else int(params.verbose),
            on_interrupt=params.on_interrupt,
            **own,
        )

    @property
    def n_outputs(self) -> int:
        """How many numbers boosting by a loss adds up: 1, or K for K > 2 classes."""
        return self.n_classes if self.n_classes > 2 else 1


def _read_limits(params: Any, X: Any) -> Limits:
    """Return how far trees may grow; "auto" rows in a leaf are for the training to settle."""
    least = params.min_samples_leaf
    return Limits(
        max_depth=params.max_depth,
        max_leaf_nodes=params.max_leaf_nodes,
        min_samples_leaf=1 if isinstance(least, str) else least,
        max_features=count_features(params.max_features, X.shape[1]),
        interactions=read_interactions(params, X),
    )


def _total_rounds(params: Any, calibration: str | None) -> int | None:
    """Return the rounds of all models, at most; None where their number is not known."""
    if calibration is None or isinstance(params.cv, float):
        return int(params.n_estimators)
    if isinstance(params.cv, int):
        return int(params.n_estimators) * (params.cv + (not params.ensemble))
    return None


def _stopping_metric(params: Any, auto: str) -> Any:
    """Return what early stopping goes by: a name other than "auto", or the user's function."""
    given = params.early_stopping_metric
    if auto == "loss" and not callable(given):
        check_choice("early_stopping_metric", given, ("auto",))
    return auto if isinstance(given, str) and given == "auto" else given
