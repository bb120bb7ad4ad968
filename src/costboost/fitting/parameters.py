"""Parameters that all boosting estimators share, checked once."""

from __future__ import annotations

from typing import Any

from costboost.fitting.judging import METRICS
from costboost.inputs.checks import check_choice, check_number

MAX_CLASSES = 256  # class numbers take a byte a row
MOST = 2**62  # rows: more than any machine holds, and a number that kernels can count to


def check_training(params: Any, *, auto_leaf: bool = False) -> None:
    """Check the parameters of rounds, trees and early stopping.

    With `auto_leaf`, `min_samples_leaf="auto"` is left to the training.
    """
    check_choice("on_interrupt", params.on_interrupt, ("raise", "keep"))
    check_choice("warm_start", params.warm_start, (True, False))
    if hasattr(params, "ensemble"):
        check_choice("ensemble", params.ensemble, (True, False))
    check_number("n_estimators", params.n_estimators, low=1, whole=True)
    check_number("subsample", params.subsample, low=0.0, high=1.0, open_low=True)
    if auto_leaf and isinstance(params.min_samples_leaf, str):
        check_choice("min_samples_leaf", params.min_samples_leaf, ("auto",))
    else:
        check_number("min_samples_leaf", params.min_samples_leaf, low=1, high=MOST, whole=True)
    check_number("max_bins", params.max_bins, low=2, high=255, whole=True)
    check_number("tol", params.tol, low=0.0)
    if not isinstance(params.verbose, bool) and params.verbose != "auto":
        check_number("verbose", params.verbose, low=0, whole=True)
    check_number("validation_fraction", params.validation_fraction, low=0.0, high=0.9)
    if params.max_depth is not None:
        check_number("max_depth", params.max_depth, low=1, whole=True)
    if params.max_leaf_nodes is not None:
        check_number("max_leaf_nodes", params.max_leaf_nodes, low=2, high=65_000, whole=True)
    if not callable(params.early_stopping_metric):
        check_choice("early_stopping_metric", params.early_stopping_metric, METRICS)
    if params.n_iter_no_change is not None:
        check_number("n_iter_no_change", params.n_iter_no_change, low=1, whole=True)


def check_class_count(n_classes: int) -> None:
    """Refuse more classes than a byte can number."""
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"y has {n_classes} classes; at most {MAX_CLASSES} are supported here. Use "
            "PNormBoostClassifier, which takes more, or put rare classes together."
        )


def check_unbiased(calibration: str | None, trained: str, *, on_costs: bool) -> None:
    """Refuse to calibrate by a temperature what was trained on costs.

    Costs move the whole of the scores to one side. A temperature only stretches them, and would
    leave them there: frequencies need a bias too.
    """
    if on_costs and calibration == "temperature":
        raise ValueError(
            f"calibration='temperature' cannot undo the costs that {trained} was trained on: it "
            "has no bias, so its probabilities would not be natural frequencies. Use "
            "calibration='bias-corrected' or 'sigmoid'."
        )
