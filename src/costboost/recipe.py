"""`method="auto"`: the recommended recipe, the same on every table.

Gentle AdaBoost on small trees, shrunk and sampled, is trained on k folds in step, until the rows
that the folds left out have their least calibrated log loss. One map from scores to probabilities
is fitted to all left-out scores, the k models' probabilities are averaged, and the cheapest
expected cost decides.

More than two classes vote by SAMME instead, on deeper trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.ensemble import Ensemble
from costboost.boosting.rounds import Boosting, Round
from costboost.calibration import CalibratedScores, ClassCalibration, calibration_splits
from costboost.trainer import History, Trainer
from costboost.trees.forest import ForestBuilder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

STEP = 10  # rounds between two looks at the rows left out


@dataclass
class Fold:
    """One model of the race: its rounds, and the scores of the rows it does not train on."""

    trainer: Trainer
    boosting: Boosting
    test: Int64
    codes: NDArray[np.uint8]
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._source: Iterator[Round] = self.boosting.rounds()
        self.margins = np.zeros((len(self.test), self.boosting.n_outputs))

    def advance(self, n_rounds: int) -> None:
        """Take up to so many rounds, and add their votes to the rows left out."""
        builder = ForestBuilder(self.boosting.n_outputs)
        for _, done in zip(range(n_rounds), self._source, strict=False):
            assert done.lesson.tree is not None
            builder.add(done.lesson.tree, done.values)
            self.rounds.append(done)
            if self.trainer.observer is not None:
                self.trainer.observer(done)
        if len(builder):
            assert self.trainer.binner is not None
            forest = builder.build(self.trainer.binner)
            forest.add_trees(self.codes, self.margins, 0, len(builder), self.trainer.plan.n_threads)

    def model(self, n_rounds: int) -> Ensemble:
        """Return the ensemble of the first rounds."""
        return self.trainer.assemble(self.rounds[:n_rounds])


def train_in_step(trainer: Trainer, cv: Any, groups: Any) -> CalibratedScores:
    """Train one model for each fold, all to the same number of rounds, and calibrate them."""
    plan = trainer.plan
    splits = calibration_splits(
        trainer.y, cv, groups=groups, sample_weight=trainer.weights, random_state=plan.seed
    )
    with ExitStack() as stack:
        folds = [
            Fold(
                trainer,
                stack.enter_context(trainer.open(np.asarray(train))),
                np.asarray(test),
                trainer.codes_of(test),
            )
            for train, test in splits
        ]
        n_rounds, calibration = _race(trainer, folds)
    for fold in folds:
        trainer.histories.append(History(fold.rounds[:n_rounds], [], None))
    models = tuple(fold.model(n_rounds) for fold in folds)
    return CalibratedScores(models, (calibration,) * len(models), len(splits))


def _race(trainer: Trainer, folds: list[Fold]) -> tuple[int, ClassCalibration]:
    """Advance all folds until the loss of the rows left out has not fallen for a while."""
    plan = trainer.plan
    rows = np.concatenate([fold.test for fold in folds])
    weights = None if trainer.weights is None else trainer.weights[rows]
    best: tuple[float, int, ClassCalibration | None] = (np.inf, 0, None)
    patience = plan.patience or plan.setting.n_rounds
    try:
        for done in range(STEP, plan.setting.n_rounds + STEP, STEP):
            for fold in folds:
                fold.advance(min(STEP, plan.setting.n_rounds - done + STEP))
            scores = np.concatenate([_scores(fold) for fold in folds])
            blank = ClassCalibration(plan.calibration, plan.n_classes, margins=not plan.discrete)
            fitted = blank.fit(scores, trainer.y[rows], weights)
            loss = _log_loss(fitted.predict(scores), trainer.y[rows], weights)
            if loss < best[0]:
                best = (loss, min(done, plan.setting.n_rounds), fitted)
            ended = all(len(fold.rounds) < done for fold in folds)
            if ended or done - best[1] >= patience:
                break
    except KeyboardInterrupt:
        if plan.on_interrupt != "keep" or best[2] is None:
            raise
    assert best[2] is not None
    return best[1], best[2]


def _scores(fold: Fold) -> Floats:
    total = float(np.sum([done.alpha for done in fold.rounds])) if fold.rounds else 1.0
    return fold.model(0).scores(fold.margins, total)


def _log_loss(proba: Floats, y: Int64, weights: Floats | None) -> float:
    p = np.maximum(proba[np.arange(len(y)), y], 1e-15)
    return -float(np.average(np.log(p), weights=weights))
