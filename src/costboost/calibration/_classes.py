"""Scores of K classes -> probabilities, by calibrators of one score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

Floats = NDArray[np.float64]

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
