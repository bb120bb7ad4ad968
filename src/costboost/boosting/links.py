"""Links: margins -> probabilities, the same bit for bit on every machine; see `_link_kernels`.

And `choices_of`, where margins decide without any.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from costboost.boosting import _link_kernels as kernels
from costboost.typing import Floats, Int64

__all__ = [
    "MAX_ALPHA",
    "choices_of",
    "link",
    "log_sides",
    "logistic",
    "normalised",
    "softmax",
    "vote_shares",
]


# The half log of an error of one ulp: what a perfect learner's vote weighs at most.
MAX_ALPHA = 0.5 * math.log((1 - 2.0**-52) / 2.0**-52)


def choices_of(margins: Floats) -> Int64:
    """Return the class of every row by its margins alone, (n, 1) or (n, K), without costs.

    The sign of one margin (ties: the first class), or the largest of K (ties: the first).

    Examples
    --------
    >>> choices_of(np.array([[0.0], [0.1]])).tolist()
    [0, 1]
    >>> choices_of(np.array([[2.0, 3.0, 3.0]])).tolist()
    [1]
    """
    if margins.shape[1] == 1:
        return (margins[:, 0] > 0.0).astype(np.int64)
    return np.asarray(np.argmax(margins, axis=1), dtype=np.int64)


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


def link(margins: Floats, slope: float = 2.0) -> Floats:
    """Return the probabilities that a loss assigns to margins (n, 1) or (n, K), (n, K).

    `slope` is r+ + r-; 2 for the plain exponential loss, whose minimiser is half the log odds, and
    for K classes SAMME's softmax of twice the votes.
    """
    scaled = slope * margins
    return logistic(scaled[:, 0]) if scaled.shape[1] == 1 else softmax(scaled)


def vote_shares(margins: Floats, total_alpha: float) -> Floats:
    """Return each class's share of the votes, (n, K): s = sum_{h = k} alpha / sum alpha."""
    if margins.shape[1] > 1:
        return normalised(margins)
    share = np.clip(0.5 * (1.0 + margins[:, 0] / total_alpha), 0.0, 1.0)
    return np.column_stack([1.0 - share, share])


def normalised(scores: Floats) -> Floats:
    """Return scores with rows scaled to sum 1; a row of zeros becomes uniform.

    Examples
    --------
    >>> normalised(np.array([[0.25, 0.25], [0.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full(scores.shape, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, total, out=uniform, where=total > 0.0))
