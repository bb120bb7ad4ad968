"""What predicted numbers cost, and how good quantiles and intervals are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import as_number_costs
from costboost.inputs.arrays import read_numbers
from costboost.inputs.checks import check_number
from costboost.metrics.prices import (
    check_weights,
    read_target,
    savings_of,
    total_of,
    weighted_mean,
)
from costboost.typing import Floats


def total_number_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return what predicted numbers cost together.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted numbers.
    costs : NumberCosts or dict
        Prices per unit too little and too much, squared or in steps, constant or per row.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    cost : float
        In the unit of the prices.

    Examples
    --------
    >>> from costboost import NumberCosts
    >>> from costboost.metrics import total_number_cost
    >>> total_number_cost([100, 120], [110, 115], costs=NumberCosts(under=3, over=[1, 2]))
    25.0
    """
    return total_of(paid_for(y_true, y_pred, costs), sample_weight)


def mean_number_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost of predicted numbers.

    Parameters
    ----------
    y_true, y_pred, costs, sample_weight
        As for :func:`total_number_cost`.

    Returns
    -------
    cost : float
        In the unit of the prices.

    Examples
    --------
    >>> from costboost.metrics import mean_number_cost
    >>> mean_number_cost([100, 120], [110, 115], costs={"under": 3, "over": 1})
    12.5
    """
    paid = paid_for(y_true, y_pred, costs)
    return weighted_mean(paid, check_weights(sample_weight, len(paid)))


def number_savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any,
    baseline: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of a baseline's cost that predicted numbers save (higher is better).

    Parameters
    ----------
    y_true, y_pred, costs, sample_weight
        As for :func:`total_number_cost`.
    baseline : float or array-like of shape (n_samples,), default=None
        Numbers to compare with, such as the forecast of the mean; None: the one number that would
        have been cheapest on all of these rows.

    Returns
    -------
    savings : float
        1 costs nothing, 0 as much as the baseline. A baseline that costs nothing leaves nothing to
        save: 0 if the predictions cost nothing either, else minus infinity.

    Examples
    --------
    >>> from costboost.metrics import number_savings_score
    >>> y, orders = [100, 120, 80, 100], [110, 125, 90, 100]
    >>> number_savings_score(y, orders, costs={"under": 3, "over": 1})
    0.6875
    >>> number_savings_score(y, orders, costs={"under": 3, "over": 1}, baseline=90)
    0.84375
    """
    paid = paid_for(y_true, y_pred, costs)
    if baseline is None:
        baseline, _ = as_number_costs(costs).cheapest_constant(y_true, sample_weight)
    elif np.ndim(baseline) and len(np.asarray(baseline)) != len(paid):
        raise ValueError(
            f"baseline has {len(np.asarray(baseline))} rows, but y_true has {len(paid)}: give one "
            "number for each, or one for all."
        )
    reference = as_number_costs(costs).of_numbers(y_true, baseline)
    return savings_of(paid, reference, check_weights(sample_weight, len(paid)))


