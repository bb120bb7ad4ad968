"""Inputs of the measures: weights, binary labels and scores, as clean float64 arrays.

Every measure here is a ratio of sums over rows. Sums are taken after dividing by a power of two
near the largest term, which is exact, so costs of 1e-300 or 1e300 neither vanish nor overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from costboost.inputs.arrays import missing_in, read_weights
from costboost.inputs.checks import USUAL, usual_positive
from costboost.typing import Floats, Mask


def power_of_two(values: Floats) -> float:
    """Return the power of two just below the largest magnitude (1 if all are zero)."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return weights of shape `(n_samples,)`, scaled exactly so that the largest is in [1, 2)."""
    if n_samples == 0:
        raise ValueError("y_true is empty: a measure needs at least one row")
    weight = read_weights(sample_weight, n_samples)
    return weight / power_of_two(weight)


def check_labels(y: ArrayLike, name: str = "y_true") -> NDArray[Any]:
    """Return labels of shape `(n_samples,)`, without missing values."""
    labels: NDArray[Any] = column_or_1d(np.asarray(y))
    if missing_in(labels).any():
        raise ValueError(f"{name} holds missing values: every row needs a label")
    return labels


def weighty(weight: Floats, *arrays: Floats) -> tuple[Floats, ...]:
    """Return the rows of positive weight: others must not even influence the scale of a sum."""
    kept = weight > 0
    return arrays if kept.all() else tuple(array[kept] for array in arrays)


def weighted_mean(values: Floats, weight: Floats) -> float:
    """Return `sum(weight * values) / sum(weight)` without overflow."""
    values, weight = weighty(weight, values, weight)
    scale = power_of_two(values)
    return float(np.sum(values / scale * weight) / np.sum(weight)) * scale


def positive_label(y: NDArray[Any], pos_label: Any = None) -> Any:
    """Return the positive class of binary labels: the one given, or that of 0/1, -1/+1, bools."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(f"y_true has {len(classes)} classes, but this measure is for two")
    if pos_label is not None:
        if len(classes) == 2 and pos_label not in classes.tolist():
            raise ValueError(f"pos_label={pos_label!r} is not one of {classes.tolist()}")
        return pos_label
    usual = usual_positive(classes)
    if usual is not None:
        return usual
    if len(classes) == 1 and classes.dtype.kind in "biuf" and classes[0] in (-1, 0, 1):
        return 1
    raise ValueError(
        f"y_true has the labels {classes.tolist()}, which do not tell which is positive (that is "
        f"known for {USUAL} only): say so with pos_label="
    )


def check_scores(y_score: ArrayLike, n_samples: int, *, probability: bool = False) -> Floats:
    """Return finite scores of shape `(n_samples,)`, within [0, 1] if they are probabilities."""
    score = np.asarray(y_score, dtype=np.float64)
    if score.ndim != 1:
        raise ValueError(
            f"scores have shape {score.shape}: give one per row, that of the positive class "
            "(for example predict_proba(X)[:, 1])"
        )
    if len(score) != n_samples:
        raise ValueError(f"there are {len(score)} scores for {n_samples} rows: give one per row")
    if not np.isfinite(score).all():
        raise ValueError("scores hold infinite or missing values: give finite ones")
    if probability and ((score < 0) | (score > 1)).any():
        raise ValueError(
            f"probabilities range from {score.min()} to {score.max()}: they must be within [0, 1] "
            "(calibrate scores first)"
        )
    return score


def check_binary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    *,
    probability: bool = False,
) -> tuple[Mask, Floats, Floats]:
    """Return `(is_positive, score, weight)`, without the rows of weight zero."""
    y = check_labels(y_true)
    check_consistent_length(y, y_score)
    weight = check_weights(sample_weight, len(y))
    score = check_scores(y_score, len(y), probability=probability)
    positive = np.asarray(y == positive_label(y, pos_label), dtype=np.bool_)
    kept = weight > 0
    return positive[kept], score[kept], weight[kept]
