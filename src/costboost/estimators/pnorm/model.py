"""The rounds of the L_p family as a fitted model: a mixture of trees or outside classifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.pnorm.learner import OutsideAnswers, outside_kind
from costboost.boosting.pnorm.loop import PNormRound
from costboost.boosting.pnorm.methods import Method
from costboost.calibration import CalibratedScores
from costboost.model import FittedModel, Mixture, Normalise, calibrated
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import Floats

MAPS = (Normalise(),)  # of the mixture: to probabilities, and to what is calibrated


def one_tree(binner: Binner, done: PNormRound, *, stochastic: bool) -> Forest:
    """Return the tree of one round, its answers as leaf values."""
    builder = ForestBuilder(done.hypothesis.answers.shape[1])
    done.add_to(builder, stochastic=stochastic)
    return builder.build(binner)


def assemble_mixture(
    rounds: Sequence[PNormRound], method: Method, binner: Binner | None, n_classes: int
) -> Mixture:
    """Return the mixture of at least one round."""
    stochastic = method.answers == "stochastic"
    start = np.full(n_classes, 0.0 if method.adaptive else 1.0 / n_classes)
    steps = np.array([done.alpha for done in rounds])
    if binner is None:
        return Mixture(
            steps,
            None,
            MAPS,
            estimators=tuple(done.hypothesis.estimator for done in rounds),
            start=start,
            answers=OutsideAnswers(outside_kind(method), n_classes, stochastic),
            adaptive=method.adaptive,
        )
    builder = ForestBuilder(n_classes)
    for done in rounds:
        done.add_to(builder, stochastic=stochastic)
    return Mixture(steps, builder.build(binner, start), MAPS, adaptive=method.adaptive)


def constant_mixture(answer: int, method: Method, binner: Binner | None, n_classes: int) -> Mixture:
    """Return the mixture without rounds that always answers one class."""
    start: Floats = np.eye(n_classes)[answer]
    if binner is None:
        return Mixture(np.zeros(0), None, MAPS, start=start, adaptive=method.adaptive)
    trees = ForestBuilder(n_classes).build(binner, start)
    return Mixture(np.zeros(0), trees, MAPS, adaptive=method.adaptive)


def to_model(members: tuple[Mixture, ...], scores: CalibratedScores | None) -> FittedModel:
    """Return the fitted model: calibrated, or deciding by the largest share."""
    if scores is not None:
        return calibrated(members, lambda member: MAPS, scores)
    return FittedModel(members, "largest", "mixture")
