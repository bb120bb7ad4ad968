"""Losses of gradient boosting: one object each, with all that anybody asks of it.

base            what a loss is, to readers, users and rounds
errors          what the losses of an error share: squared, huber, pinball
classes         what the losses of classes share: log, exponential, cost_exponential, expected_cost
registry        their names
"""

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
    HuberLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.boosting.gradient.losses.registry import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    needs_all_rows,
    read_loss,
)

__all__ = [
    "CLASSIFICATION_LOSSES",
    "NAMED",
    "REGRESSION_LOSSES",
    "AbsoluteLoss",
    "BuiltIn",
    "CostExponentialLoss",
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
