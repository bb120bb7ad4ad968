"""`GradientBoostClassifier` and `GradientBoostRegressor`: gradient boosting with costs.

Both are skins: they check what they are given, settle a `GradientPlan`, and hand rows to
`GradientTrainer`, which trains one model, or one for each fold of a calibration.
"""

from costboost.estimators.gradient.classifier import GradientBoostClassifier
from costboost.estimators.gradient.regressor import GradientBoostRegressor

__all__ = ["GradientBoostClassifier", "GradientBoostRegressor"]
