"""Profit: minus the cost, and the profit expected at the best threshold when prices are not known.

Acting on a positive row (a churner, a defaulter) earns b, on a negative one it costs c; acting on
rows above a threshold t then earns, per row, `b pi_pos TPR(t) - c pi_neg FPR(t)`. The measures of
Verbraken et al. let b follow a distribution and take the best threshold for each of its values:

    EMP = integral over b of max_t (b pi_pos TPR(t) - c pi_neg FPR(t)) h(b) db

The profit of a threshold is a line over b. The best thresholds are the upper envelope of these
lines (the corners of the ROC convex hull where prices are constant), so that the integral is a sum
over its pieces of a linear function of b, and needs no more than the distribution function and the
partial means. The same holds for any price that is a factor times a number or a column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from costboost.costs.state import State
from costboost.costs.uncertain import quasi_random, relative
from costboost.inputs.checks import check_number
from costboost.metrics._curves import error_steps, lower_hull, need_both_classes
from costboost.metrics._realised import total_cost
from costboost.metrics.prices import (
    bind_costs,
    check_binary,
    check_labels,
    check_weights,
    positive_label,
)
from costboost.typing import Floats, Mask

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


def expected_maximum_profit(
    y_true: ArrayLike,
    y_score: ArrayLike,
    costs: Any,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    n_draws: int = 4096,
) -> MaximumProfit:
    """Return the profit at the best threshold for every value of uncertain prices, on average.

    Profit is per row, and what is saved against answering every row negative. With one uncertain
    factor it is exact: the best thresholds lie on the upper envelope of lines, one for each
    threshold, over whose pieces the law of the factor is integrated. With several it is averaged
    over `n_draws` points of Sobol's sequence, the same every time.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Binary labels, with rows of both classes.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of the positive class; only their order matters.
    costs : Costs
        For two classes, constant or per row, with any number of uncertain prices; with none, the
        maximum profit is returned.
    pos_label : label, default=None
        The positive class; by default the last in sorted order.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.
    n_draws : int, default=4096
        For several factors.

    Returns
    -------
    MaximumProfit
        In the unit of the costs, per row.

    Examples
    --------
    `emp_churn`, whose benefit of a churner who is contacted is uncertain:

    >>> from scipy import stats
    >>> from costboost.costs import Costs, uncertain
    >>> from costboost.metrics import expected_maximum_profit
    >>> kept = uncertain(-190, distribution=stats.beta(6, 14))
    >>> costs = Costs(fp=11, fn=-1, tp=kept, benefits=True)
    >>> found = expected_maximum_profit([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9], costs)
    >>> round(found.profit, 3), round(found.share, 3)
    (20.2, 0.6)
    """
    y = check_labels(y_true)
    positive = positive_label(y, pos_label)
    labels = np.unique(y)
    bound = bind_costs(costs, y)
    state = bound._state
    if not state.is_binary or bound.contain_truth:
        raise ValueError(
            "The maximum profit is that of a threshold between two classes, but these costs have "
            f"shape {bound.shape}: give C[true, predicted] of two classes."
        )
    check_number("n_draws", n_draws, low=2, whole=True)
    keys = check_binary(y_true, y_score, sample_weight, positive)
    need_both_classes(error_steps(*keys))
    weight = check_weights(sample_weight, len(y))
    kept = weight > 0
    pos = labels.tolist().index(positive)
    gains = _gains(state, keys, np.flatnonzero(kept), pos)
    shares = _shares(keys)
    if len(state.factors) > 1:
        return _drawn_maximum(state, gains, shares, n_draws)
    fixed, moving = _split(state, gains)
    law = next((factor.law for factor in state.factors.values()), None)
    if law is None:
        best = int(np.argmax(fixed))
        return MaximumProfit(float(fixed[best]), float(shares[best]))
    if all(cell.factor is None or cell.factor.law == law for cell in state.cells):
        return _exact_maximum(fixed, moving / law.mean, shares, law.below)
    return _drawn_maximum(state, gains, shares, n_draws)  # draws of several prices, one by one


def _gains(
    state: State, keys: tuple[Mask, Floats, Floats], rows: NDArray[np.intp], pos: int
) -> Floats:
    """Return what answering more and more rows positive saves, cell by cell, over all weight.

    Of shape (n_thresholds, n_cells): rows of equal scores are answered alike.
    """
    is_positive, score, weight = keys
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    saved = np.zeros((len(last) + 1, len(state.cells)))
    for k, a in np.ndindex(state.k, state.a):
        column = k * state.a + a if state.form == "matrix" else 0
        here = is_positive == (k == pos)
        price = np.broadcast_to(state.cell(k, a), (state.length,))
        own = price[rows] if state.n_rows is not None else np.broadcast_to(price, len(rows))
        sign = -1.0 if a == pos else 1.0  # paid now, or no more
        sums = np.cumsum((sign * own * weight * here)[order])[last]
        saved[1:, column] += sums
    return np.asarray(saved / weight.sum())


def _shares(keys: tuple[Mask, Floats, Floats]) -> Floats:
    """Return the share of the weight that is answered positive, by threshold."""
    _, score, weight = keys
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    return np.append(0.0, np.cumsum(weight[order])[last] / weight.sum())


def _split(state: State, gains: Floats) -> tuple[Floats, Floats]:
    """Return the gains at certain prices, and those at uncertain ones, at their means."""
    moves = np.array([cell.factor is not None for cell in state.cells])
    return gains[:, ~moves].sum(axis=1), gains[:, moves].sum(axis=1)


def _drawn_maximum(state: State, gains: Floats, shares: Floats, n_draws: int) -> MaximumProfit:
    """Return the mean over points of the factors' cube."""
    ratios = relative(state, quasi_random(len(state.factors), n_draws))
    best = np.empty(n_draws, dtype=np.intp)
    profits = np.empty(n_draws)
    for start in range(0, n_draws, 64):  # a table of 64 columns at a time
        part = gains @ ratios[start : start + 64].T
        best[start : start + 64] = part.argmax(axis=0)
        profits[start : start + 64] = part.max(axis=0)
    return MaximumProfit(float(profits.mean()), float(shares[best].mean()))


