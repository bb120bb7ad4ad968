"""Log loss: the likelihood of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp, softmax

from costboost.boosting.gradient.losses.base import BuiltIn, one_hot, signs
from costboost.boosting.gradient.losses.classes import LOG, ClassTerms
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.gradient.starting import log_shares
from costboost.shards.local import Shards

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class LogLoss(BuiltIn):
    """Minus the log of the true class's probability; F is the log odds, or the softmax's input.

    With Newton leaves this is LogitBoost (Friedman, Hastie and Tibshirani 2000), up to their
    factor of 2 in F.
    """

    kind: ClassVar[str] = "log"

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the cross-entropy of every row."""
        if raw.ndim == 1:
            return np.asarray(-log_expit(signs(y) * raw))
        return np.asarray(logsumexp(raw, axis=1) - raw[np.arange(len(raw)), y])

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return p - [y = k]."""
        if raw.ndim == 1:
            return np.asarray(-signs(y) * expit(-signs(y) * raw))
        return np.asarray(softmax(raw, axis=1) - one_hot(y, raw.shape[1]))

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return p (1 - p)."""
        p = expit(raw) if raw.ndim == 1 else softmax(raw, axis=1)
        return np.asarray(p * (1 - p))

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        return ClassTerms.plain(LOG, rows)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the log odds, or the centred logs of the classes' shares."""
        return log_shares(shards, n_outputs) / self.odds
