"""Cost against threshold, and what is gained by acting on the top share of a ranking.

Two classes, decisions that are the classes, costs constant or per row. To act is to decide for the
positive class; not to act, for the negative one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics._curves import above, below, error_steps, group_by_score
from costboost.metrics.prices import (
    bind_costs,
    check_binary,
    check_labels,
    check_scores,
    check_weights,
    power_of_two,
)
from costboost.typing import Floats


class _Ranked(NamedTuple):
    """Scores, weights and the prices of acting and of not acting, without rows of weight zero."""

    score: Floats
    weight: Floats
    act: Floats
    wait: Floats


def _rank(
    y_true: ArrayLike,
    y_score: ArrayLike,
    costs: Any,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> _Ranked:
    y = check_labels(y_true)
    score = check_scores(y_score, len(y))
    weight = check_weights(sample_weight, len(y))
    bound = bind_costs(costs, y, labels=labels, n_classes=2)
    if not bound.is_square or bound.classes is None or len(bound.classes) != 2:
        raise ValueError(
            f"thresholds are for two classes that are also the decisions, but these costs are for "
            f"the classes {bound.classes} and the actions {bound.actions}"
        )
    if bound.positive is None:
        raise ValueError(
            f"the labels {bound.classes.tolist()} do not tell which class y_score is the score of: "
            "name it, Costs(..., positive=)"
        )
    positive = bound.classes.tolist().index(bound.positive)
    prices = bound.of_labels(y)
    kept = weight > 0
    act, wait = prices[kept, positive], prices[kept, 1 - positive]
    return _Ranked(score[kept], weight[kept], act, wait)


def cost_by_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    normalize: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the cost of calling rows positive when `score > threshold`, for every threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of the positive class.
    costs : Costs, dict, array-like of shape (2, 2) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    normalize : bool, default=True
        Whether to return the mean cost per row rather than the total.
    labels : array-like of shape (2,), default=None
        Both classes, where the costs do not name them and one does not occur.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    thresholds : ndarray of shape (n_thresholds,)
        Minus infinity (all rows positive), then the distinct scores in ascending order.
    cost : ndarray of shape (n_thresholds,)
        The cost from this threshold (included) up to the next: a step function.

    Examples
    --------
    >>> from costboost.metrics import cost_by_threshold
    >>> thresholds, cost = cost_by_threshold(
    ...     [0, 0, 1], [0.1, 0.6, 0.4], costs={"fp": 1, "fn": 10}, normalize=False
    ... )
    >>> thresholds.tolist(), cost.tolist()
    ([-inf, 0.1, 0.4, 0.6], [2.0, 1.0, 11.0, 10.0])
    """
    rows = _rank(y_true, y_score, costs, labels, sample_weight)
    at, group = group_by_score(rows.score)
    scale = power_of_two(np.concatenate([rows.act, rows.wait]))
    paid = above(rows.act / scale * rows.weight, group, len(at)) + below(
        rows.wait / scale * rows.weight, group, len(at)
    )
    total_weight = float(rows.weight.sum())
    if not normalize:
        given = total_weight if sample_weight is None else float(np.sum(np.asarray(sample_weight)))
        scale *= given
    return np.append(-np.inf, at), paid / total_weight * scale


