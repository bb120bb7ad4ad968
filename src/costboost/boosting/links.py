"""Links: margins -> probabilities, the same bit for bit on every machine; see `_link_kernels`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from costboost.boosting import _link_kernels as kernels

__all__ = ["MAX_ALPHA", "log_sides", "logistic", "softmax"]

Floats = NDArray[np.float64]

# The half log of an error of one ulp: what a perfect learner's vote weighs at most.
MAX_ALPHA = 0.5 * math.log((1 - 2.0**-52) / 2.0**-52)


def logistic(log_odds: Floats) -> Floats:
    """Return the probabilities of two classes, (n, 2), whose log odds are given, (n,).

    Examples
    --------
    >>> logistic(np.array([0.0, np.inf])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    return np.column_stack([expit(-log_odds), expit(log_odds)])  # expit is libm's already


def softmax(logits: ArrayLike) -> Floats:
    """Return the probabilities of K classes, (n, K).

    Examples
    --------
    >>> softmax([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    given = np.ascontiguousarray(logits, dtype=np.float64)
    out = np.empty(given.shape)
    kernels.softmax_rows(given, out)
    return out


def log_sides(shares: ArrayLike) -> Floats:
    """Return ln s and -ln(1 - s), (n, 2), of shares strictly between 0 and 1."""
    given = np.ascontiguousarray(shares, dtype=np.float64)
    out = np.empty((len(given), 2))
    kernels.log_sides(given, out)
    return out
