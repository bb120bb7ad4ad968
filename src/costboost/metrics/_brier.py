"""The Brier score, its class-wise parts and the Brier curve.

The curve is piecewise linear with a jump at every distinct probability, so it is given by both
ends of every piece: `c = [0, p1, p1, p2, p2, ..., 1]`. Its trapezoid area is then not an
approximation but the Brier score itself. A row is called positive when `p > c`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from costboost.metrics._curves import error_steps, need_both_classes
from costboost.metrics.prices import (
    check_binary,
    check_labels,
    check_scores,
    check_weights,
    positive_label,
    weighted_mean,
)
from costboost.typing import Floats


def _wide(
    y: NDArray[Any], y_proba: ArrayLike, labels: ArrayLike | None, pos_label: Any
) -> tuple[NDArray[Any], Floats]:
    """Return the classes (K,) and probabilities (n, K) of binary or K-class input."""
    proba = np.asarray(y_proba, dtype=np.float64)
    if proba.ndim == 1:
        p = check_scores(proba, len(y), probability=True)
        positive = positive_label(y, pos_label)
        others = [label for label in np.unique(y).tolist() if label != positive]
        # With a single class present the other's name never matters: no row carries it.
        return np.array([others[0] if others else None, positive], dtype=object), np.stack(
            [1 - p, p], axis=1
        )
    classes = np.unique(y) if labels is None else np.asarray(labels)
    if proba.ndim != 2 or proba.shape != (len(y), len(classes)):
        raise ValueError(
            f"probabilities have shape {proba.shape}, but {len(y)} rows and the classes "
            f"{classes.tolist()} need {(len(y), len(classes))}: name the columns with labels="
        )
    if not np.isfinite(proba).all() or (proba < 0).any() or (proba > 1).any():
        raise ValueError("probabilities must be finite and within [0, 1]")
    if not np.allclose(proba.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError("the probabilities of each row must add up to 1")
    unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise ValueError(f"y_true has labels {unknown} that are not among labels={classes}")
    return classes, proba


def _row_losses(
    y_true: ArrayLike, y_proba: ArrayLike, labels: ArrayLike | None, pos_label: Any
) -> tuple[NDArray[np.bool_], Floats]:
    """Return membership (n, K) and the loss of each row, half the squared distance to its label."""
    y = check_labels(y_true)
    check_consistent_length(y, y_proba)
    if len(y) == 0:
        raise ValueError("y_true is empty: a measure needs at least one row")
    classes, proba = _wide(y, y_proba, labels, pos_label)
    member = np.stack([np.asarray(y == label, dtype=np.bool_) for label in classes], axis=1)
    return member, 0.5 * np.sum((proba - member) ** 2, axis=1)


def brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the Brier score, the mean squared error of probabilities (lower is better).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probability of the positive class, or of every class. With several columns the score is
        half the mean squared distance to the one-hot label, so that two columns and one agree.
    labels : array-like of shape (n_classes,), default=None
        The class of each column; by default the sorted classes of `y_true`.
    pos_label : label, default=None
        The positive class of one-dimensional `y_proba`; known for 0/1, -1/+1 and booleans.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    score : float
        Between 0 (certain and right) and 1 (certain and wrong).

    Examples
    --------
    >>> from costboost.metrics import brier_score
    >>> round(brier_score([0, 1, 1], [0.5, 0.5, 1.0]), 4)
    0.1667
    """
    _, losses = _row_losses(y_true, y_proba, labels, pos_label)
    return weighted_mean(losses, check_weights(sample_weight, len(losses)))


def brier_score_by_class(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Return the Brier score among the rows of each class.

    The Brier score is their mean weighted by the share of each class; half their sum, for two
    classes, is the area under the Brier curve in its skew form.

    Parameters
    ----------
    y_true, y_proba, labels, pos_label, sample_weight
        As for :func:`brier_score`.

    Returns
    -------
    parts : ndarray of shape (n_classes,)
        One value per class, `[negative, positive]` for one-dimensional `y_proba`; nan for a class
        without rows.

    Examples
    --------
    >>> from costboost.metrics import brier_score_by_class
    >>> brier_score_by_class([0, 1, 1], [0.5, 0.5, 1.0]).tolist()
    [0.25, 0.125]
    """
    member, losses = _row_losses(y_true, y_proba, labels, pos_label)
    weights = check_weights(sample_weight, len(losses))
    # Of any unit: neither sums of the heaviest nor products with the lightest leave the range.
    weights = np.ldexp(weights, -int(np.frexp(float(np.max(weights)))[1]))
    weight = weights[:, None] * member
    size = weight.sum(axis=0)
    parts = np.full(member.shape[1], np.nan)
    np.divide(losses @ weight, size, out=parts, where=size > 0)
    return parts


def brier_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    skew: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the Brier curve: the loss at every cost ratio when the threshold is that ratio.

    At `c = fp / (fp + fn)` rows with `p > c` are called positive, and the loss is
    `2 (c pi_neg FPR(c) + (1 - c) pi_pos FNR(c))`, the mean cost with `fp + fn = 2`
    (Hernandez-Orallo, Flach and Ferri 2011). Its area is the Brier score, exactly. In the skew
    form the horizontal axis is `z = pi_neg fp / (pi_neg fp + pi_pos fn)`, the loss is
    `z FPR(z) + (1 - z) FNR(z)` (Q of Nikolaou et al. 2016), and the area is half the sum of the
    class-wise Brier scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_proba : array-like of shape (n_samples,)
        Probability of the positive class.
    skew : bool, default=False
        Whether to return the skew form, which needs rows of both classes.
    pos_label : label, default=None
        The positive class; known for 0/1, -1/+1 and booleans.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    c : ndarray of shape (n_points,)
        Cost ratios from 0 to 1, each jump given twice: its left side, then its right side.
    loss : ndarray of shape (n_points,)
        The loss there.

    Examples
    --------
    >>> from costboost.metrics import brier_curve, brier_score, curve_area
    >>> c, loss = brier_curve([0, 1], [0.25, 0.5])
    >>> c.tolist()
    [0.0, 0.25, 0.25, 0.5, 0.5, 1.0]
    >>> loss.tolist()
    [0.0, 0.25, 0.0, 0.0, 0.5, 0.0]
    >>> curve_area(c, loss) == brier_score([0, 1], [0.25, 0.5])
    True
    """
    steps = error_steps(*check_binary(y_true, y_proba, sample_weight, pos_label, probability=True))
    edges = np.concatenate([[0.0], steps.at, [1.0]])
    false_positive, false_negative = steps.false_positive, steps.false_negative
    if edges[1] == 0.0:  # p > c never calls p = 0 positive: nothing lies left of that jump
        edges, false_positive, false_negative = edges[1:], false_positive[1:], false_negative[1:]
    c = np.repeat(edges, 2)[1:-1]
    if skew:
        need_both_classes(steps)
        false_positive = false_positive / steps.negatives
        false_negative = false_negative / steps.positives
        factor = 1.0
    else:
        factor = 2.0 / (steps.negatives + steps.positives)
    fp, fn = np.repeat(false_positive, 2), np.repeat(false_negative, 2)
    return c, factor * (c * fp + (1.0 - c) * fn)
