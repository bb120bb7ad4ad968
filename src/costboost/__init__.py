"""Boosting that minimises what mistakes cost, not how many there are."""

from costboost._version import __version__
from costboost.costs import Costs
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.wrappers import (
    CostingClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
)
from costboost.trusted import TRUSTED_TYPES
from costboost.versions import show_versions

__all__ = [
    "Costs",
    "CostBoostClassifier",
    "PNormBoostClassifier",
    "GradientBoostClassifier",
    "GradientBoostRegressor",
    "MinimumCostClassifier",
    "MetaCostClassifier",
    "CostingClassifier",
    "TRUSTED_TYPES",
    "show_versions",
    "__version__",
]
