"""Boosting that minimises what mistakes cost, not how many there are."""

from costboost._version import __version__
from costboost.costs import Costs
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.wrappers import (
    CostColumns,
    CostingClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    RateClassifier,
)
from costboost.persistence import load, save
from costboost.report import make_report
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
    "CostColumns",
    "RateClassifier",
    "TRUSTED_TYPES",
    "save",
    "load",
    "make_report",
    "show_versions",
    "__version__",
]
