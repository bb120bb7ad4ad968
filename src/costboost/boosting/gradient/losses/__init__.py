"""Losses of gradient boosting: one object each, with all that training asks of it.

base            what a loss is, to readers, users and rounds
errors          squared, pinball, Huber
log, exponential, expected_cost
classes         what the losses of classes share
"""

from typing import Any

from costboost.boosting.gradient.losses.base import BuiltIn, Loss, OwnLoss, flat
from costboost.boosting.gradient.losses.errors import HuberLoss, PinballLoss, SquaredLoss
from costboost.boosting.gradient.losses.expected_cost import ExpectedCostLoss
from costboost.boosting.gradient.losses.exponential import (
    NAMED,
    CostExponentialLoss,
    ExponentialLoss,
    ExponentialTerms,
)
from costboost.boosting.gradient.losses.log import LogLoss

REGRESSION_LOSSES = ("squared", "absolute", "huber", "pinball")
CLASSIFICATION_LOSSES: dict[str, Any] = {
    loss.kind: loss for loss in (LogLoss, ExponentialLoss, CostExponentialLoss, ExpectedCostLoss)
}

__all__ = [
    "CLASSIFICATION_LOSSES",
    "NAMED",
    "REGRESSION_LOSSES",
    "BuiltIn",
    "CostExponentialLoss",
    "ExpectedCostLoss",
    "ExponentialLoss",
    "ExponentialTerms",
    "HuberLoss",
    "Loss",
    "LogLoss",
    "OwnLoss",
    "PinballLoss",
    "SquaredLoss",
    "flat",
]
