"""Boosting that minimises what mistakes cost, not how many there are."""

from costboost._version import __version__
from costboost.classifiers import CostBoostClassifier
from costboost.costs import Costs
from costboost.decisions import MinimumCostClassifier

__all__ = ["Costs", "CostBoostClassifier", "MinimumCostClassifier", "__version__"]
