"""Inputs of the measures, checked; prices of decisions, and the sums that measures are made of.

Every measure is a ratio of sums over rows. Sums are taken after dividing by a power of two near the
largest term, which is exact, so costs of 1e-300 or 1e300 neither vanish nor overflow.

Costs are bound once to the classes at hand; from there on a measure sees the *prices*, shape
(n, A), of every action on every row given its true label, and the *paid* costs, shape (n,), of the
actions taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from costboost.costs import Costs, as_costs
from costboost.costs.binding import named
from costboost.inputs.arrays import encode, missing_in, read_numbers, read_weights
from costboost.inputs.checks import USUAL, usual_positive
from costboost.typing import Floats, Mask

# ---- Weights, binary labels and scores as clean float64 arrays.


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


def read_target(values: ArrayLike, name: str = "y_true") -> Floats:
    """Read numbers, (n_samples,)."""
    return read_numbers(column_or_1d(np.asarray(values)), name, negative=True)


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


# ---- Rows of arrays, data frames, lists and costs.


def has_rows(value: Any, n_samples: int) -> bool:
    """Return whether a parameter holds one value for each row."""
    if isinstance(value, str | bytes | Mapping):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and bool(shape[0] == n_samples)
    return hasattr(value, "__len__") and len(value) == n_samples


def take_rows(value: Any, rows: NDArray[np.intp], n_samples: int) -> Any:
    """Return these rows of a value that has one for each; anything else as it is."""
    if isinstance(value, Costs):
        return value[rows]
    return _safe_indexing(value, rows) if has_rows(value, n_samples) else value


def _both_of(label: Any, costs: Costs) -> NDArray[Any]:
    """Return two classes when only one occurs, so that costs for two classes still apply."""
    if isinstance(label, bool):
        return np.array([False, True])
    if label in (-1, 0, 1):
        return np.array([-1, 1]) if label == -1 else np.array([0, 1])
    if costs.positive is not None and costs.positive != label:
        return np.array([label, costs.positive])
    raise ValueError(
        f"{label!r} is the only class that occurs, but these costs are for two: name both with "
        "labels="
    )


def bind_costs(
    costs: Any,
    *decided: NDArray[Any],
    labels: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    n_classes: int | None = None,
) -> Costs:
    """Bind costs to `labels`, else to `classes`, to the classes they name, to those that occur.

    `labels` are the user's, and say what the rows of an array without names are; `classes` are a
    model's, and say nothing of the kind.

    The first of `decided` holds true labels, the others decisions, which name classes too unless
    the costs have actions of their own. `n_classes` is how many there must be, if that is known.
    """
    known = as_costs(costs)
    n_samples = len(decided[0])
    if labels is not None:
        return Costs._of(named(known._state, labels)).bind(labels, n_samples)
    if classes is not None:
        return known.bind(classes, n_samples)
    if known.classes is not None:
        return known.bind(known.classes, n_samples)
    seen = decided if known.is_square else decided[:1]
    found = np.unique(np.concatenate([np.unique(values) for values in seen]))
    if n_classes is None and len(known.shape) > 1:
        n_classes = known.shape[1]
    if len(found) == 1 and n_classes == 2:
        found = _both_of(found.tolist()[0], known)
    return known.bind(found, n_samples)


class Realised(NamedTuple):
    """Prices of all actions, costs paid by each set of decisions, and the bound costs."""

    prices: Floats
    paid: list[Floats]
    costs: Costs
    numbers: list[NDArray[np.intp]]


def realise(
    y_true: ArrayLike,
    *decided: ArrayLike,
    costs: Any,
    labels: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Realised:
    """Return the prices and paid costs of decisions, as the measures need them."""
    y = check_labels(y_true)
    if len(y) == 0:
        raise ValueError("y_true is empty: a measure needs at least one row")
    taken = [check_labels(d, "y_pred") for d in decided]
    for d in taken:
        if len(d) != len(y):
            raise ValueError(f"y_pred has {len(d)} rows, but y_true has {len(y)}: give as many")
    bound = bind_costs(costs, y, *taken, labels=labels, classes=classes)
    assert bound.actions is not None  # known once bound
    numbers = [encode(bound.actions, d, "y_pred") for d in taken]
    prices = bound.of_labels(y)
    return Realised(prices, [take(prices, part) for part in numbers], bound, numbers)


def take(prices: Floats, numbers: NDArray[np.intp]) -> Floats:
    """Return the price of the action taken on each row."""
    return np.asarray(np.take_along_axis(prices, numbers[:, None], axis=1)[:, 0])


def total_of(paid: Floats, sample_weight: ArrayLike | None) -> float:
    """Return the weighted sum."""
    if sample_weight is None:
        return float(np.sum(paid))
    check_weights(sample_weight, len(paid))
    return float(np.sum(paid * np.asarray(sample_weight, dtype=np.float64)))


def normalized_of(paid: Floats, prices: Floats, weight: Floats) -> float:
    """Return where the cost lies between the least (0) and the most (1) that could be paid."""
    paid, prices, weight = weighty(weight, paid, prices, weight)
    scale = power_of_two(prices)
    least = prices.min(axis=1) / scale
    worst = float(np.sum((prices.max(axis=1) / scale - least) * weight))
    if worst == 0:
        return 0.0
    return float(np.sum((paid / scale - least) * weight)) / worst


def savings_of(paid: Floats, reference: Floats, weight: Floats) -> float:
    """Return the share of the reference cost saved; 0 if both are nothing."""
    paid, reference, weight = weighty(weight, paid, reference, weight)
    scale = power_of_two(np.concatenate([paid, reference]))
    before = float(np.sum(reference / scale * weight))
    saved = before - float(np.sum(paid / scale * weight))
    if before == 0:
        return 0.0 if saved == 0 else float(np.copysign(np.inf, saved))
    return saved / abs(before)


def cheapest_constant_of(prices: Floats, weight: Floats) -> Floats:
    """Return the cost of each row under the action with the least total cost."""
    kept, shares = weighty(weight, prices, weight)
    sums = np.sum(kept / power_of_two(kept) * shares[:, None], axis=0)
    return np.asarray(prices[:, int(np.argmin(sums))])
