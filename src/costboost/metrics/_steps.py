"""What changes as a threshold moves: sums over the rows above it and below it.

A threshold between two distinct scores decides nothing new, so m distinct scores give m + 1
pieces. Piece 0 lies below every score (all rows called positive), piece k from the k-th score
(included: a row is positive when `score > threshold`) up to the next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.checks import Bools, Floats


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


def error_steps(positive: Bools, score: Floats, weight: Floats) -> ErrorSteps:
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
