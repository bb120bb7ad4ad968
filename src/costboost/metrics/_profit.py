"""Profit: minus the cost, and the profit expected at the best threshold when prices are not known.

Acting on a positive row (a churner, a defaulter) earns b, on a negative one it costs c; acting on
rows above a threshold t then earns, per row, `b pi_pos TPR(t) - c pi_neg FPR(t)`. The measures of
Verbraken et al. let b follow a distribution and take the best threshold for each of its values:

    EMP = integral over b of max_t (b pi_pos TPR(t) - c pi_neg FPR(t)) h(b) db

The best thresholds are corners of the ROC convex hull. Corner i is the best for b between b_i and
b_{i+1}, where `b_i = c pi_neg dFPR_i / (pi_pos dTPR_i)`, so that the integral is a sum over corners
of a linear function of b, and needs no more than the distribution function and the partial means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from costboost.inputs.checks import check_number
from costboost.metrics._curves import error_steps, lower_hull, need_both_classes
from costboost.metrics._realised import total_cost
from costboost.metrics.prices import check_binary
from costboost.typing import Floats

# From a value of b to P(B <= b) and to E[B; B <= b].
Law = Callable[[Floats], tuple[Floats, Floats]]


class MaximumProfit(NamedTuple):
    """Result of the measures of maximum profit.

    Attributes
    ----------
    profit : float
        Per row, at the best threshold for every value of what is not known.
    share : float
        Share of rows to act on, on average over those values.

    Examples
    --------
    >>> from costboost.metrics import mp_churn
    >>> best = mp_churn([1, 0, 0, 0], [0.9, 0.2, 0.6, 0.1])
    >>> best.share  # the profit is largest where one row of four is acted on
    0.25
    """

    profit: float
    share: float


def profit(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the total profit of the decisions: minus :func:`total_cost`.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for :func:`total_cost`.
    costs : Costs, dict or array-like of shape (K, K)
        What each decision costs; what it earns is a negative cost, allowed by ``benefits=True``.

    Returns
    -------
    profit : float
        In the unit of the costs.

    Examples
    --------
    A loan that is paid back earns 40, one that is not loses 300:

    >>> from costboost.costs import Costs
    >>> from costboost.metrics import profit
    >>> loan = Costs(fp=0, tp=0, fn=300, tn=-40, benefits=True)
    >>> profit([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], costs=loan)
    -220.0
    """
    spent = total_cost(y_true, y_pred, costs=costs, labels=labels, sample_weight=sample_weight)
    return 0.0 - spent


