"""The realised cost of decisions: sums over rows of `C[true, decided]`, and a confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.pricing import price_errors
from costboost.inputs.arrays import encode
from costboost.metrics.prices import (
    cheapest_constant_of,
    check_labels,
    check_weights,
    normalized_of,
    positive_label,
    read_target,
    realise,
    savings_of,
    total_of,
    weighted_mean,
)


def total_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the total cost of the decisions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Decisions: predicted labels, or actions if the costs name some.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    labels : array-like of shape (n_classes,), default=None
        The classes, where the costs do not name them: needed when some do not occur in the data,
        and where an array of costs is for labels that are not numbers, in the order of its rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    cost : float
        In the unit of the costs.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import total_cost
    >>> total_cost([0, 1, 1], [1, 0, 1], costs=Costs(fp=5, fn=[80, 100, 20]))
    105.0
    """
    return total_of(realise(y_true, y_pred, costs=costs, labels=labels).paid[0], sample_weight)


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost of a decision.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight
        As for :func:`total_cost`.

    Returns
    -------
    cost : float
        In the unit of the costs; with `costs=None` the error rate.

    Examples
    --------
    >>> from costboost.metrics import mean_cost
    >>> mean_cost([0, 1, 1, 0], [1, 0, 1, 0], costs={"fp": 1, "fn": 10})
    2.75
    """
    paid = realise(y_true, y_pred, costs=costs, labels=labels).paid[0]
    return weighted_mean(paid, check_weights(sample_weight, len(paid)))


def normalized_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost as a share of that of getting everything wrong.

    For two classes and free correct answers this is `cost / (fp N_neg + fn N_pos)`, which equals
    `z FPR + (1 - z) FNR` with `z = pi_neg fp / (pi_neg fp + pi_pos fn)`: Q of Nikolaou et al.
    (2016) and the normalised expected cost of Drummond and Holte (2006) at `PC(+) = 1 - z`. In
    general (costs per row, more classes or actions, correct answers with a price) it is
    `(cost - least) / (most - least)`, where least and most take the cheapest and the dearest
    action on every row.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight
        As for :func:`total_cost`.

    Returns
    -------
    cost : float
        Between 0 and 1; 0 if no decision makes a difference.

    Examples
    --------
    >>> from costboost.metrics import normalized_cost
    >>> normalized_cost([0, 1, 1, 0, 0], [1, 0, 1, 0, 0], costs={"fp": 1, "fn": 3.5})
    0.45
    """
    found = realise(y_true, y_pred, costs=costs, labels=labels)
    weight = check_weights(sample_weight, len(found.prices))
    return normalized_of(found.paid[0], found.prices, weight)


def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    baseline: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of a baseline's cost that the decisions save (higher is better).

    `1 - cost / cost of the baseline`. Without a baseline it is the cheapest constant decision on
    these rows, as in Bahnsen et al. (2015): 0 is no better than not looking, 1 costs nothing.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight
        As for :func:`total_cost`.
    baseline : label or array-like of shape (n_samples,), default=None
        A constant decision, or one per row (today's policy, another model); None: the cheapest
        constant decision.

    Returns
    -------
    savings : float
        At most 1 unless costs are negative. A baseline that costs nothing leaves nothing to save:
        0 if the decisions cost nothing either, else minus infinity. A baseline that earns (negative
        costs) is compared by its size: (baseline - cost) / abs(baseline).

    Examples
    --------
    >>> from costboost.metrics import savings_score
    >>> y, decided = [0, 0, 0, 1], [0, 0, 1, 1]
    >>> round(savings_score(y, decided, costs={"fp": 1, "fn": 10}), 4)
    0.6667
    >>> savings_score(y, decided, costs={"fp": 1, "fn": 10}, baseline=0)
    0.9
    """
    n_samples = len(check_labels(y_true))
    policies: list[Any] = []
    if baseline is not None:
        policies = [np.full(n_samples, baseline) if np.ndim(baseline) == 0 else baseline]
    found = realise(y_true, y_pred, *policies, costs=costs, labels=labels)
    weight = check_weights(sample_weight, n_samples)
    reference = found.paid[1] if policies else cheapest_constant_of(found.prices, weight)
    return savings_of(found.paid[0], reference, weight)


def mean_regret(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost above that of the cheapest decision on each row, known in hindsight.

    Where correct answers are free this is the mean cost. Where they are not (an investigation has
    a price even when it finds fraud), it is the part of the cost that decisions could have avoided.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight
        As for :func:`total_cost`.

    Returns
    -------
    regret : float
        In the unit of the costs, never negative.

    Examples
    --------
    >>> from costboost.metrics import mean_cost, mean_regret
    >>> costs = {"fp": 5, "fn": 95, "tp": 5}
    >>> mean_cost([1, 0], [1, 1], costs=costs), mean_regret([1, 0], [1, 1], costs=costs)
    (5.0, 2.5)
    """
    found = realise(y_true, y_pred, costs=costs, labels=labels)
    regret = found.paid[0] - found.prices.min(axis=1)
    return weighted_mean(regret, check_weights(sample_weight, len(regret)))


def cost_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    as_frame: bool = False,
) -> Any:
    """Return a confusion matrix that adds up costs instead of rows.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight
        As for :func:`total_cost`.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame, labelled with the classes down and the actions across.

    Returns
    -------
    matrix : ndarray or DataFrame of shape (n_classes, n_actions)
        What all rows of a true class on which an action was taken cost together; its sum is
        :func:`total_cost`. Classes and actions are in the order of `labels`, of the costs that name
        them, or sorted.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import cost_confusion_matrix
    >>> costs = Costs(fp=5, fn=[80, 100, 20], tp=1)
    >>> cost_confusion_matrix([0, 1, 1], [1, 0, 1], costs=costs).tolist()
    [[0.0, 5.0], [100.0, 1.0]]

    With labels on it:

    >>> costs = Costs(fp=5, fn=9, positive="bad")
    >>> cost_confusion_matrix(["ok", "bad"], ["bad", "bad"], costs=costs, as_frame=True)
         bad   ok
    bad  0.0  0.0
    ok   5.0  0.0
    """
    found = realise(y_true, y_pred, costs=costs, labels=labels)
    weight = check_weights(sample_weight, len(found.prices))
    if sample_weight is not None:  # their own size matters here, not only their ratios
        weight = np.asarray(sample_weight, dtype=np.float64)
    assert found.costs.classes is not None
    true = encode(found.costs.classes, np.asarray(y_true), "y_true")
    matrix = np.zeros((len(found.costs.classes), found.prices.shape[1]))
    np.add.at(matrix, (true, found.numbers[0]), weight * found.paid[0])
    if not as_frame:
        return matrix
    import pandas as pd  # the only thing here that needs it

    assert found.costs.actions is not None
    classes, actions = found.costs.classes.tolist(), found.costs.actions.tolist()
    return pd.DataFrame(matrix, index=classes, columns=actions)


