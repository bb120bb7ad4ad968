"""Shared by the tests of `PNormBoostClassifier`: a model that is quick to fit."""

from costboost.estimators.pnorm import PNormBoostClassifier


def quick(**params):
    """A few rounds, and leaves of one row: the tables here are small."""
    few = {"n_estimators": 8, "min_samples_leaf": 1, "random_state": 0}
    return PNormBoostClassifier(**(few | params))
