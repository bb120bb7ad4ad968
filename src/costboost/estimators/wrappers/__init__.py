"""Costs around any classifier, or regressor, that knows nothing of them.

`MinimumCostClassifier` calibrates it and takes the cheapest decision: prices may change any time.
The others change the training rows and leave the learner alone: costing draws samples in which
costly rows are frequent, MetaCost gives every row the label that is cheapest to answer. So what
they learn contains the costs, and new prices need a new ``fit``. `CostColumns` reads costs from the
table that a pipeline is given, before it is transformed.

`MinimumCostRegressor` does for numbers what `MinimumCostClassifier` does for classes: it gives any
regressor a calibrated distribution, and answers the cheapest number.
"""

from costboost.estimators.wrappers.cost_columns import CostColumns
from costboost.estimators.wrappers.costing import CostingClassifier, rejection_sample
from costboost.estimators.wrappers.guaranteed import GuaranteedClassifier
from costboost.estimators.wrappers.metacost import MetaCostClassifier
from costboost.estimators.wrappers.minimum_cost import MinimumCostClassifier
from costboost.estimators.wrappers.minimum_cost_regressor import MinimumCostRegressor
from costboost.estimators.wrappers.parity import ParityClassifier
from costboost.estimators.wrappers.rate import RateClassifier

__all__ = [
    "CostColumns",
    "CostingClassifier",
    "GuaranteedClassifier",
    "MetaCostClassifier",
    "MinimumCostClassifier",
    "MinimumCostRegressor",
    "ParityClassifier",
    "RateClassifier",
    "rejection_sample",
]