def pinball_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    level: float = 0.5,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean pinball loss of a quantile: `level` per unit too low, `1 - level` too high.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True numbers, and predicted quantiles.
    level : float, default=0.5
        Of the quantile; at 0.5 this is half the mean absolute error.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from costboost.metrics import pinball_loss
    >>> pinball_loss([10, 20], [14, 18], level=0.75)
    1.25
    """
    check_number("level", level, low=0.0, high=1.0, open_low=True)
    prices = {"under": level, "over": 1.0 - level}
    return mean_number_cost(y_true, y_pred, costs=prices, sample_weight=sample_weight)


def crps(
    y_true: ArrayLike,
    quantiles: ArrayLike,
    *,
    levels: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the continuous ranked probability score of predicted quantiles (lower is better).

    Twice the pinball loss, averaged over all levels: of a number for certain the absolute error. It
    is computed from the levels given, each of which stands for those nearest to it; a
    `MinimumCostRegressor` has it exactly, ``model.crps(X, y)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True numbers.
    quantiles : array-like of shape (n_samples, n_levels)
        As ``predict_quantile`` returns them.
    levels : array-like of shape (n_levels,)
        Rising, strictly between 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    score : float
        In the unit of the numbers.

    Examples
    --------
    >>> from costboost.metrics import crps
    >>> crps([10, 20], [[8, 9, 13], [15, 20, 25]], levels=[0.25, 0.5, 0.75])
    1.53125
    """
    y, found, at = _read_quantiles(y_true, quantiles, levels)
    edges = np.concatenate([[0.0], 0.5 * (at[1:] + at[:-1]), [1.0]])
    error = y[:, None] - found
    losses = np.maximum(at * error, (at - 1.0) * error)
    rows = np.sum(2.0 * np.diff(edges) * losses, axis=1)
    return weighted_mean(rows, check_weights(sample_weight, len(y)))


def interval_coverage(
    y_true: ArrayLike,
    intervals: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of numbers that lie within their intervals, ends included.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True numbers.
    intervals : array-like of shape (n_samples, 2)
        Lower and upper ends, as ``predict_interval`` returns them.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    share : float

    Examples
    --------
    >>> from costboost.metrics import interval_coverage
    >>> interval_coverage([10, 20, 30], [[8, 12], [21, 25], [30, 40]])
    0.6666666666666666
    """
    y = read_target(y_true)
    ends = read_numbers(intervals, "intervals", negative=True)
    if ends.shape != (len(y), 2) or (ends[:, 0] > ends[:, 1]).any():
        raise ValueError(
            f"intervals have shape {ends.shape} for {len(y)} rows: give (n_samples, 2), the lower "
            "end first."
        )
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    return weighted_mean(inside.astype(float), check_weights(sample_weight, len(y)))


def quantile_frequencies(
    y_true: ArrayLike,
    quantiles: ArrayLike,
    *,
    levels: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Return the share of numbers up to each predicted quantile, (n_levels,).

    Calibrated quantiles have the shares that their levels say.

    Parameters
    ----------
    y_true, quantiles, levels, sample_weight
        As for :func:`crps`.

    Returns
    -------
    shares : ndarray of shape (n_levels,)

    Examples
    --------
    >>> from costboost.metrics import quantile_frequencies
    >>> quantile_frequencies([1, 2, 3, 4], [[1, 3]] * 4, levels=[0.25, 0.75]).tolist()
    [0.25, 0.75]
    """
    y, found, _ = _read_quantiles(y_true, quantiles, levels)
    weight = check_weights(sample_weight, len(y))
    return np.asarray((weight @ (y[:, None] <= found)) / np.sum(weight))


def paid_for(y_true: ArrayLike, y_pred: ArrayLike, costs: Any) -> Floats:
    """Return what each predicted number costs, (n_samples,)."""
    target, answer = read_target(y_true), read_target(y_pred, "y_pred")
    if len(target) != len(answer):
        raise ValueError(f"y_pred has {len(answer)} rows, but y_true has {len(target)}")
    return as_number_costs(costs).of_numbers(target, answer)


def _read_quantiles(
    y_true: ArrayLike, quantiles: ArrayLike, levels: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    y, at = read_target(y_true), read_numbers(levels, "levels", negative=True)
    if at.ndim != 1 or not len(at) or at[0] <= 0 or at[-1] >= 1 or (np.diff(at) <= 0).any():
        raise ValueError("levels must be a rising list of numbers strictly between 0 and 1.")
    found = read_numbers(quantiles, "quantiles", negative=True, row_ndims=(2,))
    if found.shape != (len(y), len(at)):
        raise ValueError(
            f"quantiles have shape {found.shape}: give (n_samples, n_levels), here {len(y)} rows "
            f"and {len(at)} levels."
        )
    return y, found, at