def f_measure(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    pos_label: Any = None,
    percent: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the F-measure in percent, as Cai, Song and Zhang report it (their Table 3).

    The weighted harmonic mean of precision and recall of the positive (costlier, rarer) class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted binary labels.
    beta : float, default=1.0
        Weight of recall against precision.
    pos_label : label, default=None
        The positive class; known for 0/1, -1/+1 and booleans.
    percent : bool, default=True
        Whether to return 0 to 100 rather than 0 to 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    f : float
        0 if no positive was found, also where there was none to find.

    Examples
    --------
    >>> from costboost.metrics import f_measure
    >>> f_measure([0, 0, 1, 1], [0, 1, 1, 1])
    80.0
    """
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta={beta}: it must be finite and not negative")
    y, decided = check_labels(y_true), check_labels(y_pred, "y_pred")
    if len(y) != len(decided):
        raise ValueError(f"y_pred has {len(decided)} rows, but y_true has {len(y)}: give as many")
    weight = check_weights(sample_weight, len(y))
    positive = positive_label(np.concatenate([y, decided]), pos_label)
    is_true, is_found = y == positive, decided == positive
    hits = float(np.sum(weight[is_true & is_found]))
    misses = float(np.sum(weight[is_true & ~is_found]))
    alarms = float(np.sum(weight[~is_true & is_found]))
    if hits == 0:
        return 0.0
    f = (1 + beta**2) * hits / ((1 + beta**2) * hits + beta**2 * misses + alarms)
    return 100.0 * f if percent else f


# ---- What predicted numbers cost, where too much and too little have different prices.


def asymmetric_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    over: ArrayLike = 1.0,
    under: ArrayLike = 1.0,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost of predicted numbers: `over` per unit too much, `under` per unit too little.

    With constant prices this is `over + under` times the pinball loss at the quantile
    `under / (over + under)`: what ``GradientBoostRegressor(loss="pinball")`` minimises.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted numbers.
    over, under : float or array-like of shape (n_samples,), default=1
        Price of a unit that was predicted and did not come, and of one that came unpredicted.
    normalize : bool, default=True
        Whether to return the mean cost per row rather than the total.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    cost : float
        In the unit of the prices.

    Examples
    --------
    Bread that is left over costs 1, a customer who leaves without costs 3:

    >>> from costboost.metrics import asymmetric_cost
    >>> asymmetric_cost([100, 120], [110, 115], over=1, under=3, normalize=False)
    25.0
    """
    target, answer = read_target(y_true), read_target(y_pred, "y_pred")
    if len(target) != len(answer):
        raise ValueError(f"y_pred has {len(answer)} rows, but y_true has {len(target)}")
    paid = price_errors(target, answer, over, under)
    if normalize:
        return weighted_mean(paid, check_weights(sample_weight, len(paid)))
    return total_of(paid, sample_weight)