def emp_credit(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    p0: float = 0.55,
    p1: float = 0.1,
    roi: float = 0.2644,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> MaximumProfit:
    """Return the expected maximum profit of credit scoring (Verbraken et al. 2014).

    Declining a defaulter saves a fraction lambda of the loan, declining another forgoes the return
    on investment. Lambda is 0 with probability `p0` (all is recovered), 1 with probability `p1`,
    and otherwise uniform between. Profits are shares of a loan, beyond those of granting all.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels, with rows of both classes; defaulters are positive.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of default; only their order matters.
    p0, p1 : float, default=0.55, 0.1
        Probabilities that nothing, and that everything, of a defaulted loan is lost.
    roi : float, default=0.2644
        Return on a loan that is paid back.
    pos_label : label, default=None
        The positive class; by default the last in sorted order.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    MaximumProfit

    References
    ----------
    Verbraken, Bravo, Weber and Baesens 2014, "Development and application of consumer credit
    scoring models using profit-based classification measures".

    Examples
    --------
    >>> from costboost.metrics import emp_credit
    >>> found = emp_credit([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9])
    >>> round(found.profit, 4), round(found.share, 4)
    (0.0887, 0.233)
    """
    check_number("p0", p0, low=0.0, high=1.0)
    check_number("p1", p1, low=0.0, high=1.0 - p0)
    check_number("roi", roi, low=0.0)
    between = 1.0 - p0 - p1

    def law(b: Floats) -> tuple[Floats, Floats]:
        inside = np.clip(b, 0.0, 1.0)
        total = np.where(b >= 1.0, 1.0, p0 + between * inside) * (b >= 0)
        return total, between * inside**2 / 2 + np.where(b >= 1.0, p1, 0.0)

    return _expected_maximum(y_true, y_score, roi, law, pos_label, sample_weight)


def emp_churn(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 6.0,
    beta: float = 14.0,
    clv: float = 200.0,
    incentive: float = 10.0,
    contact: float = 1.0,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> MaximumProfit:
    """Return the expected maximum profit of a churn model (EMPC, Verbraken et al. 2013).

    Customers above the threshold are contacted and offered an incentive. A churner accepts it with
    probability gamma, stays, and is worth the customer lifetime value; others take it for nothing.
    Gamma follows a beta distribution.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels, with rows of both classes; churners are positive.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of churn; only their order matters.
    alpha, beta : float, default=6, 14
        Of the beta distribution of gamma, whose mean is alpha / (alpha + beta).
    clv, incentive, contact : float, default=200, 10, 1
        The customer lifetime value, and what an offer and a contact cost, in one unit.
    pos_label : label, default=None
        The positive class; by default the last in sorted order.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    MaximumProfit
        In the unit of `clv`, per customer.

    References
    ----------
    Verbraken, Verbeke and Baesens 2013, "A novel profit maximizing metric for measuring
    classification performance of customer churn prediction models".

    Examples
    --------
    >>> from costboost.metrics import emp_churn
    >>> found = emp_churn([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9])
    >>> round(found.profit, 3), round(found.share, 3)
    (20.2, 0.6)
    """
    check_number("alpha", alpha, low=0.0, open_low=True)
    check_number("beta", beta, low=0.0, open_low=True)
    earned, spent = _churn_prices(clv, incentive, contact)

    def law(b: Floats) -> tuple[Floats, Floats]:
        gamma = np.clip((b + contact) / earned, 0.0, 1.0)
        total = betainc(alpha, beta, gamma)
        mean = alpha / (alpha + beta) * betainc(alpha + 1.0, beta, gamma)
        return total, earned * mean - contact * total

    return _expected_maximum(y_true, y_score, spent, law, pos_label, sample_weight)


def mp_churn(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    gamma: float = 0.3,
    clv: float = 200.0,
    incentive: float = 10.0,
    contact: float = 1.0,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> MaximumProfit:
    """Return the maximum profit of a churn model (MPC, Verbraken et al. 2013).

    As :func:`emp_churn`, with a known probability gamma that a churner accepts the offer.

    Parameters
    ----------
    y_true, y_score, clv, incentive, contact, pos_label, sample_weight
        As for :func:`emp_churn`.
    gamma : float, default=0.3
        Probability that a churner accepts the offer.

    Returns
    -------
    MaximumProfit
        In the unit of `clv`, per customer.

    Examples
    --------
    >>> from costboost.metrics import mp_churn
    >>> found = mp_churn([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9])
    >>> round(found.profit, 3), round(found.share, 3)
    (20.2, 0.6)
    """
    check_number("gamma", gamma, low=0.0, high=1.0)
    earned, spent = _churn_prices(clv, incentive, contact)
    benefit = gamma * earned - contact

    def law(b: Floats) -> tuple[Floats, Floats]:
        reached = np.asarray(b >= benefit, dtype=np.float64)
        return reached, benefit * reached

    return _expected_maximum(y_true, y_score, spent, law, pos_label, sample_weight)


def _churn_prices(clv: float, incentive: float, contact: float) -> tuple[float, float]:
    """Return CLV (1 - delta) and CLV (delta + phi): what acceptance earns, what others cost."""
    check_number("incentive", incentive, low=0.0)
    check_number("contact", contact, low=0.0)
    check_number("clv", clv, low=incentive, open_low=True)
    return clv - incentive, incentive + contact


def _expected_maximum(
    y_true: ArrayLike,
    y_score: ArrayLike,
    cost: float,
    law: Law,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> MaximumProfit:
    """Add up the corners of the hull, each over the values of b for which it is the best."""
    steps = error_steps(*check_binary(y_true, y_score, sample_weight, pos_label))
    need_both_classes(steps)
    corners = lower_hull(steps.false_positive, steps.false_negative)
    total = steps.positives + steps.negatives
    false = steps.false_positive[corners] / total
    true = (steps.positives - steps.false_negative[corners]) / total
    # From acting on nobody to acting on all: the further, the more each positive found costs.
    found = np.diff(true)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(found > 0, cost * np.diff(false) / found, np.inf)
    worth = np.maximum.accumulate(worth)
    shares, means = (np.diff(part) for part in _at_ends(law, worth))
    profits = true * means - cost * false * shares
    return MaximumProfit(float(profits.sum()), float(np.sum((true + false) * shares)))


def _at_ends(law: Law, worth: Floats) -> tuple[Floats, Floats]:
    """Return the law at the ends of the intervals, from minus to plus infinity."""
    total, mean = law(worth)
    end_total, end_mean = law(np.array([np.inf]))
    return (
        np.concatenate([[0.0], total, end_total]),
        np.concatenate([[0.0], mean, end_mean]),
    )
