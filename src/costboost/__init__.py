"""Boosting that minimises what mistakes cost, not how many there are."""

from costboost._version import __version__
from costboost.classifiers import CostBoostClassifier
from costboost.costs import Costs
from costboost.decisions import MinimumCostClassifier
from costboost.gradient_boosting import GradientBoostClassifier, GradientBoostRegressor
from costboost.pnorm_classifier import PNormBoostClassifier
from costboost.versions import show_versions
from costboost.wrappers import CostingClassifier, MetaCostClassifier

__all__ = [
    "Costs",
    "CostBoostClassifier",
    "PNormBoostClassifier",
    "GradientBoostClassifier",
    "GradientBoostRegressor",
    "MinimumCostClassifier",
    "MetaCostClassifier",
    "CostingClassifier",
    "show_versions",
    "__version__",
]
