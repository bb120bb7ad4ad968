"""Sums over the rows above and below a threshold, for all thresholds.

A threshold between two distinct scores decides nothing new, so m distinct scores give m + 1
pieces. Piece 0 lies below every score (all rows called positive), piece k from the k-th score
(included: a row is positive when `score > threshold`) up to the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.metrics.prices import check_binary
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
