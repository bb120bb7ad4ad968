"""Squared errors: the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn
from costboost.boosting.gradient.losses.errors import SQUARED, ErrorTerms
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.gradient.starting import WeightedSum
from costboost.shards.grid import rounded
from costboost.shards.local import Shards

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class SquaredLoss(BuiltIn):
    """(y - F)^2 / 2; its best constant is the mean."""

    kind: ClassVar[str] = "squared"

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return half the squared residuals."""
        return np.asarray(0.5 * (raw - y) ** 2)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y."""
        return np.asarray(raw - y)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1."""
        return np.ones_like(raw)

    def bind(self, rows: LossRows) -> ErrorTerms:
        """Return the loss at some rows."""
        return ErrorTerms.of(SQUARED, rows)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the mean."""
        (sums,) = shards.call([WeightedSum()])
        return np.array([rounded(sums[0]) / rounded(sums[1])])
