"""What the losses of an error F - y share: targets, prices and weights, and one pair of kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.rows import EVERY, BoundLoss, LossRows, Read

Floats = NDArray[np.float64]

# The kernels' numbers, in the order in which they declare them.
SQUARED, PINBALL, HUBER = range(3)
_ZERO = np.zeros(1)


@dataclass(frozen=True)
class ErrorTerms(BoundLoss):
    """A loss of F - y at some rows: its number in the kernels, targets, prices and weights."""

    number: int
    targets: Floats
    over: Floats
    under: Floats
    weights: Floats

    @classmethod
    def of(
        cls, number: int, rows: LossRows, over: Floats = _ZERO, under: Floats = _ZERO
    ) -> ErrorTerms:
        """Bind rows."""
        weights = np.zeros(0) if rows.weights is None else rows.weights
        return cls(number, np.asarray(rows.y, dtype=float), over, under, weights)

    def _rows(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.targets, self.over, self.under, self.weights

    @property
    def depth(self) -> int:
        """A core."""
        return 1

    def derive(self, margins: Floats, total: float, derived: Floats) -> Floats:
        """Write what derivatives are read from; return the largest of both, (1, 2)."""
        largest = np.zeros((1, 2))
        kernels.error_cores(self.number, margins, *self._rows(), derived[0, 0], largest)
        return largest

    def read(self, derived: Floats, output: int) -> Read:
        """Return the derivatives as kernels take them."""
        return self.number, derived[0, 0], 0, EVERY, False, self.over, self.weights

    def write_values(self, margins: Floats, values: Floats) -> float:
        """Write every row's weighted loss; return the largest."""
        return float(kernels.regression_values(self.number, margins, *self._rows(), values))
