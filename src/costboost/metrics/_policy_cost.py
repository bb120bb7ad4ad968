"""What a new policy would have cost, from rows whose labels depend on what was decided before.

Where only accepted rows show their truth, three parts make a bill. *Known*: rows with a label, and
rows on which the new decision costs the same whatever is true. *Estimated*: rows without a label
that had a fair chance of one; labelled rows like them stand for them, each for ``1 / propensity``.
*Unknowable*: rows that the old policy (nearly) never labelled; nothing is like them, so that only
the prices say between which ends their bill lies.

With w = observed / propensity, c the cost of the new decision where it is known, and m what a model
expects it to be, the mean over rows is estimated by

    inverse propensity    mean(w c)                 Horvitz and Thompson 1952
    self-normalised       sum(w c) / sum(w)         Hajek 1971; Swaminathan and Joachims 2015
    doubly robust         mean(m + w (c - m))       Robins et al. 1994; Dudik et al. 2011

A hidden bias is a reason to have been labelled that no column shows. The marginal sensitivity model
(Tan 2006) limits it: the true odds of a label are within a factor of those given. The bounds then
are the extremes of the self-normalised estimate over all such weights (Zhao, Small and Bhattacharya
2019), found exactly: the extreme weights are the largest above some cost, and the least below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.inputs.checks import check_choice, check_number, warn_caller
from costboost.metrics._policy_rows import PolicyRows, read_policy_rows
from costboost.metrics.policies import FEW_ROWS, SumInterval, sum_interval
from costboost.text import count, money, percent, span
from costboost.typing import Floats, Mask

METHODS = ("inverse-propensity", "self-normalised", "doubly-robust")
_LEAST = 0.02  # below, a chance is little more than a guess
_MISFIT = 5.0  # standard errors


class BillPart(NamedTuple):
    """A part of a bill: how many rows it is of, what they cost, and between which ends.

    Attributes
    ----------
    rows : int
    cost : float
        NaN where nothing can be said but the ends.
    low, high : float

    Examples
    --------
    >>> from costboost.metrics import policy_cost
    >>> found = policy_cost(
    ...     [0, 1, None], [0, 0, 1], costs={"fp": 1, "fn": 5}, propensity=[1, 1, 0], labels=[0, 1]
    ... )
    >>> found.unknowable.rows, found.unknowable.low, found.unknowable.high
    (1, 0.0, 1.0)
    """

    rows: int
    cost: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PolicyCost:
    """What a policy would have cost on the rows at hand; ``print`` says it in words.

    All amounts are totals over the rows (their weighted sum), in the unit of the costs.

    Attributes
    ----------
    total : float
        The estimate by `method`; NaN where a part of the bill is unknowable.
    low, high : float
        The interval of the total; where a part is unknowable, from the lower end of what is
        estimated with the least that the rest can cost, to the upper end with the most.
    method : str
    estimates : dict of str to SumInterval
        The part of the bill that is known or estimated, by each method that there is enough for.
    known, estimated, unknowable : BillPart
        They add up to the total.
    bounds : tuple of two floats
        Between these lies the bill whatever the missing labels are.
    hidden_bias : float
        How far the odds of a label may be from those given, as a factor.
    hidden_bias_bounds : tuple of two floats or None
        The interval of the total under such a bias; None where it was not asked for.
    effective_rows : float
        As how many labelled rows of equal weight those estimated from are worth.
    weight_ratio : float
        For how many rows the labelled ones stand, as a share of those there are; near 1 where the
        propensities are right.
    n_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import policy_cost
    >>> y = np.array([0, 0, 1, np.nan] * 50)
    >>> found = policy_cost(y, [0] * 200, costs={"fp": 1, "fn": 4}, propensity=[0.75] * 200)
    >>> round(found.total, 3), found.known.rows, found.bounds
    (266.667, 150, (200.0, 400.0))
    """

    total: float
    low: float
    high: float
    method: str
    estimates: dict[str, SumInterval]
    known: BillPart
    estimated: BillPart
    unknowable: BillPart
    bounds: tuple[float, float]
    hidden_bias: float
    hidden_bias_bounds: tuple[float, float] | None
    effective_rows: float
    weight_ratio: float
    n_rows: int
    confidence: float

    @property
    def mean(self) -> float:
        """The estimate for each row."""
        return self.total / self.n_rows

    def __repr__(self) -> str:
        parts = (
            f"known {self.known.rows:,}, estimated {self.estimated.rows:,}, "
            f"unknowable {self.unknowable.rows:,} rows"
        )
        number = "no number" if math.isnan(self.total) else f"{self.total:.6g}"
        return f"PolicyCost({number}, {self.low:.6g} to {self.high:.6g}; {parts})"

    def __str__(self) -> str:
        sure = f"{percent(self.confidence)} interval"
        known, estimated, unknowable = self.known, self.estimated, self.unknowable
        lines = [
            f"known       {count(known.rows, 'row')}: {money(known.cost)}",
            f"estimated   {count(estimated.rows, 'row')} without a label: {money(estimated.cost)} "
            f"({sure} {span(estimated.low, estimated.high)}; {self.method}, from "
            f"{self.effective_rows:,.0f} effective rows)",
        ]
        if unknowable.rows:
            lines += [
                f"unknowable  {count(unknowable.rows, 'row')} unlike any with a label: "
                f"{span(unknowable.low, unknowable.high)}",
                f"total       no number: {span(self.low, self.high)}",
            ]
        else:
            lines.append(f"total       {money(self.total)} ({sure} {span(self.low, self.high)})")
        if self.hidden_bias_bounds is not None:
            lines.append(
                f"hidden bias {span(*self.hidden_bias_bounds)} if the odds of a label are off by a "
                f"factor of up to {self.hidden_bias:g} for reasons that no column shows"
            )
        lines.append(f"bounds      {span(*self.bounds)} whatever the missing labels are")
        return "\n".join(lines)


def policy_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: Any = None,
    labelled: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    log: Any = None,
    reveals: Any = None,
    proba: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str = "auto",
    min_propensity: float | None = None,
    hidden_bias: float = 1.0,
    confidence: float = 0.95,
) -> PolicyCost:
    """Estimate what decisions would have cost on rows of which only some have a label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels; what stands where there is none (None, NaN) does not matter if ``labelled`` or
        ``reveals`` say which rows have one.
    y_pred : array-like of shape (n_samples,)
        Decisions of the new policy.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    labelled : bool array of shape (n_samples,), default=None
        Which rows have a label; None: those where ``y_true`` is not missing.
    propensity : array-like of shape (n_samples,), default=None
        The chance that each row had of getting its label under the old policy, of rows with and
        without one: logged, or estimated by `costboost.estimate_propensity`.
    log : table or Exploration, default=None
        In place of ``propensity``: the log that ``decide(explore=...)`` and the command line write,
        with the columns ``decision`` and ``propensity_<action>``.
    reveals : action or list of actions, default=None
        With ``log``, the decisions that show the truth, such as "pay" or "check": a label is a
        label then whatever else would have been decided. None: what is decided may change what
        happens, so that a row tells about the same decision only.
    proba : array-like of shape (n_samples, n_classes), default=None
        Probabilities by a model that was not trained on these rows, for the doubly robust
        estimate.
    labels : array-like of shape (n_classes,), default=None
        The classes, where the costs do not name them.
    sample_weight : array-like of shape (n_samples,), default=None
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are not independent; intervals allow for it.
    method : {"auto", "inverse-propensity", "self-normalised", "doubly-robust"}, default="auto"
        "auto" is doubly robust where there are probabilities, else self-normalised.
    min_propensity : float, default=None
        Rows without a label whose chance of one was less have nothing to be estimated from: they
        are unknowable, and bounded by their prices. None is 0.02; with ``log``, whose chances are
        no estimates, only rows without any chance are.
    hidden_bias : float, default=1.0
        Bounds are given as well for the case that the true odds of a label differ from those
        given by up to this factor, for reasons that no column shows; 1 is no such bias.
    confidence : float, default=0.95

    Returns
    -------
    PolicyCost

    Raises
    ------
    ValueError
        If neither ``propensity`` nor ``log`` is given, or one of them is no chance.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import Costs
    >>> from costboost.metrics import policy_cost
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.uniform(size=4000)
    >>> y = (rng.uniform(size=4000) < risk).astype(float)
    >>> chance = 1 - 0.9 * risk  # risky ones were rarely accepted
    >>> y[rng.uniform(size=4000) > chance] = np.nan
    >>> new = (risk > 0.6).astype(int)
    >>> found = policy_cost(y, new, costs=Costs(fp=1, fn=2), propensity=chance)
    >>> bool(found.low < 4000 * (0.4 - 0.4 * 0.8 + 2 * 0.6 * 0.3) < found.high)
    True
    """
    check_choice("method", method, ("auto", *METHODS))
    if min_propensity is None:
        min_propensity = _LEAST if log is None else float(np.finfo(np.float64).tiny)
    check_number("min_propensity", min_propensity, low=0.0, high=1.0, open_low=True)
    check_number("hidden_bias", hidden_bias, low=1.0)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: it must lie between 0 and 1, such as 0.95")
    if method == "doubly-robust" and proba is None:
        raise ValueError(
            "the doubly robust estimate needs proba=, the probabilities of a model that was not "
            "trained on these rows; or use method='self-normalised'"
        )
    rows = read_policy_rows(
        y_true, y_pred, costs, labelled, propensity, log, reveals, proba, labels, sample_weight
    )
    codes = None if groups is None else _group_codes(groups, len(rows.cost))
    return _estimate(rows, codes, method, min_propensity, hidden_bias, confidence)


# ---- Estimating


def _group_codes(groups: ArrayLike, n: int) -> NDArray[np.intp]:
    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has shape {given.shape}; it must name the group of {n} rows")
    codes = np.unique(given, return_inverse=True)[1].astype(np.intp)
    if codes.max(initial=0) == 0:
        raise ValueError("all rows are of one group: an interval needs at least two")
    return codes


def _estimate(
    rows: PolicyRows,
    groups: NDArray[np.intp] | None,
    method: str,
    min_propensity: float,
    hidden_bias: float,
    confidence: float,
) -> PolicyCost:
    same = rows.least == rows.most  # whatever is true
    seen = rows.observed & ~same
    open_rows = ~rows.observed & ~same
    comparable = ~same & (rows.propensity >= min_propensity)
    if not (seen & comparable).any():
        comparable[:] = False
    # Rows of a cost that is known without any estimate, and those that nothing is like.
    sure = same | (seen & ~comparable)
    unknown = open_rows & ~comparable
    fixed = np.where(sure, rows.weight * np.where(same, rows.least, rows.cost), 0.0)

    def interval(terms: Floats) -> SumInterval:
        return sum_interval(fixed + terms, groups, confidence)

    inverse = np.zeros(len(rows.cost))
    at = seen & comparable
    inverse[at] = rows.weight[at] / rows.propensity[at]
    share = np.where(comparable, rows.weight, 0.0)  # of each row in what is estimated
    estimates = {METHODS[0]: interval(inverse * rows.cost)}
    estimates[METHODS[1]] = interval(_normalised(rows.cost, inverse, share))
    if rows.expected is not None:
        terms = share * rows.expected + inverse * (rows.cost - rows.expected)
        estimates[METHODS[2]] = interval(terms)
    if method == "auto":
        method = METHODS[1] if rows.expected is None else METHODS[2]
    best = estimates[method]
    if (open_rows & comparable).any():
        # Where odds may be off, labelled rows need not stand for all.
        _warn_misfit(inverse, share, rows, comparable, odds_hold=hidden_bias == 1.0)
    known = float(np.sum(rows.weight * np.where(same, rows.least, rows.cost)))
    least = float(np.sum((rows.weight * rows.least)[unknown]))
    most = float(np.sum((rows.weight * rows.most)[unknown]))
    n_unknown = int(np.count_nonzero(unknown))
    n_estimated = int(np.count_nonzero(open_rows & comparable))
    bounds = (
        known + float(np.sum((rows.weight * rows.least)[open_rows])),
        known + float(np.sum((rows.weight * rows.most)[open_rows])),
    )
    bias_bounds = None
    if hidden_bias > 1.0:
        ends = [
            interval(_extreme(rows, inverse, share, hidden_bias, upper)) for upper in (False, True)
        ]
        # No bias makes these rows cost more, or less, than any labels could.
        bias_bounds = (max(ends[0].low + least, bounds[0]), min(ends[1].high + most, bounds[1]))
    squares = float(np.sum(inverse**2))
    return PolicyCost(
        total=math.nan if n_unknown else best.total,
        low=best.low + least,
        high=best.high + most,
        method=method,
        estimates=estimates,
        known=BillPart(len(same) - int(np.count_nonzero(open_rows)), known, known, known),
        estimated=BillPart(n_estimated, best.total - known, best.low - known, best.high - known),
        unknowable=BillPart(n_unknown, math.nan if n_unknown else 0.0, least, most),
        bounds=bounds,
        hidden_bias=hidden_bias,
        hidden_bias_bounds=bias_bounds,
        effective_rows=float(np.sum(inverse)) ** 2 / squares if squares else 0.0,
        weight_ratio=float(np.sum(inverse) / np.sum(share)) if share.any() else 1.0,
        n_rows=len(rows.cost),
        confidence=confidence,
    )


def _normalised(cost: Floats, inverse: Floats, share: Floats) -> Floats:
    """Return terms whose sum is the self-normalised estimate, and whose spread is its error.

    A ratio of sums moves, to first order, with the residuals from it (the delta method).
    """
    total = float(np.sum(inverse))
    if total == 0.0:
        return np.zeros(len(cost))
    mean = float(np.sum(inverse * cost)) / total
    return share * mean + inverse * (cost - mean) * (float(np.sum(share)) / total)


def _extreme(
    rows: PolicyRows, inverse: Floats, share: Floats, factor: float, upper: bool
) -> Floats:
    """Return the terms of the largest (or least) estimate under a hidden bias of this factor."""
    expected = np.zeros(len(inverse)) if rows.expected is None else rows.expected
    at = np.flatnonzero(inverse > 0)
    if not len(at):
        return np.zeros(len(inverse))
    residual = (rows.cost - expected)[at] * (1.0 if upper else -1.0)
    odds = inverse[at] - rows.weight[at]  # (1 - p) / p, times the row's weight
    low, high = rows.weight[at] + odds / factor, rows.weight[at] + odds * factor
    order = np.argsort(-residual, kind="stable")
    r, low, high = residual[order], low[order], high[order]
    # The k rows of the largest residuals weigh most, the others least: all k at once.
    sums = np.concatenate([[0.0], np.cumsum((high - low) * r)]) + float(np.sum(low * r))
    weights = np.concatenate([[0.0], np.cumsum(high - low)]) + float(np.sum(low))
    k = int(np.argmax(sums / weights))
    extreme = np.zeros(len(inverse))
    extreme[at[order]] = np.where(np.arange(len(at)) < k, high, low)
    return share * expected + _normalised(rows.cost - expected, extreme, share)


def _warn_misfit(
    inverse: Floats, share: Floats, rows: PolicyRows, comparable: Mask, *, odds_hold: bool
) -> None:
    """Warn where labelled rows cannot stand for all, and where few carry the estimate."""
    p, w = rows.propensity[comparable], rows.weight[comparable]
    error = math.sqrt(float(np.sum(w**2 * (1 - p) / p)))
    off = float(np.sum(inverse) - np.sum(share))
    if odds_hold and abs(off) > _MISFIT * error + 1e-9 * float(np.sum(share)):
        warn_caller(
            f"The propensities do not fit: rows with a label stand for {np.sum(inverse):,.0f} "
            f"rows, but there are {np.sum(share):,.0f}. They must be each row's chance to have got "
            "its label, under the policy that decided then."
        )
    effective = float(np.sum(inverse)) ** 2 / float(np.sum(inverse**2))
    if effective < FEW_ROWS:
        warn_caller(
            f"The estimate rests on {effective:.0f} effective rows with a label, too few for its "
            "interval: read the bounds, raise min_propensity=, or explore more."
        )
