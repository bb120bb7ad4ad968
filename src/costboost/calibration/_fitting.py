"""Train on some rows, calibrate on others: the loop, without the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from costboost.calibration._classes import ClassCalibration
from costboost.calibration._folds import calibration_folds, is_share
from costboost.inputs.arrays import encode
from costboost.shards.folds import Folds

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Model = TypeVar("Model")


@dataclass(frozen=True)
class CalibratedScores:
    """Fitted models, each with the map from its scores to probabilities.

    `calibrate_folds` makes it; an estimator keeps it and asks it for probabilities.

    Parameters
    ----------
    models : tuple
        What ``fit_fold`` returned: one per fold, or the one trained last.
    maps : tuple of ClassCalibration
        One per model.
    n_folds : int
        How many folds were cut: fewer than asked for where a class had fewer rows.
    """

    models: tuple[Any, ...]
    maps: tuple[ClassCalibration, ...]
    n_folds: int

    def predict_proba(self, scores: Iterable[ArrayLike]) -> Floats:
        """Return the mean over the models of their calibrated probabilities, ``(n, K)``.

        Parameters
        ----------
        scores : iterable of array-likes of shape (n,) or (n, K)
            The scores that each model gives to the rows asked about, in the order of `models`.
        """
        pairs = zip(self.maps, scores, strict=True)
        return np.asarray(sum(map_.predict(part) for map_, part in pairs) / len(self.maps))


def calibrate_folds(
    fit_fold: Callable[[Ints], Model],
    score_fold: Callable[[Model, Ints], ArrayLike],
    y: ArrayLike,
    cv: Any = 5,
    *,
    classes: ArrayLike,
    method: str | None = "sigmoid",
    margins: bool = False,
    groups: ArrayLike | None = None,
    copies: NDArray[np.intp] | None = None,
    sample_weight: ArrayLike | None = None,
    rising: bool = False,
    ensemble: bool = True,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    ended: Callable[[], bool] | None = None,
    announce: Callable[[Folds], Any] | None = None,
) -> CalibratedScores:
    """Train on folds, calibrate on the rows that each one left out.

    Parameters
    ----------
    fit_fold : callable
        ``fit_fold(rows)`` trains on those row numbers, with whatever weights and costs the caller
        holds, and returns a model.
    score_fold : callable
        ``score_fold(model, rows)`` returns scores ``(n,)`` (two classes) or ``(n, K)`` with a
        column for every one of ``classes``, also those that the model did not see.
    y : array-like of shape (n_samples,)
    cv : int, float, splitter or iterable of (train, test), default=5
        As in `calibration_splits`. A float trains on the other rows only (0.5 is the protocol of
        Nikolaou et al.), and leaves ``ensemble`` without meaning.
    classes : array-like of shape (K,)
        All the classes, sorted.
    method : str or None, default="sigmoid"
        A name in `CALIBRATORS`.
    margins : bool, default=False
        Scores are real-valued margins rather than values in [0, 1].
    groups : array-like of shape (n_samples,), optional
        Rows of one group are never on both sides.
    copies : int array of shape (n_samples,), optional
        Copies of a row are never on both sides; as in `calibration_splits`.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the calibration.
    rising : bool, default=False
        Whether probabilities must not fall with scores, as in `ClassCalibration.fit`.
    ensemble : bool, default=True
        True averages the calibrated models of the folds. False trains one model on all the rows
        and calibrates it by the scores that the folds gave to the rows they left out.
    random_state : int, RandomState or None
        Shuffles the rows before they are cut.
    n_jobs : int, optional
        Folds trained at once.
    announce : callable, optional
        Told which rows each fold trains on and leaves out, before the first is trained.
    ended : callable, optional
        Asked after each fold, which are then trained one at a time: True leaves the others out,
        and the folds so far are averaged. Ctrl-C before the end of a fold leaves that one out too.

    Returns
    -------
    CalibratedScores

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.calibration import calibrate_folds
    >>> x = np.linspace(-1, 1, 40)
    >>> y = (x + np.tile([-0.4, 0.4], 20) > 0).astype(int)
    >>> fitted = calibrate_folds(  # the "model" is the mean of x
    ...     lambda rows: x[rows].mean(), lambda mean, rows: x[rows] - mean, y, 4,
    ...     classes=[0, 1], margins=True, random_state=0,
    ... )
    >>> p = fitted.predict_proba(np.array([-1.0, 1.0]) - mean for mean in fitted.models)
    >>> p.shape, bool(p[0, 1] < 0.2), bool(p[1, 1] > 0.8)
    ((2, 2), True, True)
    """
    names = np.asarray(classes)
    labels = encode(names, y, "y").astype(np.uint8 if len(names) <= 256 else np.intp)
    folds = calibration_folds(
        labels,
        cv,
        groups=groups,
        copies=copies,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    if announce is not None:
        announce(folds)
    blank = ClassCalibration(method, len(names), margins=margins)
    if ended is None:
        found = Parallel(n_jobs=n_jobs)(
            delayed(_train_and_score)(fit_fold, score_fold, train, test) for train, test in folds
        )
    else:
        found = _until_ended(fit_fold, score_fold, folds, ended)
    cut_short = len(found) < len(folds) or (ended is not None and ended())
    models, scores = [model for model, _ in found], [score for _, score in found]
    tests = [folds.test(k) for k in range(len(found))]

    def fitted(scores: Floats, rows: Ints) -> ClassCalibration:
        w = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)[rows]
        y, w = labels[rows].astype(np.intp), w.astype(np.float64, copy=False)
        return blank.fit(scores, y, w, rising=rising)

    if ensemble or is_share(cv) or cut_short:
        maps = (fitted(score, test) for score, test in zip(scores, tests, strict=True))
        return CalibratedScores(tuple(models), tuple(maps), len(tests))
    known = [np.isin(labels[test], labels[train]) for train, test in folds]
    if len(np.unique(labels[np.concatenate(tests)[np.concatenate(known)]])) == len(names):
        # The model of all rows knows every class: what a fold says of one that it never saw, it
        # does not.
        scores = [score[own] for score, own in zip(scores, known, strict=True)]
        tests = [test[own] for test, own in zip(tests, known, strict=True)]
    pooled, rows = _pool(scores, tests)
    model = fit_fold(folds.used(len(labels)).astype(np.intp))
    return CalibratedScores((model,), (fitted(pooled, rows),), len(folds))


def calibrate_fitted(
    model: Any,
    scores: ArrayLike,
    y: ArrayLike,
    *,
    classes: ArrayLike,
    method: str | None = "sigmoid",
    margins: bool = False,
    sample_weight: ArrayLike | None = None,
) -> CalibratedScores:
    """Calibrate a model that was trained elsewhere, on rows that it has not seen.

    Parameters
    ----------
    model : object
        What `CalibratedScores` keeps.
    scores : array-like of shape (n_samples,) or (n_samples, K)
        The model's scores of these rows.
    y, classes, method, margins, sample_weight
        As in `calibrate_folds`.

    Returns
    -------
    CalibratedScores

    Examples
    --------
    >>> from costboost.calibration import calibrate_fitted
    >>> fitted = calibrate_fitted("any", [0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1], classes=[0, 1])
    >>> [round(float(p), 3) for p in fitted.predict_proba([[0.2, 0.8]])[:, 1]]
    [0.35, 0.65]
    """
    names = np.asarray(classes)
    blank = ClassCalibration(method, len(names), margins=margins)
    return CalibratedScores((model,), (blank.fit(scores, encode(names, y, "y"), sample_weight),), 0)


def _train_and_score(
    fit_fold: Callable[[Ints], Model],
    score_fold: Callable[[Model, Ints], ArrayLike],
    train: Ints,
    test: Ints,
) -> tuple[Model, Floats]:
    model = fit_fold(train)
    # A copy where it is a column of something larger, which would be held with it.
    return model, np.ascontiguousarray(score_fold(model, test), dtype=np.float64)


def _until_ended(
    fit_fold: Callable[[Ints], Model],
    score_fold: Callable[[Model, Ints], ArrayLike],
    folds: Folds,
    ended: Callable[[], bool],
) -> list[tuple[Model, Floats]]:
    """Train fold after fold, until the user ends it; at least one fold."""
    found: list[tuple[Model, Floats]] = []
    for train, test in folds:
        try:
            found.append(_train_and_score(fit_fold, score_fold, train, test))
        except KeyboardInterrupt:
            if not found:
                raise
            break
        if ended():
            break
    return found


def _pool(scores: Sequence[Floats], tests: Sequence[Ints]) -> tuple[Floats, Ints]:
    """Scores of all folds, one per row: of a row that several folds scored, the first."""
    rows, first = np.unique(np.concatenate(tests), return_index=True)
    return np.concatenate(scores)[first], rows
