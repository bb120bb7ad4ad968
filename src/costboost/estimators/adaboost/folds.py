"""The models that the recipe trains in step: one for each fold, round after round.

A fold knows two things of its booster: its rounds, which add their trees to forests, and the
margins of the rows that it trains on. `GentleFold` is AdaBoost's loop as every named method runs
it; `LogFold` is gradient boosting by log loss, for K classes with one tree of vector leaves a
round. Both become a `Member` of a fitted model, which needs to know of neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.boosting.adaboost.hypothesis import scores_of
from costboost.boosting.adaboost.loop import Boosting
from costboost.boosting.gradient.learner import GradientTree, VectorTree
from costboost.boosting.gradient.loop import GradientBoosting, GradientSetting
from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.gradient.starting import GradientLoader
from costboost.boosting.train_cost import price_expected
from costboost.calibration import ClassCalibration
from costboost.estimators.adaboost.blending import AdditivePart, price_blended
from costboost.estimators.adaboost.trainer import Trainer
from costboost.model import Logistic, Member
from costboost.shards.grid import rounded
from costboost.shards.layout import RowData
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import AnyInts, Floats

Train = Callable[[], AnyInts]

L2 = 0.02  # added to the curvature of a leaf
MAX_STEP = 4.0  # of a leaf on the log-odds scale, as in `GradientBoostClassifier`


@dataclass(frozen=True)
class CalibratedProba:
    """The calibrated probabilities of margins."""

    calibration: ClassCalibration
    shares: bool

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K)."""
        return self.calibration.predict(scores_of(margins, total, shares=self.shares))


class Fold(ABC):
    """One model of the race: its rounds, and the scores of the rows it does not train on.

    Parameters
    ----------
    trainer : Trainer
    train : callable
        Returns the numbers of the rows trained on: they are seldom asked for, and many.
    test : array of row numbers
        The rows left out.
    start : float64 array of shape (J,)
        The margins before the first round.
    """

    def __init__(self, trainer: Trainer, train: Train, test: AnyInts, start: Floats) -> None:
        self.trainer, self.train, self.test, self.start = trainer, train, test, start
        self.rounds: list[Any] = []
        self._followed = trainer.table.follow(test, start)
        # How many rounds are in the margins, and the margins: set together, so that Ctrl-C at
        # any moment leaves both as they were.
        self._seen = (0, np.tile(start, (len(test), 1)))

    shares = False  # whether margins over the sum of steps are shares of votes
    boosting: Boosting | GradientBoosting

    def source(self) -> Iterator[Any]:
        """Yield the rounds."""
        return self.boosting.rounds()

    @abstractmethod
    def model(self, n_rounds: int) -> Member:
        """Return the member of the first rounds."""

    def blended(self, n_rounds: int, part: AdditivePart | None) -> Member:
        """Return the member of the first rounds, blended with an additive one if there is any."""
        model = self.model(n_rounds)
        return model if part is None else part.blended(model)

    def scores(self, n_rounds: int) -> Floats:
        """Return the scores of the rows left out, after so many rounds; never fewer than before."""
        margins = self._margins(self.rounds[:n_rounds])
        return scores_of(margins, self.total(n_rounds), shares=self.shares)

    def total(self, n_rounds: int) -> float:
        """Return the sum of the steps of the first rounds."""
        return 1.0

    def _margins(self, rounds: list[Any]) -> Floats:
        n_seen, margins = self._seen
        builder = ForestBuilder(len(self.start))
        for done in rounds[n_seen:]:
            done.add_to(builder)
        if len(builder):
            assert self.trainer.binner is not None
            margins = self._followed.add(builder.build(self.trainer.binner))
            self._seen = (len(rounds), margins)
        return margins

    def forest(self, n_rounds: int) -> Forest:
        """Return the trees of the first rounds."""
        builder = ForestBuilder(len(self.start))
        for done in self.rounds[:n_rounds]:
            done.add_to(builder)
        assert self.trainer.binner is not None
        return builder.build(self.trainer.binner, self.start)

    def training_cost(
        self,
        n_rounds: int,
        calibration: ClassCalibration,
        part: AdditivePart | None = None,
        *,
        walk: bool = False,
    ) -> float:
        """Return what the calibrated decisions on the rows trained on cost altogether."""
        if walk:
            return self._walked_cost(self.blended(n_rounds, part), calibration)
        proba, total = CalibratedProba(calibration, self.shares), self.total(n_rounds)
        call = price_expected(proba=proba, total=total)
        if part is not None:
            call = price_blended(proba=proba, total=total, part=part)
        (exact,) = self.boosting.shards.call([call])
        return rounded(exact)

    def _walked_cost(self, model: Member, calibration: ClassCalibration) -> float:
        """Return what it costs by the model itself, whatever rows know of its rounds."""
        trainer, rows = self.trainer, self.train()
        said = calibration.predict(trainer.score(model, rows))
        costs, weights = trainer.costs[rows], trainer.weights
        weights = None if weights is None else weights[rows]
        decided = costs.decide(said, encoded=True)
        return costs.total(trainer.y[rows], decided, weights, encoded=True)


