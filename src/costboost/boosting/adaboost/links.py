"""From margins to probabilities: the link of a method's loss, and the share of its votes.

A loss w+ p exp(-r+ F) + w- (1 - p) exp(r- F) is least at F = ln(w+ p / (w- (1 - p))) / (r+ + r-).
So 1 / (1 + exp(-(r+ + r-) F)) is w+ p / (w+ p + w- (1 - p)): the probability of the second class
among rows counted w times, which for a method without costs is p itself (Friedman, Hastie and
Tibshirani 2000: r = 1; Masnadi-Shirazi and Vasconcelos 2011: r = c).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.links import logistic, softmax

Floats = NDArray[np.float64]


def link(margins: Floats, slope: float = 2.0) -> Floats:
    """Return the probabilities that a loss assigns to margins, (n, K).

    `slope` is r+ + r-; 2 for the plain exponential loss, whose minimiser is half the log odds, and
    for K classes SAMME's softmax of twice the votes.
    """
    scaled = slope * margins
    return logistic(scaled[:, 0]) if scaled.shape[1] == 1 else softmax(scaled)


def vote_shares(margins: Floats, total_alpha: float) -> Floats:
    """Return each class's share of the votes, (n, K): s = sum_{h = k} alpha / sum alpha."""
    if margins.shape[1] == 1:
        share = np.clip(0.5 * (1.0 + margins[:, 0] / total_alpha), 0.0, 1.0)
        return np.column_stack([1.0 - share, share])
    total = margins.sum(axis=1, keepdims=True)
    uniform = np.full(margins.shape, 1.0 / margins.shape[1])  # where nobody has voted
    return np.asarray(np.divide(margins, total, out=uniform, where=total > 0.0))


def scores_of(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return what is calibrated: shares of discrete votes, else margins.

    Two classes: (n,), for the second one; more: (n, K).
    """
    scores = vote_shares(margins, total_alpha) if shares else margins
    return scores[:, -1] if margins.shape[1] == 1 else scores


def voted_proba(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return what AdaMEC prices: shares of votes, or the link where votes are leaf values.

    Real and Gentle AdaBoost's leaves are not counted by alpha: their margins have no share.
    """
    return vote_shares(margins, total_alpha) if shares else link(margins)
