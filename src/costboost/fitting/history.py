"""What estimators tell of rounds: fitted attributes, one series or one for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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


def series_of(histories: Sequence[Any], metric: Any, **fields: str) -> dict[str, list[Any]]:
    """Return what models tell of their rounds: these fields, and the costs of held-out rows."""
    series: dict[str, list[Any]] = {
        name: [np.array([getattr(done, field) for done in h.rounds]) for h in histories]
        for name, field in fields.items()
    }
    return series | _eval_series(metric, [h.evals for h in histories])


def _eval_series(metric: Any, evals: Sequence[dict[str, list[float]]]) -> dict[str, list[Any]]:
    """Return the fitted attributes that tell of held-out rows, one entry per model."""
    if not any(evals[-1].values()):
        return {}
    kind = "cost" if metric == "cost" else "loss"
    arrays = [{name: np.array(values) for name, values in part.items()} for part in evals]
    series: dict[str, list[Any]] = {f"validation_{kind}_": [next(iter(a.values())) for a in arrays]}
    if len(arrays[0]) > 1:
        series["eval_results_"] = list(arrays)
    return series


def set_history(estimator: Any, series: dict[str, list[Any]]) -> None:
    """Set the attributes that tell of rounds, one entry per model; forget those of the last fit.

    A single model's stand alone, several models' in a list.
    """
    for name in HISTORY:
        if hasattr(estimator, name):
            delattr(estimator, name)
    for name, values in series.items():
        setattr(estimator, name, values[0] if len(values) == 1 else values)
