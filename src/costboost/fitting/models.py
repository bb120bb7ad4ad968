"""From a trainer to models: one of all rows, or one for each fold of a calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.calibration import CalibratedScores, calibrate_folds, read_groups
from costboost.fitting.trainer import TableTrainer
from costboost.fitting.warm import Given, continued, remember


def train_models(
    estimator: Any,
    trainer: TableTrainer,
    given: Given,
    *,
    cv: Any = None,
    groups: Any = None,
    ensemble: bool = True,
) -> tuple[tuple[Any, ...], CalibratedScores | None]:
    """Train one model on all rows, or one for each fold and calibrate them.

    One model continues the last fit's if a warm start asks for it.

    Parameters
    ----------
    estimator : the one that is fitted
    trainer : TableTrainer
    given : see `continued`
    cv, groups, ensemble : as in `calibrate_folds`

    Returns
    -------
    models : tuple
    scores : CalibratedScores or None
        None without calibration.
    """
    earlier, scores = continued(estimator, trainer, given), None
    if groups is not None:
        trainer.groups = read_groups(groups, trainer.n_rows)
    if trainer.plan.calibration is None:
        models: tuple[Any, ...] = (trainer.train(None, earlier),)
    else:
        scores = _calibrated(trainer, cv, groups, ensemble=ensemble)
        models = scores.models
    trainer.settle_beaten()
    remember(estimator, trainer, models[0], given)
    return models, scores


def _calibrated(trainer: TableTrainer, cv: Any, groups: Any, *, ensemble: bool) -> CalibratedScores:
    plan = trainer.plan
    return calibrate_folds(
        trainer.train,
        trainer.score,
        trainer.y,
        cv,
        classes=np.arange(plan.n_classes),
        method=plan.calibration,
        margins=trainer.scores_are_margins,
        groups=groups,
        copies=trainer.copies_for(cv, groups),
        sample_weight=trainer.weights,
        rising=plan.monotone is not None,
        ensemble=ensemble,
        random_state=plan.seed,
        ended=(lambda: trainer.interrupted) if plan.on_interrupt == "keep" else None,
        announce=lambda folds: trainer.table.arrange(folds, *trainer.grouping()),
    )
