"""Held-out rows: what each round's model costs, or loses, on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.boosting.gradient.loop import GradientRound
from costboost.boosting.gradient.losses import flat
from costboost.boosting.gradient.model import GradientEnsemble, Init, add_round
from costboost.boosting.gradient.rows import Rows
from costboost.costs import Costs
from costboost.estimators.gradient.plan import GradientPlan
from costboost.trees.forest import ForestBuilder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Codes = NDArray[np.uint8]


def choices_of(margins: Floats) -> Int64:
    """Return the answers of a loss that contains costs: the sign of F, or its largest entry."""
    if margins.shape[1] == 1:
        return (margins[:, 0] > 0.0).astype(np.int64)
    return np.asarray(np.argmax(margins, axis=1), dtype=np.int64)


@dataclass(frozen=True)
class Watched:
    """Held-out rows."""

    X: Any
    codes: Codes | None
    y: NDArray[Any]
    costs: Costs | None
    prices: Floats | None
    weights: Floats | None


class Judge:
    """Says what each round's model costs, or loses, on held-out rows."""

    def __init__(
        self,
        plan: GradientPlan,
        binner: Binner | None,
        watched: Watched,
        start: Floats,
        init: Init | None,
    ) -> None:
        self.plan, self.binner, self.watched = plan, binner, watched
        shape = (len(watched.y), len(start))
        self.margins = np.broadcast_to(start, shape).copy()
        if init is not None:
            self.margins += init.margins(watched.X)

    def add(self, done: GradientRound) -> None:
        """Add a round to the margins."""
        if self.binner is None:
            model = GradientEnsemble(
                np.zeros(self.margins.shape[1]),
                np.array([done.step]),
                None,
                (tuple(lesson.estimator for lesson in done.lessons),),
            )
            self.margins += model.margins(self.watched.X)
            return
        builder = ForestBuilder(self.margins.shape[1])
        add_round(builder, done)
        forest = builder.build(self.binner)
        assert self.watched.codes is not None
        n_threads = self.plan.n_threads
        forest.add_trees(self.watched.codes, self.margins, 0, len(forest), n_threads)

    def __call__(self, done: GradientRound) -> float:
        """Return the mean cost, or loss, after a round."""
        self.add(done)
        watched, plan = self.watched, self.plan
        if watched.costs is None:
            rows = Rows(watched.y, 1, watched.weights, prices=watched.prices)
            return float(plan.loss.mean_value(rows, self.margins))
        classes = watched.costs.classes
        assert classes is not None
        if plan.odds is None:
            decided = classes[choices_of(self.margins)]
        else:
            decided = watched.costs.decide(plan.loss.proba(flat(self.margins)))
        paid = watched.costs.of_decisions(classes[watched.y], decided)
        return float(np.average(paid, weights=watched.weights))