def _exact_maximum(fixed: Floats, slope: Floats, shares: Floats, law: Law) -> MaximumProfit:
    """Integrate the upper envelope of the lines ``fixed + slope * f`` over the law of f.

    Of lines of equal slope the highest counts, and the first of equal ones: fewest rows are acted
    on.
    """
    order = np.lexsort((np.arange(len(slope)), -fixed, slope))
    order = order[np.append(True, np.diff(slope[order]) > 0)]
    kept, ends = _envelope(fixed[order], slope[order])
    lines = order[kept]
    totals, means = (np.diff(part) for part in _at_ends(law, ends))
    profits = fixed[lines] * totals + slope[lines] * means
    return MaximumProfit(float(profits.sum()), float(np.sum(shares[lines] * totals)))


def _envelope(fixed: Floats, slope: Floats) -> tuple[list[int], Floats]:
    """Return the lines of the upper envelope by growing slope, and where each gives way."""
    kept: list[int] = []
    ends: list[float] = []
    heights, slopes = fixed.tolist(), slope.tolist()
    for i, (height, rise) in enumerate(zip(heights, slopes, strict=True)):
        while kept:
            last = kept[-1]
            meet = (heights[last] - height) / (rise - slopes[last])
            if ends and meet <= ends[-1]:
                kept.pop()
                ends.pop()
                continue
            ends.append(meet)
            break
        kept.append(i)
    return kept, np.array(ends)


def _expected_maximum(
    y_true: ArrayLike,
    y_score: ArrayLike,
    cost: float,
    law: Law,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> MaximumProfit:
    """Return the expected maximum profit where a positive found earns b, which follows `law`.

    Every other row that is acted on costs `cost`. This is `expected_maximum_profit` with one
    uncertain factor, whose law is given in closed form.
    """
    keys = check_binary(y_true, y_score, sample_weight, pos_label)
    steps = error_steps(*keys)
    need_both_classes(steps)
    total = steps.positives + steps.negatives
    corners = lower_hull(steps.false_positive, steps.false_negative)  # others are never the best
    false = steps.false_positive[corners] / total
    true = (steps.positives - steps.false_negative[corners]) / total
    return _exact_maximum(-cost * false, true, true + false, law)


def _at_ends(law: Law, worth: Floats) -> tuple[Floats, Floats]:
    """Return the law at the ends of the intervals, from minus to plus infinity."""
    total, mean = law(worth)
    end_total, end_mean = law(np.array([np.inf]))
    return (
        np.concatenate([[0.0], total, end_total]),
        np.concatenate([[0.0], mean, end_mean]),
    )
