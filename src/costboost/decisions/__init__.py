"""Probability + costs -> the cheapest decision.

`CostDecisionMixin` is what costs mean to a classifier: which ones hold at ``fit``, which at
``predict``, what a decision is expected to cost and what it did cost. A classifier brings
``classes_`` and ``predict_proba``, and calls ``_set_costs`` in its ``fit``.
`costboost.MinimumCostClassifier` gives the same to anybody's classifier.

Prices enter last: changing them never trains anything again.
"""

from costboost.decisions.asking import BoughtTest, with_unknown_tests
from costboost.decisions.capacity import Allocation, allocate
from costboost.decisions.exploring import Exploration, explore_decisions
from costboost.decisions.mixin import (
    CostDecisionMixin,
    fit_costs,
    typical_costs,
)
from costboost.decisions.parity import (
    Parity,
    ParityAllocation,
    ParityFrontier,
    allocate_parity,
    parity_frontier,
)
from costboost.decisions.sequential import NextTest, PolicyRun, PricedTest

__all__ = [
    "BoughtTest",
    "NextTest",
    "PolicyRun",
    "PricedTest",
    "with_unknown_tests",
    "Allocation",
    "allocate",
    "Exploration",
    "explore_decisions",
    "Parity",
    "ParityAllocation",
    "allocate_parity",
    "ParityFrontier",
    "parity_frontier",
    "CostDecisionMixin",
    "fit_costs",
    "typical_costs",
]
