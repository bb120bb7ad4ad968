"""Losses of gradient boosting: one object each, with all that anybody asks of it.

base            what a loss is, to readers, users and rounds
errors          what the losses of an error share: squared, huber, pinball, cost
classes         what the losses of classes share: log, exponential, cost_exponential, expected_cost

Their names are here; see CONTRIBUTING.md on how to add one.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn, Loss, OwnLoss, flat, own_loss
from costboost.boosting.gradient.losses.classes import (
    ExpectedCostLoss,
    ExponentialLoss,
    ExponentialTerms,
    LogLoss,
)
from costboost.boosting.gradient.losses.cost_exponential import NAMED, CostExponentialLoss
from costboost.boosting.gradient.losses.errors import (
    AbsoluteLoss,
    CostLoss,
    HuberLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.inputs.checks import check_choice
from costboost.typing import Floats

__all__ = [
    "CLASSIFICATION_LOSSES",
    "NAMED",
    "REGRESSION_LOSSES",
    "AbsoluteLoss",
    "BuiltIn",
    "CostExponentialLoss",
    "CostLoss",
    "ExpectedCostLoss",
    "ExponentialLoss",
    "ExponentialTerms",
    "HuberLoss",
    "LogLoss",
    "Loss",
    "OwnLoss",
    "PinballLoss",
    "SquaredLoss",
    "flat",
    "needs_all_rows",
    "own_loss",
    "read_loss",
]

Registry = dict[str, type[BuiltIn]]

REGRESSION_LOSSES: Registry = {
    loss.kind: loss for loss in (SquaredLoss, AbsoluteLoss, HuberLoss, PinballLoss, CostLoss)
}
CLASSIFICATION_LOSSES: Registry = {
    loss.kind: loss for loss in (LogLoss, ExponentialLoss, CostExponentialLoss, ExpectedCostLoss)
}


def read_loss(
    known: Registry, params: Any, y: NDArray[Any], weights: Floats | None = None
) -> BuiltIn:
    """Return the loss that an estimator's parameters name, or the user's own."""
    if not isinstance(params.loss, str):
        return own_loss(params.loss)
    check_choice("loss", params.loss, tuple(known))
    return known[params.loss].from_params(params, y, weights)


def needs_all_rows(known: Registry, loss: Any) -> bool:
    """Whether the parameter `loss` is one that needs all rows in one place."""
    if not isinstance(loss, str):
        return OwnLoss.needs_all_rows
    return loss in known and known[loss].needs_all_rows
