"""The rounds of the AdaBoost family as a fitted model: votes of trees or outside classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.adaboost.learner import LEAF_VALUES, OutsideVotes, Votes
from costboost.boosting.adaboost.loop import Round
from costboost.calibration import CalibratedScores
from costboost.estimators.adaboost.plan import Plan
from costboost.model import FittedModel, Logistic, Map, Member, Second, VoteShares, calibrated
from costboost.trees.forest import ForestBuilder


def assemble(
    rounds: Sequence[Round],
    binner: Binner | None,
    n_classes: int,
    votes: Votes,
    *,
    slope: float = 2.0,
) -> Member:
    """Return the member of these rounds; `slope` is that of the link of the method's loss."""
    n_outputs = 1 if n_classes == 2 else n_classes
    steps, maps = np.array([done.alpha for done in rounds]), (Logistic(slope),)
    if binner is None:
        return Member(
            steps,
            None,
            maps,
            estimators=tuple(done.model.estimator for done in rounds),
            start=np.zeros(n_outputs),
            answers=OutsideVotes(votes, n_classes),
        )
    builder = ForestBuilder(n_outputs)
    for done in rounds:
        done.add_to(builder)
    return Member(steps, builder.build(binner), maps)


def constant_member(answer: int, n_classes: int, binner: Binner | None) -> Member:
    """Return the member without rounds that always predicts one class."""
    start = np.array([1.0 if answer == 1 else -1.0])
    if n_classes > 2:
        start = (np.arange(n_classes) == answer).astype(float)
    maps = (Logistic(2.0),)
    if binner is None:
        return Member(np.zeros(0), None, maps, start=start)
    return Member(np.zeros(0), ForestBuilder(len(start)).build(binner, start), maps)


def score_maps(member: Member, *, discrete: bool) -> tuple[Map, ...]:
    """Return the maps to what is calibrated: shares of discrete votes, else the margins."""
    if not discrete:
        return ()
    shares = VoteShares(member.total)
    return (shares, Second()) if len(member.first) == 1 else (shares,)


def to_model(
    members: tuple[Member, ...], scores: CalibratedScores | None, plan: Plan
) -> FittedModel:
    """Return the fitted model: calibrated, or deciding by the method's own rule."""
    if scores is not None:
        return calibrated(members, partial(score_maps, discrete=plan.discrete), scores)
    unit = "votes" if plan.n_classes > 2 else "margin"
    if plan.rule.decision != "cheapest":
        return FittedModel(members, "largest", unit)
    # AdaMEC prices shares of votes; fitted values of leaves are none, and have their link.
    leaf_values = plan.setting.votes in LEAF_VALUES
    priced = Logistic(2.0) if leaf_values else VoteShares(members[0].total)
    return FittedModel(members, "cheapest", unit, (priced,))
