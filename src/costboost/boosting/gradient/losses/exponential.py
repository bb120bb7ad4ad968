"""AdaBoost's loss, and the numbers of every row that exponential losses share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn, signs
from costboost.boosting.gradient.losses.classes import EXPONENTIAL, ClassTerms
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.gradient.starting import log_shares
from costboost.shards.local import Shards

Floats = NDArray[np.float64]
Array = NDArray[Any]

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels


@dataclass(frozen=True)
class ExponentialTerms:
    """Numbers a, b, w0 of every row: (n,) for two classes, (n, K) against each wrong class.

    `total` is A, the sum of the steps so far: F = sum alpha f, and b is multiplied by sum alpha.
    """

    labels: NDArray[np.int64]
    a: Floats
    b: Floats
    w0: Floats
    total: float = 0.0

    def powers(self, raw: Floats) -> Floats:
        """Return w0 exp(-(a F + b A)); for K classes with F_y - F_k for F, and 0 at the label."""
        if raw.ndim == 1:
            z = -(self.a * raw + self.b * self.total)
            return np.asarray(self.w0 * np.exp(np.minimum(z, _STEEP)))
        rows = np.arange(len(raw))
        z = -(self.a * (raw[rows, self.labels][:, None] - raw) + self.b * self.total)
        powers = self.w0 * np.exp(np.minimum(z, _STEEP))
        powers[rows, self.labels] = 0.0
        return np.asarray(powers)

    def value(self, raw: Floats) -> Floats:
        """Return the loss of every row."""
        powers = self.powers(raw)
        return powers if raw.ndim == 1 else np.asarray(powers.sum(axis=1))

    def gradient(self, raw: Floats) -> Floats:
        """Return -a z, z the powers; for K classes a z, and minus their sum at the label."""
        if raw.ndim == 1:
            return np.asarray(-self.a * self.powers(raw))
        gradients = self.a * self.powers(raw)
        gradients[np.arange(len(raw)), self.labels] = -gradients.sum(axis=1)
        return np.asarray(gradients)

    def hessian(self, raw: Floats) -> Floats:
        """Return a^2 z; for K classes their sum at the label."""
        hessians = self.a**2 * self.powers(raw)
        if raw.ndim == 2:
            hessians[np.arange(len(raw)), self.labels] = hessians.sum(axis=1)
        return np.asarray(hessians)


@dataclass(frozen=True)
class ExponentialLoss(BuiltIn):
    """exp(-y F), AdaBoost's loss; for K classes the sum over k != y of exp(F_k - F_y).

    The minimiser is half the log odds (for K classes, up to a constant, half the log of each
    class's probability), so that probabilities are the logistic function or softmax of 2 F.
    """

    kind: ClassVar[str] = "exponential"
    odds: ClassVar[float] = 2.0

    def _terms(self, y: Array, raw: Floats) -> ExponentialTerms:
        a = signs(y) if raw.ndim == 1 else np.ones_like(raw)
        labels = np.asarray(y, dtype=np.int64)
        return ExponentialTerms(labels, a, np.zeros_like(raw), np.ones_like(raw))

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the loss of every row."""
        return self._terms(y, raw).value(raw)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return its derivative."""
        return self._terms(y, raw).gradient(raw)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return its second derivative."""
        return self._terms(y, raw).hessian(raw)

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        return ClassTerms.plain(EXPONENTIAL, rows, sign=1.0)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return half the log odds, or half the centred logs of the classes' shares."""
        return log_shares(shards, n_outputs) / self.odds
