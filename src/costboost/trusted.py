"""What a saved model of this library is made of: types for ``skops.io.load`` to trust.

skops, and MLflow by default, write models as data, and build an object of a type that they do not
know only if the reader names that type. These are ours, by name; a model around other estimators
needs theirs too.

>>> "costboost.costs.costs.Costs" in TRUSTED_TYPES
True
"""

from __future__ import annotations

__all__ = ["TRUSTED_TYPES"]

TRUSTED_TYPES: list[str] = [
    # estimators
    "costboost.estimators.adaboost.classifier.CostBoostClassifier",
    "costboost.estimators.gradient.classifier.GradientBoostClassifier",
    "costboost.estimators.gradient.regressor.GradientBoostRegressor",
    "costboost.estimators.pnorm.classifier.PNormBoostClassifier",
    "costboost.estimators.wrappers.base.Constant",
    "costboost.estimators.wrappers.cost_columns.CostColumns",
    "costboost.estimators.wrappers.costing.CostingClassifier",
    "costboost.estimators.wrappers.metacost.MetaCostClassifier",
    "costboost.estimators.wrappers.minimum_cost.MinimumCostClassifier",
    "costboost.estimators.wrappers.rate.RateClassifier",
    # what they were given
    "costboost.costs.costs.Costs",
    "costboost.costs.expressions.Expression",
    "costboost.boosting.gradient.losses.cost_exponential.CostExponentialLoss",
    "costboost.boosting.gradient.losses.expected_cost.ExpectedCostLoss",
    "costboost.boosting.gradient.losses.exponential.ExponentialLoss",
    "costboost.boosting.gradient.losses.huber.HuberLoss",
    "costboost.boosting.gradient.losses.log.LogLoss",
    "costboost.boosting.gradient.losses.pinball.AbsoluteLoss",
    "costboost.boosting.gradient.losses.pinball.PinballLoss",
    "costboost.boosting.gradient.losses.squared.SquaredLoss",
    # what they learnt
    "costboost.binning.binner.Binner",
    "costboost.boosting.adaboost.model.Ensemble",
    "costboost.boosting.gradient.model.GradientEnsemble",
    "costboost.boosting.gradient.model.Init",
    "costboost.boosting.pnorm.model.Mixture",
    "costboost.trees.forest.Forest",
    # what a warm start continues from
    "costboost.fitting.warm.Progress",
    "costboost.boosting.adaboost.learner.OutsideLesson",
    "costboost.boosting.adaboost.learner.TreeLesson",
    "costboost.boosting.adaboost.loop.Round",
    "costboost.boosting.adaboost.hypothesis.Hypothesis",
    "costboost.boosting.gradient.loop.GradientRound",
    "costboost.boosting.pnorm.learner.OutsideRelation",
    "costboost.boosting.pnorm.learner.TreeRelation",
    "costboost.boosting.pnorm.loop.PNormRound",
    "costboost.trees.tree.Tree",
    # calibration
    "costboost.calibration.calibrators.Beta",
    "costboost.calibration.calibrators.BiasCorrected",
    "costboost.calibration.calibrators.ClassBiases",
    "costboost.calibration.calibrators.Isotonic",
    "costboost.calibration.calibrators.Sigmoid",
    "costboost.calibration.calibrators.SigmoidBrier",
    "costboost.calibration.calibrators.Temperature",
    "costboost.calibration._classes.ClassCalibration",
    "costboost.calibration._fitting.CalibratedScores",
]
