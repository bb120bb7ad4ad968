"""The parts of a fitted model, in the order of its members."""

from dataclasses import replace

from costboost.model import FittedModel


def calibrations(estimator):
    """Return the calibration of each member; they must all be calibrated."""
    return tuple(member.maps[-1].calibration for member in estimator._model.members)


def only(estimator, i):
    """Let an estimator answer by one of its members alone."""
    members = (estimator._model.members[i],)
    estimator._model = replace(estimator._model, members=members)
    return estimator


def bare(model, i=0):
    """Return the model of one member without its calibration: its decision values are margins."""
    return FittedModel((replace(model.members[i], maps=()),), None, "margin")
