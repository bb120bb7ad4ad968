"""Boosting that minimises what mistakes cost, not how many there are."""

from costboost._version import __version__
from costboost.classifiers import CostBoostClassifier
from costboost.costs import Costs
from costboost.decisions import MinimumCostClassifier
from costboost.versions import show_versions

__all__ = [
    "Costs",
    "CostBoostClassifier",
    "MinimumCostClassifier",
    "show_versions",
    "__version__",
]
