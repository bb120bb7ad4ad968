"""Costs around any classifier that knows nothing of them: by sampling, or by relabelling.

Both wrappers change the training rows and leave the learner alone: costing draws samples in which
dear rows are frequent, MetaCost gives every row the label that is cheapest to answer. So what they
learn contains the costs, and new prices need a new ``fit``; `costboost.MinimumCostClassifier` is
the wrapper whose prices may change.
"""

from costboost.wrappers._costing import CostingClassifier, rejection_sample
from costboost.wrappers._metacost import MetaCostClassifier

__all__ = ["CostingClassifier", "MetaCostClassifier", "rejection_sample"]
