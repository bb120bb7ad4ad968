"""Train on some rows, calibrate on others: the loop, without the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from costboost.calibration._folds import calibration_folds, is_share
from costboost.calibration.calibrators import (
    CALIBRATORS,
    Beta,
    BiasCorrected,
    ClassBiases,
    Sigmoid,
    Temperature,
    finite,
    unit_interval,
)
from costboost.inputs.arrays import encode
from costboost.shards.layout import Folds
from costboost.typing import AnyInts, Floats

# Scores of K classes -> probabilities, by calibrators of one score

_OF_MARGINS = (Beta, BiasCorrected, ClassBiases, Temperature)  # which know margins from shares


@dataclass(frozen=True)
class ClassCalibration:
    """Scores of K classes -> probabilities ``(n, K)``.

    Two classes have one calibrator, for the second; more have one per class against the rest, and
    rows are divided by their sum (uniform where all are 0, as in scikit-learn). "temperature", and
    for more than two classes "bias-corrected" (`ClassBiases`), treat all classes at once. A class
    without a row among those it is fitted on gets a small probability (`Sigmoid`) or none (the
    others).

    Parameters
    ----------
    method : str or None
        A name in `CALIBRATORS`.
    n_classes : int
    margins : bool, default=False
        Scores are real-valued margins rather than values in [0, 1].
    calibrators : tuple
        Filled by `fit`.

    Examples
    --------
    >>> from costboost.calibration import ClassCalibration
    >>> scores = [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    >>> fitted = ClassCalibration("sigmoid", 3).fit(scores, [0, 1, 2, 0])
    >>> [round(float(p), 3) for p in fitted.predict(scores).sum(axis=1)]
    [1.0, 1.0, 1.0, 1.0]
    """

    method: str | None
    n_classes: int
    margins: bool = False
    calibrators: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.method not in CALIBRATORS:
            names = ", ".join(repr(name) for name in CALIBRATORS)
            raise ValueError(f"calibration={self.method!r} is unknown: use one of {names}.")
        if self.method is None and self.margins:
            raise ValueError(
                "Margins are not probabilities: calibration=None needs scores in [0, 1]; name a "
                "calibration such as 'sigmoid'."
            )

    @property
    def kind(self) -> type[Any] | None:
        """The type of the calibrators."""
        if self.method == "bias-corrected" and self.n_classes > 2:
            return ClassBiases
        return CALIBRATORS[self.method]

    @property
    def joint(self) -> bool:
        """Whether one calibrator treats all classes at once."""
        return self.kind in (Temperature, ClassBiases)

    def fit(
        self,
        scores: ArrayLike,
        codes: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        rising: bool = False,
    ) -> ClassCalibration:
        """Return the map fitted to scores ``(n,)`` or ``(n, K)`` and class numbers 0 .. K - 1.

        ``rising`` keeps maps from falling that could: those of Platt's kind, all others do not.
        """
        columns, y = self._columns(scores), np.asarray(codes)
        kind = self.kind
        if kind is None or self.n_classes == 1:
            return self
        blank = kind(margins=self.margins) if kind in _OF_MARGINS else kind()
        if self.joint:
            return replace(self, calibrators=(blank.fit(columns, y, sample_weight),))
        first = 1 if self.n_classes == 2 else 0
        how = {"rising": rising} if isinstance(blank, Sigmoid) else {}
        fitted = (
            blank.fit(column, y == first + k, sample_weight, **how)
            for k, column in enumerate(columns.T)
        )
        return replace(self, calibrators=tuple(fitted))

    def predict(self, scores: ArrayLike) -> Floats:
        """Return probabilities ``(n, K)``, rows summing to 1."""
        columns = self._columns(scores)
        if self.n_classes == 1:
            return np.ones((len(columns), 1))
        if self.method is None:
            p = unit_interval(columns)
        elif self.joint:
            p = self.calibrators[0].predict(columns)
        else:
            pairs = zip(self.calibrators, columns.T, strict=True)
            p = np.stack([calibrator.predict(column) for calibrator, column in pairs], axis=1)
        return np.concatenate([1 - p, p], axis=1) if p.shape[1] == 1 else _normalised(p)

    def _columns(self, scores: ArrayLike) -> Floats:
        """One column per calibrator: 1 for two classes unless all are treated at once."""
        s = finite(scores, columns=True)
        wide = s.ndim == 2 and s.shape[1] > 1
        if s.shape[1] != self.n_classes if wide else self.n_classes > 2:
            raise ValueError(
                f"Scores of shape {s.shape} do not fit {self.n_classes} classes: give one column "
                "per class."
            )
        if wide and self.n_classes == 2 and self.method not in (None, "temperature"):
            s = s[:, 1] - s[:, 0] if self.margins else s[:, 1]
        if self.method == "temperature" and not wide:
            s = s.ravel()
            return np.column_stack([-s / 2, s / 2] if self.margins else [1 - s, s])
        return s.reshape(len(s), -1)


def _normalised(p: Floats) -> Floats:
    total = p.sum(axis=1, keepdims=True)
    normalised: Floats = np.divide(p, total, out=np.full_like(p, 1 / p.shape[1]), where=total > 0)
    return normalised


Model = TypeVar("Model")


@dataclass(frozen=True)
class CalibratedScores:
    """Fitted models, each with the map from its scores to probabilities.

    `calibrate_folds` makes it; an estimator keeps it, for the probabilities of new rows.

    Parameters
    ----------
    models : tuple
        What ``fit_fold`` returned: one per fold, or the one trained last.
    maps : tuple of ClassCalibration
        One per model.
    n_folds : int
        How many folds were cut: fewer than asked for where a class had fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.calibration import calibrate_folds
    >>> rng = np.random.default_rng(0)
    >>> score, y = rng.normal(size=200), rng.integers(2, size=200)
    >>> found = calibrate_folds(
    ...     lambda rows: None, lambda model, rows: score[rows], y, 4, classes=[0, 1], random_state=0
    ... )
    >>> len(found.models), len(found.maps), found.n_folds
    (4, 4, 4)
    """

    models: tuple[Any, ...]
    maps: tuple[ClassCalibration, ...]
    n_folds: int

    def predict_proba(self, scores: Iterable[ArrayLike]) -> Floats:
        """Return the mean over the models of their calibrated probabilities, ``(n, K)``.

        Parameters
        ----------
        scores : iterable of array-likes of shape (n,) or (n, K)
            The scores that each model gives to the same rows, in the order of `models`.
        """
        pairs = zip(self.maps, scores, strict=True)
        return np.asarray(sum(map_.predict(part) for map_, part in pairs) / len(self.maps))


def calibrate_folds(
    fit_fold: Callable[[AnyInts], Model],
    score_fold: Callable[[Model, AnyInts], ArrayLike],
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
    judge: Callable[[AnyInts, Floats], Any] | None = None,
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
        Called with the folds before the first is trained.
    ended : callable, optional
        Called after each fold, which are then trained one at a time: True leaves the others out,
        and the folds so far are averaged. Ctrl-C before the end of a fold leaves that one out too.
    judge : callable, optional
        Called with the numbers of the rows that the folds left out, and their calibrated
        probabilities, ``(n, K)``.

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

    def fitted(scores: Floats, rows: AnyInts) -> ClassCalibration:
        w = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)[rows]
        y, w = labels[rows].astype(np.intp), w.astype(np.float64, copy=False)
        return blank.fit(scores, y, w, rising=rising)

    if ensemble or is_share(cv) or cut_short:
        maps = tuple(fitted(score, test) for score, test in zip(scores, tests, strict=True))
        if judge is not None:
            proba = [map_.predict(score) for map_, score in zip(maps, scores, strict=True)]
            judge(np.concatenate(tests), np.concatenate(proba))
        return CalibratedScores(tuple(models), maps, len(tests))
    known = [np.isin(labels[test], labels[train]) for train, test in folds]
    if len(np.unique(labels[np.concatenate(tests)[np.concatenate(known)]])) == len(names):
        # The model of all rows knows every class: scores of rows whose class a fold never saw say
        # nothing about it.
        scores = [score[own] for score, own in zip(scores, known, strict=True)]
        tests = [test[own] for test, own in zip(tests, known, strict=True)]
    pooled, rows = _pool(scores, tests)
    map_ = fitted(pooled, rows)
    if judge is not None:
        judge(rows, map_.predict(pooled))
    model = fit_fold(folds.used(len(labels)).astype(np.intp))
    return CalibratedScores((model,), (map_,), len(folds))


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
    fit_fold: Callable[[AnyInts], Model],
    score_fold: Callable[[Model, AnyInts], ArrayLike],
    train: AnyInts,
    test: AnyInts,
) -> tuple[Model, Floats]:
    model = fit_fold(train)
    # A copy where it is a column of something larger, which would be held with it.
    return model, np.ascontiguousarray(score_fold(model, test), dtype=np.float64)


def _until_ended(
    fit_fold: Callable[[AnyInts], Model],
    score_fold: Callable[[Model, AnyInts], ArrayLike],
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


def _pool(scores: Sequence[Floats], tests: Sequence[AnyInts]) -> tuple[Floats, AnyInts]:
    """Scores of all folds, one per row: of a row that several folds scored, the first."""
    rows, first = np.unique(np.concatenate(tests), return_index=True)
    return np.concatenate(scores)[first], rows
