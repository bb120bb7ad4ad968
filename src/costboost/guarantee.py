"""Upper bounds on what decisions cost on average, which hold for every number of rows.

Rows that the model has not seen are decided and paid for: n costs, each between the least and the
largest that a row can cost. From them `mean_bound` computes a number that the mean cost of all such
rows exceeds with probability at most 1 - confidence: not approximately and not for large n, and
whatever the probabilities behind the decisions are worth. What it needs is that the rows are drawn
alike and independently, that nothing was chosen by looking at their labels, and the two limits.

Inside, costs are scaled to [0, 1]. `wealth_p_value` tests "the mean is at least u" by a bet: a
gambler who loses money at that mean starts with 1, and puts a share of it on each row, chosen by
the rows before it. Wealth of 1 / delta or more is seen with probability at most delta if the
hypothesis is true (Ville's inequality). The bound is the largest u that is not rejected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from costboost.costs import Costs, as_costs
from costboost.inputs.arrays import read_numbers
from costboost.inputs.checks import check_choice
from costboost.text import count, money, percent
from costboost.typing import Floats

__all__ = ["CostBound", "cost_bound", "cost_range", "mean_bound", "mean_p_value", "rate_p_value"]

Method = Literal["betting", "hoeffding-bentkus", "hoeffding"]
METHODS = ("betting", "hoeffding-bentkus", "hoeffding")


@dataclass(frozen=True)
class CostBound:
    """What the mean cost of new rows does not exceed, and what that was computed from.

    Attributes
    ----------
    upper : float
        The bound, in the unit of the costs.
    mean : float
        Mean cost of the rows that it was computed from.
    confidence : float
        Probability, over draws of those rows, with which the bound holds.
    n_rows : int
        Number of rows.
    low, high : float
        The least and the largest that one row can cost.
    method : str
        As given to `cost_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.guarantee import cost_bound
    >>> y = np.repeat([0, 1], [950, 50])
    >>> bound = cost_bound(y, np.zeros(1000), costs={"fp": 1, "fn": 10})
    >>> bound.n_rows, bound.mean, bound.upper > bound.mean
    (1000, 0.5, True)
    """

    upper: float
    mean: float
    confidence: float
    n_rows: int
    low: float
    high: float
    method: str

    def sentence(self, currency: str | None = "") -> str:
        """Return the promise in plain words; amounts are rounded up.

        Examples
        --------
        >>> CostBound(0.6012, 0.5, 0.95, 900, 0, 10, "betting").sentence("EUR")
        'With 95 % confidence the average bill of such rows is at most EUR 0.61.'
        """
        if self.upper >= self.high:
            rows = count(self.n_rows, "row")
            return (
                f"{rows} allow no promise below {money(self.high, currency)}, the most that a row "
                "can cost."
            )
        return (
            f"With {percent(self.confidence)} confidence the average bill of such rows is at most "
            f"{money(rounded_up(self.upper), currency)}."
        )

    def __str__(self) -> str:
        return self.sentence()


def rounded_up(amount: float) -> float:
    """Return the least amount, as `money` writes it, that is not below this one.

    Examples
    --------
    >>> rounded_up(0.6012), rounded_up(1234.2), rounded_up(0.01231), rounded_up(-0.501)
    (0.61, 1235.0, 0.0124, -0.5)
    """
    size = abs(amount)
    if not size or size >= 1e15:
        return amount
    decimals = 0 if size >= 100 else 2 if size >= 0.1 else 2 - math.floor(math.log10(size))
    shown = round(amount, decimals)
    return shown if shown >= amount else round(amount + 10.0**-decimals, decimals)


def cost_bound(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    X: Any = None,
    confidence: float = 0.95,
    cap: float | None = None,
    floor: float | None = None,
    method: Method = "betting",
    random_state: int | None = 0,
) -> CostBound:
    """Return an upper bound on the mean cost of new rows, valid for every number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of rows that neither the model nor its threshold was chosen on.
    y_pred : array-like of shape (n_samples,)
        Decisions: predicted labels, or actions if the costs name some.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    X : table of n_samples rows, default=None
        Where costs name columns.
    confidence : float, default=0.95
        Probability with which the bound holds.
    cap : float, default=None
        The most that a row can cost. It is known where costs are constant, and must be named where
        they differ by row: new rows may cost more than any that was seen. A row that costs more
        than the cap raises.
    floor : float, default=None
        The least that a row can cost: that of constant costs, else 0.
    method : {"betting", "hoeffding-bentkus", "hoeffding"}, default="betting"
        As in `mean_bound`.
    random_state : int or None, default=0
        As in `mean_bound`.

    Returns
    -------
    CostBound

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.guarantee import cost_bound
    >>> y = np.repeat([0, 1], [950, 50])
    >>> decided = np.where(np.arange(1000) % 25 == 0, 1 - y, y)  # 40 mistakes
    >>> bound = cost_bound(y, decided, costs={"fp": 1, "fn": 10})
    >>> print(bound)
    With 95 % confidence the average bill of such rows is at most 0.0786.
    >>> bound.mean
    0.058
    """
    known = as_costs(costs, table=X)
    paid = known.of_decisions(y_true, y_pred)
    low, high = cost_range(known, paid, cap, floor)
    upper = mean_bound(
        paid, low, high, confidence=confidence, method=method, random_state=random_state
    )
    return CostBound(upper, float(np.mean(paid)), confidence, len(paid), low, high, method)


def cost_range(
    costs: Costs, paid: Floats, cap: float | None = None, floor: float | None = None
) -> tuple[float, float]:
    """Return the least and the largest cost of a row: those of the matrix, or those named.

    Raises
    ------
    ValueError
        Where prices are `uncertain`; where costs differ by row and no cap is named; where a row
        was paid that lies outside.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import Costs
    >>> from costboost.guarantee import cost_range
    >>> cost_range(Costs(fp=1, fn=10), np.array([0.0, 1.0]))
    (0.0, 10.0)
    """
    if costs.factors:
        raise ValueError(
            f"The prices of {', '.join(sorted(costs.factors))} are not known exactly, so a promise "
            "would be one at their means only: give costs.at({...}), the prices it is to hold at."
        )
    seen = float(np.min(paid, initial=0.0)), float(np.max(paid, initial=0.0))
    low, high = 0.0, math.inf
    if costs.is_constant:
        cells = np.concatenate([np.ravel(column) for column in costs._state.columns])
        low, high = float(cells.min()), float(cells.max())
    elif cap is None:
        raise ValueError(
            "These costs differ by row, so that new rows may cost more than any seen so far, and "
            "no bound on their mean is possible. Name the most that a row can cost, cap=...; here "
            f"it was {seen[1]:g}."
        )
    for name, value in (("cap", cap), ("floor", floor)):
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{name}={value!r}: give a finite amount.")
    high = high if cap is None else float(cap)
    low = low if floor is None else float(floor)
    if len(paid) and (seen[1] > high or np.min(paid) < low):
        wrong = f"{seen[1]:g}, above cap={high:g}" if seen[1] > high else f"{np.min(paid):g}"
        side = "" if seen[1] > high else f", below floor={low:g}"
        raise ValueError(
            f"A row costs {wrong}{side}: the promise would not hold for such rows. Name limits "
            "that no row exceeds, or cut the prices themselves where the bill is cut."
        )
    if not low <= high:
        raise ValueError(f"cap={high:g} lies below floor={low:g}.")
    return low, high


def mean_bound(
    values: ArrayLike,
    low: float,
    high: float,
    *,
    confidence: float = 0.95,
    method: Method = "betting",
    random_state: int | None = 0,
) -> float:
    """Return what the mean of the distribution of some values does not exceed, with confidence.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Drawn independently from one distribution, within [low, high].
    low, high : float
        Limits of that distribution.
    confidence : float, default=0.95
        Least probability that the mean is at most what is returned.
    method : {"betting", "hoeffding-bentkus", "hoeffding"}, default="betting"
        "betting" is the predictable plug-in of Waudby-Smith and Ramdas (2024) and adapts to the
        variance; the other two know only the mean, and serve to check it.
    random_state : int or None, default=0
        "betting" depends on the order of the values, which must not depend on them. A number
        shuffles them by it; None takes them as they come.

    Returns
    -------
    float
        At most `high`, which is returned where there are no values.

    References
    ----------
    Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting".
    Bates, Angelopoulos, Lei, Malik and Jordan 2021, "Distribution-free, risk-controlling prediction
    sets", for Hoeffding-Bentkus.

    Examples
    --------
    >>> from costboost.guarantee import mean_bound
    >>> rare = [0] * 990 + [1] * 10
    >>> [round(mean_bound(rare, 0, 1, method=m), 4) for m in ("betting", "hoeffding")]
    [0.0228, 0.0487]
    """
    x = _scaled(values, low, high, random_state)
    delta = 1 - _checked_confidence(confidence)
    check_choice("method", method, METHODS)
    if not len(x) or high <= low:
        return float(high)
    bets = _bets(x, delta) if method == "betting" else x
    # The p-value falls as the mean that is tested rises: halve the interval of means between one
    # that is not rejected and one that is. What is returned is the rejected end, never too small.
    inside, outside = float(np.mean(x)), 1.0
    while outside - inside > 1e-12 * max(outside, 1e-3):
        middle = 0.5 * (inside + outside)
        if _p_value(x, bets, middle, method) <= delta:
            outside = middle
        else:
            inside = middle
    return float(min(high, low + outside * (high - low)))


def mean_p_value(
    values: ArrayLike,
    limit: float,
    low: float,
    high: float,
    *,
    confidence: float = 0.95,
    method: Method = "betting",
    random_state: int | None = 0,
) -> float:
    """Return a p-value of "the mean is above this limit": small where values speak against it.

    Whatever the distribution within [low, high], if its mean is above the limit, the p-value is at
    most d with probability at most d, for every d. Bets are tuned for d = 1 - confidence.

    Parameters
    ----------
    values, low, high, confidence, method, random_state
        As for `mean_bound`.
    limit : float

    Returns
    -------
    float
        Between 0 and 1; 0 where the limit is at least `high`.

    Examples
    --------
    >>> from costboost.guarantee import mean_p_value
    >>> rare = [0] * 990 + [1] * 10
    >>> mean_p_value(rare, 0.05, 0, 1) < 0.01 < mean_p_value(rare, 0.0101, 0, 1)
    True
    """
    x = _scaled(values, low, high, random_state)
    delta = 1 - _checked_confidence(confidence)
    check_choice("method", method, METHODS)
    if limit >= high:
        return 0.0
    if not len(x) or limit < low:
        return 1.0
    bets = _bets(x, delta) if method == "betting" else x
    return _p_value(x, bets, (limit - low) / (high - low), method)


def rate_p_value(n_events: int, n_rows: int, limit: float) -> float:
    """Return the exact p-value of "events are more frequent than this", of independent rows.

    Examples
    --------
    >>> round(rate_p_value(0, 149, 0.02), 4)
    0.0493
    """
    if limit >= 1:
        return 0.0
    return float(stats.binom.cdf(n_events, n_rows, limit)) if n_rows else 1.0


def _scaled(values: ArrayLike, low: float, high: float, seed: int | None) -> Floats:
    """Return values scaled to [0, 1], in the order of the bets."""
    given = read_numbers(np.asarray(values), "values", negative=True)
    if given.ndim != 1:
        raise ValueError(f"values has shape {given.shape}: give one number per row.")
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"low={low!r}, high={high!r}: give finite limits, the lower one first.")
    if len(given) and (given.min() < low or given.max() > high):
        worst = given.min() if given.min() < low else given.max()
        raise ValueError(f"values contain {worst:g}, outside of [{low:g}, {high:g}].")
    if seed is not None:
        given = np.random.default_rng(seed).permutation(given)
    return np.asarray((given - low) / (high - low)) if high > low else np.zeros(len(given))


def _checked_confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a probability between 0 and 1.")
    return float(confidence)


def _p_value(x: Floats, bets: Floats, mean: float, method: str) -> float:
    if method == "betting":
        return wealth_p_value(x, bets, mean)
    hoeffding = _hoeffding(float(np.mean(x)), mean, len(x))
    if method == "hoeffding":
        return min(1.0, math.exp(-2 * len(x) * max(mean - float(np.mean(x)), 0.0) ** 2))
    # Bentkus 2004: at most e times a binomial tail, of the sum rounded up.
    total = math.ceil(float(np.sum(x)))
    return min(1.0, hoeffding, math.e * float(stats.binom.cdf(total, len(x), mean)))


def _hoeffding(seen: float, mean: float, n: int) -> float:
    """Hoeffding 1963, Theorem 1: exp(-n kl(seen, mean)) where the seen mean is the smaller."""
    if seen >= mean:
        return 1.0
    if mean >= 1:
        return 0.0
    divergence = (seen * math.log(seen / mean) if seen else 0.0) + (1 - seen) * math.log(
        (1 - seen) / (1 - mean)
    )
    return math.exp(-n * divergence)


# A bet never risks more than this share of the wealth on one row.
_BOLDEST = 0.75


def _bets(x: Floats, delta: float) -> Floats:
    """Return how much is put on each row, known before it: Waudby-Smith and Ramdas, Eq. 29.

    `sqrt(2 log(1 / delta) / (n v))`, where v estimates the variance from the rows before. Tuned for
    the last row, where the bound is read.
    """
    n = len(x)
    ranks = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(x)) / (ranks + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (ranks + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2 * math.log(1 / delta) / (n * before)))


def wealth_p_value(x: Floats, bets: Floats, mean: float) -> float:
    """Return 1 over the largest wealth of a gambler who bets that the mean is below this one.

    Wealth after each row is the product of `1 + bet (mean - x)`, which is expected to shrink, or
    to stay, if the true mean is not below. Bets are cut so that no factor is below
    `1 - _BOLDEST`; each factor, and so the wealth, rises with `mean`.
    """
    most = _BOLDEST / max(1.0 - mean, 1e-300)
    gains = np.log1p(np.minimum(bets, most) * (mean - x))
    return math.exp(-max(0.0, float(np.max(np.cumsum(gains)))))
