"""What predicted numbers cost, where too much and too little have different prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from costboost.costs.asymmetric import price_errors
from costboost.inputs.arrays import read_numbers
from costboost.metrics.checks import Floats, check_weights, weighted_mean
from costboost.metrics.prices import total_of


def asymmetric_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    over: ArrayLike = 1.0,
    under: ArrayLike = 1.0,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return what predicted numbers cost: `over` per unit too much, `under` per unit too little.

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
    target, answer = _numbers(y_true, "y_true"), _numbers(y_pred, "y_pred")
    if len(target) != len(answer):
        raise ValueError(f"y_pred has {len(answer)} rows, but y_true has {len(target)}")
    paid = price_errors(target, answer, over, under)
    if normalize:
        return weighted_mean(paid, check_weights(sample_weight, len(paid)))
    return total_of(paid, sample_weight)


def _numbers(values: ArrayLike, name: str) -> Floats:
    return read_numbers(column_or_1d(np.asarray(values)), name, negative=True)
