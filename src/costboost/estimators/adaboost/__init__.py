"""`CostBoostClassifier`: the AdaBoost family and the recommended recipe."""

from costboost.estimators.adaboost.classifier import CostBoostClassifier

__all__ = ["CostBoostClassifier"]
