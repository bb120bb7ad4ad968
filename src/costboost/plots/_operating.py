"""Where costs lie among all cost ratios, and axes over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import Costs
from costboost.metrics.checks import check_labels, check_weights, positive_label, power_of_two
from costboost.plots._responses import bound_costs
from costboost.plots.style import Floats, explain, highest, once, point


def positive_of(costs: Any, y_true: ArrayLike, pos_label: Any) -> tuple[Costs | None, Any]:
    """Return the costs, bound, if any were given, and the positive class."""
    if costs is None:
        return None, positive_label(check_labels(y_true), pos_label)
    bound = bound_costs(costs, y_true, pos_label)
    return bound, bound.positive


def both_columns(costs: Costs, p: Floats) -> Floats:
    """Return probabilities of both classes, (n, 2), in their order, from that of the positive."""
    assert costs.classes is not None  # bound
    columns = [1 - p, p] if costs.positive == costs.classes.tolist()[1] else [p, 1 - p]
    return np.stack(columns, axis=1)


def own_decisions(costs: Costs | None, y_score: ArrayLike) -> NDArray[Any] | None:
    """Return what a model that knows these costs decides; None if scores or costs do not say."""
    score = np.asarray(y_score, dtype=np.float64)
    if costs is None or len(costs.shape) == 2 or not np.all((score >= 0) & (score <= 1)):
        return None
    return costs.decide(both_columns(costs, score))


def mark_own(ax: Any, x: float, y: float, color: Any) -> Any:
    """Mark what a model's own decisions come to: a diamond, where hindsight has a disc."""
    explain(ax, "costboost-own", "own decisions at these costs", marker="D")
    return point(ax, x, y, color, "D", zorder=6)


def stakes(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[float, float]:
    """Return what is at stake on the negative and on the positive rows: wrong minus right."""
    labels = check_labels(y)
    weight = check_weights(sample_weight, len(labels))
    prices = costs.of_labels(labels)
    assert costs.classes is not None  # bound
    is_positive = labels == costs.positive
    at = costs.classes.tolist().index(costs.positive)
    extra = np.where(is_positive, 1.0, -1.0) * (prices[:, 1 - at] - prices[:, at])
    extra[weight == 0] = 0.0  # their prices must not even influence the scale
    extra = extra / power_of_two(extra) * weight
    return float(extra[~is_positive].sum()), float(extra[is_positive].sum())


def probability_cost(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None) -> float | None:
    """Return where costs lie on the axis of `PC(+)`; costs per row, where their sums do."""
    negative, positive = stakes(costs, y, sample_weight)
    if negative < 0 or positive < 0 or negative + positive == 0:
        return None  # wrong answers that are cheaper than right ones have no place on the axis
    return positive / (positive + negative)


def share_of_positives(y: ArrayLike, positive: Any, sample_weight: ArrayLike | None) -> float:
    """Return the share of the weight that positive rows have."""
    labels = check_labels(y)
    weight = check_weights(sample_weight, len(labels))
    return float(weight[labels == positive].sum() / weight.sum())


def limit_loss(ax: Any, trivial_peak: float) -> None:
    """Fit the axis to the curves: a good model far below the trivial ones must not look flat."""
    top = highest(ax)
    flat = 0 < 1.6 * top < 0.6 * trivial_peak
    ax.set(xlim=(0, 1), ylim=(0, 1.6 * top if flat else 1.05 * max(top, trivial_peak)))


def mark(ax: Any, x: float, y: float, color: Any) -> Any:
    """Mark one point of a curve, and where it lies on the axis."""
    tag = f"costboost-at-{x:.12g}"
    once(ax, tag, [x, x], [0, 1], linestyle=":", linewidth=1.0, label="these costs")
    return point(ax, x, y, color, "o")