def cheapest_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Return the threshold that would have been cheapest on these rows, and its mean cost.

    Parameters
    ----------
    y_true, y_score, costs, labels, sample_weight
        As for :func:`cost_by_threshold`.

    Returns
    -------
    threshold : float
        Call a row positive when its score is above it. The middle of the cheapest piece (the lowest
        of several); -inf or inf when calling all rows positive or negative is cheapest.
    cost : float
        Mean cost there.

    Examples
    --------
    >>> from costboost.metrics import cheapest_threshold
    >>> threshold, cost = cheapest_threshold([0, 0, 1], [0.1, 0.6, 0.4], costs={"fp": 1, "fn": 9})
    >>> threshold, round(cost, 4)
    (0.25, 0.3333)
    """
    thresholds, cost = cost_by_threshold(
        y_true, y_score, costs=costs, labels=labels, sample_weight=sample_weight
    )
    best = int(np.argmin(cost))
    if best == 0:
        return -np.inf, float(cost[0])
    if best == len(cost) - 1:
        return np.inf, float(cost[-1])
    low, high = thresholds[best], thresholds[best + 1]
    middle = float(low / 2 + high / 2)
    # Between two neighbouring floats there is no middle: the lower end decides the same.
    return (middle if low <= middle < high else float(low)), float(cost[best])


def _acted(rows: _Ranked, values: Floats) -> tuple[Floats, Floats]:
    """Return the share of rows acted on and the weighted sum of values there, group by group."""
    at, group = group_by_score(rows.score)
    share = above(rows.weight, group, len(at))[::-1]
    return share / share[-1], above(values * rows.weight, group, len(at))[::-1]


def gain_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the share of all cost at stake that lies in the top share of the rows.

    At stake on a row is what it costs when nothing is done, `C[true, negative]`: of 100 frauds, the
    amounts, not their number.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_score : array-like of shape (n_samples,)
        What rows are ranked by: a probability, or an expected saving.
    costs, labels, sample_weight
        As for :func:`cost_by_threshold`. Costs must not be negative.

    Returns
    -------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from 0 to 1; rows of equal score enter together, and the straight
        line between two points is their expected order.
    gain : ndarray of shape (n_points,)
        Share of the cost captured, from 0 to 1.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import gain_curve
    >>> costs = Costs(fp=1, fn=[30, 10, 10, 10])
    >>> share, gain = gain_curve([1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1], costs=costs)
    >>> share.tolist(), gain.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.75, 0.75, 1.0, 1.0])
    """
    rows = _rank(y_true, y_score, costs, labels, sample_weight)
    if (rows.wait < 0).any():
        raise ValueError("some rows earn when nothing is done: shares need costs >= 0")
    if not rows.wait.any():
        raise ValueError(
            "no row costs anything when nothing is done (no positives, or fn = 0), so there is "
            "nothing to capture"
        )
    share, captured = _acted(rows, rows.wait / power_of_two(rows.wait))
    return share, captured / captured[-1]


def lift_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return how many times more cost the top share captures than a random share would.

    Parameters
    ----------
    y_true, y_score, costs, labels, sample_weight
        As for :func:`gain_curve`.

    Returns
    -------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from the first group of equal scores to 1.
    lift : ndarray of shape (n_points,)
        Gain divided by share; 1 at the end.

    Examples
    --------
    >>> from costboost.metrics import lift_curve
    >>> share, lift = lift_curve([1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1])
    >>> lift.round(3).tolist()
    [2.0, 1.0, 1.333, 1.0]
    """
    share, gain = gain_curve(
        y_true, y_score, costs=costs, labels=labels, sample_weight=sample_weight
    )
    return share[1:], gain[1:] / share[1:]


def savings_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    normalize: bool = False,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the cost saved by acting on the top share of the rows, against not acting at all.

    Both constant decisions are its ends, not acting at 0 and acting on every row at ``saved[-1]``:
    what is saved over the cheaper one, as in :func:`savings_score`, is
    ``saved - max(0, saved[-1])``.

    Parameters
    ----------
    y_true, y_score, costs, labels, sample_weight
        As for :func:`gain_curve`; negative costs are allowed.
    normalize : bool, default=False
        Whether to divide by the size of the cost of not acting at all.

    Returns
    -------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from 0 to 1; rows of equal score enter together.
    saved : ndarray of shape (n_points,)
        Total cost saved, in the unit of the costs; negative where acting cost more.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import savings_curve
    >>> costs = Costs(fp=5, fn=[30, 10, 10, 10], tp=5)
    >>> share, saved = savings_curve([1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1], costs=costs)
    >>> saved.tolist()
    [0.0, 25.0, 20.0, 25.0, 20.0]
    """
    rows = _rank(y_true, y_score, costs, labels, sample_weight)
    scale = power_of_two(np.concatenate([rows.act, rows.wait]))
    share, saved = _acted(rows, rows.wait / scale - rows.act / scale)
    if normalize:
        idle = abs(float(np.sum(rows.wait / scale * rows.weight)))
        if idle == 0:
            raise ValueError("not acting costs nothing, so savings have no share: normalize=False")
        return share, saved / idle
    given = len(rows.weight) if sample_weight is None else float(np.sum(np.asarray(sample_weight)))
    return share, saved / float(rows.weight.sum()) * given * scale


# ---- What doctors and marketers call it: net benefit of a threshold, return on what was spent.


