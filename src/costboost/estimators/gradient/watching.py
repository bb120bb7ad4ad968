"""Held-out rows: what each round's model costs, or loses, on rows that it was not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.boosting.gradient.loop import GradientRound
from costboost.boosting.gradient.losses import flat
from costboost.boosting.gradient.model import GradientEnsemble, Init
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.links import choices_of
from costboost.costs import Costs
from costboost.estimators.gradient.plan import GradientPlan
from costboost.fitting.judging import Answers, Predictions, Said, Watched, class_actions
from costboost.trees.forest import ForestBuilder

Floats = NDArray[np.float64]


class GradientFollower:
    """Adds rounds to the margins of held-out rows, and decides by them as the model does."""

    def __init__(
        self,
        plan: GradientPlan,
        binner: Binner | None,
        part: Watched,
        start: Floats,
        init: Init | None,
    ) -> None:
        self.plan, self.binner, self.part = plan, binner, part
        shape = (len(part.y), len(start))
        self.margins = np.broadcast_to(start, shape).copy()
        if init is not None:
            self.margins += init.margins(part.X)

    def _add(self, done: GradientRound) -> None:
        if self.binner is None:
            model = GradientEnsemble(
                np.zeros(self.margins.shape[1]),
                np.array([done.step]),
                None,
                (done.lessons,),
            )
            self.margins += model.margins(self.part.X)
            return
        builder = ForestBuilder(self.margins.shape[1])
        done.add_to(builder)
        forest = builder.build(self.binner)
        assert self.part.codes is not None
        n_threads = self.plan.n_threads
        forest.add_trees(self.part.codes, self.margins, 0, len(forest), n_threads)

    def follow(self, done: GradientRound) -> Said:
        """Add a round; return what the model says now."""
        self._add(done)
        return self._predictions() if self.part.costs is None else self._answers(self.part.costs)

    def _answers(self, costs: Costs) -> Answers:
        part, plan = self.part, self.plan
        decided = part.y[:0]  # nobody asks
        if plan.odds is not None:
            decided = costs.decide(self._proba(), encoded=True)
        elif plan.metric == "cost":
            decided = class_actions(costs, choices_of(self.margins))
        assert costs.classes is not None
        return Answers(costs.classes, part.y, self._proba, decided, costs, part.weights)

    def _proba(self) -> Floats:
        return np.asarray(self.plan.loss.proba(flat(self.margins)))

    def _predictions(self) -> Predictions:
        part = self.part
        return Predictions(part.y, self.margins[:, 0], self._mean_loss, part.weights)

    def _mean_loss(self) -> float:
        rows = LossRows(self.part.y, 1, self.part.weights, prices=self.part.prices)
        return float(self.plan.loss.mean_value(rows, self.margins))
