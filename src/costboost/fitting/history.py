"""What estimators tell of rounds: fitted attributes, one series or one for each model."""

from __future__ import annotations

from typing import Any

# Fitted attributes that tell of rounds; which of them there are depends on the method.
HISTORY = (
    "estimator_weights_",
    "estimator_errors_",
    "normalizers_",
    "objective_",
    "objective_bound_",
    "cost_bound_",
    "train_cost_",
    "train_loss_",
    "validation_cost_",
    "validation_loss_",
    "validation_rounds_",
    "eval_results_",
    "estimators_",
)


def set_history(estimator: Any, series: dict[str, list[Any]]) -> None:
    """Set the attributes that tell of rounds, one entry per model; forget those of the last fit.

    A single model's stand alone, several models' in a list.
    """
    for name in HISTORY:
        if hasattr(estimator, name):
            delattr(estimator, name)
    for name, values in series.items():
        setattr(estimator, name, values[0] if len(values) == 1 else values)
