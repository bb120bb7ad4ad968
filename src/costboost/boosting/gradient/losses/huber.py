"""Huber's loss: squared errors near, absolute ones far away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn
from costboost.boosting.gradient.losses.errors import HUBER, ErrorTerms
from costboost.boosting.gradient.minimisers import huber_delta
from costboost.boosting.gradient.rows import LossRows
from costboost.inputs.checks import check_number

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class HuberLoss(BuiltIn):
    """Squared up to `delta`, linear beyond: r^2 / 2, else delta (|r| - delta / 2)."""

    delta: float = 1.0
    kind: ClassVar[str] = "huber"
    smooth: ClassVar[bool] = False
    least_squares: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> HuberLoss:
        """Return the loss of the parameter `delta`; None is chosen by the targets."""
        if params.delta is None:
            return cls(huber_delta(y, weights))
        check_number("delta", params.delta, low=0.0, open_low=True)
        return cls(float(params.delta))

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the loss of every row."""
        r = np.abs(raw - y)
        return np.where(r <= self.delta, 0.5 * r**2, self.delta * (r - 0.5 * self.delta))

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y, cut at delta."""
        return np.clip(raw - y, -self.delta, self.delta)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1 within delta, 0 beyond."""
        return (np.abs(raw - y) <= self.delta).astype(float)

    def bind(self, rows: LossRows) -> ErrorTerms:
        """Return the loss at some rows."""
        return ErrorTerms.of(HUBER, rows, np.array([float(self.delta)]))
