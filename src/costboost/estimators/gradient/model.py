"""The rounds of gradient boosting as a fitted model: f_0 and steps of trees or regressors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.gradient.learner import Init, OutsideSteps
from costboost.boosting.gradient.loop import GradientRound
from costboost.calibration import CalibratedScores
from costboost.model import FittedModel, LossLink, Member, calibrated
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats


def assemble_gradient(
    rounds: Sequence[GradientRound], binner: Binner | None, start: Floats, init: Init | None
) -> Member:
    """Return the member of these rounds, without maps; the margins begin at `start` and `init`."""
    steps = np.array([done.step for done in rounds])
    if binner is None:
        return Member(
            steps,
            None,
            init=init,
            estimators=tuple(done.models for done in rounds),
            start=start,
            answers=OutsideSteps(),
        )
    builder = ForestBuilder(len(start))
    for done in rounds:
        done.add_to(builder)
    # The gains of these trees are those of the steps that were taken.
    return Member(steps, builder.build(binner, start), init=init, weighs_gains=False)


def to_model(
    members: tuple[Member, ...], scores: CalibratedScores | None, plan: Any
) -> FittedModel:
    """Return the fitted model: calibrated, or by the loss; a regression is a margin."""
    if not plan.n_classes:
        return FittedModel(members, None, "prediction")
    if scores is not None:
        return calibrated(members, lambda member: (), scores)
    natural = plan.odds is not None  # F is the log odds up to a factor: it can be priced
    unit = "log odds" if natural and plan.loss.link_scale == 1.0 else "margin"
    linked = tuple(replace(member, maps=(LossLink(plan.loss),)) for member in members)
    return FittedModel(linked, "cheapest" if natural else "largest", unit)