class GentleFold(Fold):
    """AdaBoost's loop."""

    def __init__(self, trainer: Trainer, boosting: Boosting, train: Train, test: AnyInts) -> None:
        super().__init__(trainer, train, test, np.zeros(boosting.n_outputs))
        self.boosting, self.shares = boosting, trainer.plan.discrete

    def model(self, n_rounds: int) -> Member:
        """Return the member of the first rounds."""
        return self.trainer.assemble(self.rounds[:n_rounds])

    def total(self, n_rounds: int) -> float:
        """Return the sum of the alphas of the first rounds."""
        rounds = self.rounds[:n_rounds]
        return float(np.sum([done.alpha for done in rounds])) if rounds else 1.0


class LogFold(Fold):
    """Gradient boosting by log loss."""

    def __init__(
        self,
        trainer: Trainer,
        boosting: GradientBoosting,
        start: Floats,
        train: Train,
        test: AnyInts,
    ) -> None:
        super().__init__(trainer, train, test, start)
        self.boosting = boosting

    def model(self, n_rounds: int) -> Member:
        """Return the member of the first rounds."""
        steps = np.array([done.step for done in self.rounds[:n_rounds]])
        return Member(steps, self.forest(n_rounds), (Logistic(1.0),))


@dataclass(frozen=True)
class Opener:
    """Sets up folds; their threads end with the stack."""

    trainer: Trainer
    stack: ExitStack

    def open(self, train: Train, test: AnyInts) -> Fold:
        """Return the fold that trains on some rows and leaves others out."""
        if self.trainer.plan.log_loss:
            descent, start = self.stack.enter_context(_open_log(self.trainer, train))
            return LogFold(self.trainer, descent, start, train, test)
        boosting = self.stack.enter_context(self.trainer.open(np.asarray(train(), np.int64)))
        return GentleFold(self.trainer, boosting, train, test)


@contextmanager
def _open_log(trainer: Trainer, train: Train) -> Iterator[tuple[GradientBoosting, Floats]]:
    """Set up gradient boosting on some rows; also return its first margins.

    While rounds are taken, nothing as large as the rows is held here.
    """
    plan, n_outputs = trainer.plan, trainer.plan.n_outputs
    with _open_rows(trainer, train(), n_outputs) as cut:
        loss = LogLoss()
        start = loss.constant(cut, n_outputs)
        setting = GradientSetting(
            n_rounds=trainer.n_rounds,
            learning_rate=plan.setting.learning_rate,
            l2=L2,
            max_step=MAX_STEP,
            subsample=plan.subsample,
            seed=plan.seed,
        )
        heaviest = None if trainer.weights is None else float(np.max(trainer.weights[train()]))
        learner = _learner(trainer, n_outputs, heaviest)
        yield GradientBoosting(cut, loss, learner, setting, start), start


def _open_rows(trainer: Trainer, rows: AnyInts, n_outputs: int) -> AbstractContextManager[Any]:
    weights = None if trainer.weights is None else trainer.weights[rows]
    data = RowData(trainer.y[rows], weights, trainer.costs[rows])
    shards: AbstractContextManager[Any] = trainer.table.open(GradientLoader(data, n_outputs), rows)
    return shards


def _learner(trainer: Trainer, n_outputs: int, heaviest: float | None) -> Any:
    plan, binner = trainer.plan, trainer.binner
    assert binner is not None
    if n_outputs > 1:
        return VectorTree(binner, n_outputs, plan.limits, L2, plan.seed, heaviest)
    return GradientTree(
        binner,
        plan.limits,
        l2=L2,
        min_weight_leaf=plan.min_weight_leaf,
        monotone=plan.monotone,
        seed=plan.seed,
        heaviest=1.0 if heaviest is None else heaviest,
    )
