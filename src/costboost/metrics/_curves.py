"""Sums over the rows above and below a threshold, for all thresholds; the Brier score and curve.

A threshold between two distinct scores decides nothing new, so m distinct scores give m + 1
pieces. Piece 0 lies below every score (all rows called positive), piece k from the k-th score
(included: a row is positive when `score > threshold`) up to the next.

The Brier curve is piecewise linear with a jump at every distinct probability, so it is given by
both ends of every piece: `c = [0, p1, p1, p2, p2, ..., 1]`. Its trapezoid area is then not an
approximation but the Brier score itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from costboost.metrics.prices import (
    check_binary,
    check_labels,
    check_scores,
    check_weights,
    positive_label,
    weighted_mean,
)
from costboost.typing import Floats, Mask


class ErrorSteps(NamedTuple):
    """Weights of the errors on each of the m + 1 pieces between m distinct scores."""

    at: Floats
    false_positive: Floats
    false_negative: Floats
    negatives: float
    positives: float


def group_by_score(score: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the distinct scores in ascending order and the index of each row among them."""
    at, group = np.unique(score, return_inverse=True)
    return at, group.reshape(-1)


def above(values: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Return the sum of values over the rows called positive, on each of the pieces."""
    sums = np.bincount(group, weights=values, minlength=n_groups)
    return np.append(np.cumsum(sums[::-1])[::-1], 0.0)


def below(values: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Return the sum of values over the rows called negative, on each of the pieces."""
    sums = np.bincount(group, weights=values, minlength=n_groups)
    return np.append(0.0, np.cumsum(sums))


def error_steps(positive: Mask, score: Floats, weight: Floats) -> ErrorSteps:
    """Return the errors on each piece."""
    at, group = group_by_score(score)
    false_positive = above(np.where(positive, 0.0, weight), group, len(at))
    false_negative = below(np.where(positive, weight, 0.0), group, len(at))
    # The ends of the two cumulated sums are the class totals: rates reach 1 exactly.
    return ErrorSteps(
        at, false_positive, false_negative, float(false_positive[0]), float(false_negative[-1])
    )


def need_both_classes(steps: ErrorSteps) -> None:
    """Refuse rates of a class that has no rows."""
    if steps.negatives == 0 or steps.positives == 0:
        which = "negative" if steps.negatives == 0 else "positive"
        raise ValueError(
            f"there are no {which} rows (of positive weight), so their error rate is undefined: "
            "this curve needs rows of both classes"
        )


def curve_area(x: Floats, y: Floats) -> float:
    """Return the trapezoid area under a curve, exact when the curve is piecewise linear.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Abscissas in ascending order; a jump repeats one.
    y : array-like of shape (n_points,)
        Ordinates.

    Returns
    -------
    area : float
        The area.

    Examples
    --------
    >>> from costboost.metrics import curve_area
    >>> curve_area([0, 0.5, 0.5, 1], [0, 1, 0, 0])
    0.25
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}: give equal lengths")
    width = np.diff(x)
    if (width < 0).any():
        raise ValueError("x must be in ascending order")
    return float(np.sum(width * (0.5 * y[1:] + 0.5 * y[:-1])))


# ---- Cost curves (Drummond and Holte 2006): every threshold is a line, the best ones an envelope.


def cost_lines(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the line of every threshold in cost space.

    A line runs from `fpr` at `PC(+) = 0` to `fnr` at `PC(+) = 1`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels, with rows of both classes.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of the positive class; only their order matters.
    pos_label : label, default=None
        The positive class; known for 0/1, -1/+1 and booleans.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    fpr : ndarray of shape (n_lines,)
        False positive rate of `score > threshold`, falling from 1 to 0.
    fnr : ndarray of shape (n_lines,)
        False negative rate, rising from 0 to 1.
    thresholds : ndarray of shape (n_lines,)
        Minus infinity (all rows positive), then the distinct scores in ascending order.

    Examples
    --------
    >>> from costboost.metrics import cost_lines
    >>> fpr, fnr, thresholds = cost_lines([0, 0, 1], [0.2, 0.6, 0.4])
    >>> fpr.tolist(), fnr.tolist()
    ([1.0, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 1.0])
    >>> thresholds.tolist()
    [-inf, 0.2, 0.4, 0.6]
    """
    steps = error_steps(*check_binary(y_true, y_score, sample_weight, pos_label))
    need_both_classes(steps)
    return (
        steps.false_positive / steps.negatives,
        steps.false_negative / steps.positives,
        np.append(-np.inf, steps.at),
    )


def lower_hull(x: Floats, y: Floats) -> list[int]:
    """Return the corners of the lower convex hull of points sorted by falling x, rising y."""
    corners: list[int] = []
    for i in range(len(x) - 1, -1, -1):  # rising x
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) > (y[b] - y[a]) * (x[i] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return corners


def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the cost curve: the lowest normalised cost any threshold reaches, at every cost ratio.

    It is the lower envelope of :func:`cost_lines` (the ROC convex hull seen in cost space) and
    never exceeds `min(PC, 1 - PC)`, the cost of deciding without looking.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels, with rows of both classes.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of the positive class; only their order matters.
    pos_label : label, default=None
        The positive class; known for 0/1, -1/+1 and booleans.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    pc : ndarray of shape (n_points,)
        `PC(+)` at the corners of the envelope, from 0 to 1. The curve is linear between them, so
        that :func:`curve_area` is exact.
    loss : ndarray of shape (n_points,)
        Normalised expected cost there.

    Examples
    --------
    >>> from costboost.metrics import cost_curve
    >>> pc, loss = cost_curve([0, 0, 1], [0.2, 0.6, 0.4])
    >>> pc.round(4).tolist(), loss.round(4).tolist()
    ([0.0, 0.3333, 1.0], [0.0, 0.3333, 0.0])
    """
    steps = error_steps(*check_binary(y_true, y_score, sample_weight, pos_label))
    need_both_classes(steps)
    # Sums of weights, not rates: they are exact for counts, so points on a line stay on it.
    corners = lower_hull(steps.false_positive, steps.false_negative)
    fpr = steps.false_positive / steps.negatives
    fnr = steps.false_negative / steps.positives
    # From the corner that is best at PC = 0 (no false positives) to that at PC = 1.
    fpr, fnr = fpr[corners], fnr[corners]
    # A corner right above another, or level with the one before, is never the only cheapest.
    keep = np.append(fpr[1:] > fpr[:-1], True) & np.append(True, fnr[1:] < fnr[:-1])
    fpr, fnr = fpr[keep], fnr[keep]
    rise, fall = np.diff(fpr), -np.diff(fnr)
    meet = np.maximum.accumulate(rise / (rise + fall))  # corners on a line may meet out of order
    pc, line = np.unique(np.concatenate([[0.0], meet, [1.0]]), return_index=True)
    line = np.minimum(line, len(fpr) - 1)
    return pc, fnr[line] * pc + fpr[line] * (1.0 - pc)


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