def net_benefit(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    standardized: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the net benefit of treating rows with `p > t`, for many thresholds: a decision curve.

    `TP / n - FP / n * t / (1 - t)` (Vickers and Elkin 2006): true positives, less the false ones at
    the price that makes `t` the right threshold, ``t = fp / (fp + fn)``. So `fn` times the net
    benefit at that threshold is what treating saves on a row, on average, over treating nobody.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_proba : array-like of shape (n_samples,)
        Probability of the positive class.
    thresholds : array-like of shape (n_thresholds,), default=None
        Within [0, 1); None: 0, 0.01, ..., 0.99.
    standardized : bool, default=False
        Whether to divide by the share of the positive class: 1 is then the most that is possible.
    pos_label : label, default=None
        The positive class; known for 0/1, -1/+1 and booleans.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    thresholds, benefit : ndarray of shape (n_thresholds,)
        Treating nobody has benefit 0 everywhere.

    Examples
    --------
    >>> from costboost.metrics import net_benefit
    >>> at, benefit = net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.2, 0.5])
    >>> benefit.round(4).tolist()
    [0.4375, 0.0]
    """
    positive, score, weight = check_binary(
        y_true, y_proba, sample_weight, pos_label, probability=True
    )
    steps = error_steps(positive, score, weight)
    if not steps.positives and standardized:
        raise ValueError("no row is positive, so there is no share of the positive class to reach")
    given = np.arange(100) / 100 if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given < 1)).all():
        raise ValueError("thresholds must be a list of probabilities, at least 0 and below 1")
    piece = np.searchsorted(steps.at, given, side="right")
    found = steps.positives - steps.false_negative[piece]
    benefit = found - steps.false_positive[piece] * given / (1 - given)
    total = steps.positives if standardized else steps.positives + steps.negatives
    return given, benefit / total


def roi(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    spend: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the return on investment: what acting saves, net, for each unit spent on it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_pred : array-like of shape (n_samples,)
        Decisions; rows decided positive are acted on.
    costs : Costs, dict, array-like of shape (2, 2) or None, default=None
        What each decision costs, constant or per row.
    spend : float or array-like of shape (n_samples,), default=None
        What is spent on acting on a row. None: what acting costs there, `C[true, positive]`, which
        must not be negative; where a true positive earns (negative costs), say what is spent.
    labels, sample_weight
        As for :func:`cost_by_threshold`.

    Returns
    -------
    roi : float
        1 means that every unit spent came back, and another one with it; below 0 acting lost. 0
        where no row is acted on; infinite where something is saved and nothing spent.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import roi
    >>> roi([0, 1, 1], [1, 1, 0], costs=Costs(fp=5, tp=5, fn=[0, 40, 70]))
    3.0
    """
    y, decided = check_labels(y_true), check_labels(y_pred, "y_pred")
    if len(y) != len(decided):
        raise ValueError(f"y_pred has {len(decided)} rows, but y_true has {len(y)}: give as many")
    bound = bind_costs(costs, y, decided, labels=labels, n_classes=2)
    unknown = set(decided.tolist()) - set([] if bound.classes is None else bound.classes.tolist())
    if unknown:
        raise ValueError(f"y_pred holds {unknown.pop()!r}, which is none of {bound.classes}")
    acted = (decided == bound.positive).astype(np.float64)
    rows = _rank(y, acted, bound, None, sample_weight)
    spent = _spent(rows, spend, sample_weight)
    on = rows.score * rows.weight
    return _ratio(float(np.sum(on * (rows.wait - rows.act))), float(np.sum(on * spent)))


def roi_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    costs: Any = None,
    spend: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the return on investment of acting on the top share of the rows.

    Parameters
    ----------
    y_true, y_score, costs, labels, sample_weight
        As for :func:`gain_curve`; negative costs are allowed with `spend`.
    spend : float or array-like of shape (n_samples,), default=None
        As for :func:`roi`.

    Returns
    -------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from the first group of equal scores to 1.
    roi : ndarray of shape (n_points,)

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import roi_curve
    >>> costs = Costs(fp=5, fn=[30, 10, 10, 10], tp=5)
    >>> share, returned = roi_curve([1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1], costs=costs)
    >>> returned.round(2).tolist()
    [5.0, 2.0, 1.67, 1.0]
    """
    rows = _rank(y_true, y_score, costs, labels, sample_weight)
    share, saved = _acted(rows, rows.wait - rows.act)
    _, spent = _acted(rows, _spent(rows, spend, sample_weight))
    return share[1:], np.array([_ratio(s, p) for s, p in zip(saved[1:], spent[1:], strict=True)])


def _spent(rows: _Ranked, spend: ArrayLike | None, sample_weight: ArrayLike | None) -> Floats:
    """Return what is spent on acting on each row of positive weight."""
    if spend is None:
        given = rows.act
    else:
        given = np.asarray(spend, dtype=np.float64)
        if given.ndim and sample_weight is not None:
            given = given[np.asarray(sample_weight) > 0]
        if given.ndim and given.shape != rows.act.shape:
            raise ValueError(f"spend has shape {given.shape}: give a number, or one for each row")
        given = np.broadcast_to(given, rows.act.shape)
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(
            "what is spent on acting must not be negative or missing; where acting earns (negative "
            "costs), give what is spent on it as spend="
        )
    return given


def _ratio(saved: float, spent: float) -> float:
    if spent == 0:
        return 0.0 if saved == 0 else float(np.copysign(np.inf, saved))
    return saved / spent
