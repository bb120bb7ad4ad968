"""Bootstrap intervals of a measure, and a paired test between two models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_consistent_length, check_random_state

from costboost.costs import Costs, as_costs
from costboost.metrics.policies import sum_interval
from costboost.metrics.prices import check_weights, power_of_two, realise, take_rows
from costboost.typing import Floats

# Random numbers are drawn in blocks of about this many, whatever the number of rows.
_BLOCK = 1 << 20
_PARTS = 200  # parts of the rows that are left out in turn, at most


class BootstrapInterval(NamedTuple):
    """Result of :func:`bootstrap_interval`.

    Attributes
    ----------
    estimate : float or ndarray
        The metric on all rows.
    low, high : float or ndarray
        Ends of the interval, of the same shape.
    standard_error : float or ndarray
        Standard deviation of the resampled values.
    samples : ndarray of shape (n_resamples, ...)
        The metric on each resample.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.metrics import bootstrap_interval, mean_cost
    >>> found = bootstrap_interval(
    ...     mean_cost, [0, 1] * 50, [0, 0, 1, 1] * 25, costs=Costs(fp=1, fn=5), random_state=0
    ... )
    >>> float(found.estimate), bool(found.low <= found.estimate <= found.high)
    (1.5, True)
    """

    estimate: Any
    low: Any
    high: Any
    standard_error: Any
    samples: Floats

    def __repr__(self) -> str:
        ends = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self._fields[:4])
        return f"BootstrapInterval({ends}, {len(self.samples)} resamples)"


def _short(value: Any) -> str:
    """Return a number, or the shape of several, in few letters."""
    return f"{float(value):.6g}" if np.ndim(value) == 0 else f"<array of shape {np.shape(value)}>"


class PairedCostTest(NamedTuple):
    """Result of :func:`paired_cost_test`.

    Attributes
    ----------
    difference : float
        Mean cost of the first model minus that of the second; negative: the first is cheaper.
    low, high : float
        Confidence interval of the difference.
    p_value : float
        Of the sign-flip permutation test that both cost the same.
    n_different : int
        Rows (or groups) on which the two models cost different amounts.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import Costs
    >>> from costboost.metrics import paired_cost_test
    >>> y, ours = np.array([0, 1] * 50), np.array([0, 0, 1, 1] * 25)
    >>> found = paired_cost_test(y, ours, 0 * y, costs=Costs(fp=1, fn=5), random_state=0)
    >>> found.difference, found.n_different
    (-1.0, 50)
    """

    difference: float
    low: float
    high: float
    p_value: float
    n_different: int


def _check_resampling(n_resamples: int, confidence: float) -> None:
    if n_resamples < 1:
        raise ValueError(f"n_resamples={n_resamples}: at least one is needed")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: it must lie between 0 and 1, such as 0.95")


def _pools(labels: ArrayLike | None, n_samples: int, name: str) -> list[NDArray[np.intp]]:
    """Return the rows of each distinct label, or all rows as one pool."""
    if labels is None:
        return [np.arange(n_samples)]
    values = np.asarray(labels)
    if values.shape != (n_samples,):
        raise ValueError(f"{name} has shape {values.shape}, but there are {n_samples} rows")
    _, code, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return np.split(np.argsort(code.reshape(-1), kind="stable"), np.cumsum(sizes)[:-1])


def _resamples(
    n_samples: int,
    n_resamples: int,
    stratify: ArrayLike | None,
    groups: ArrayLike | None,
    rng: np.random.RandomState,
) -> Iterator[NDArray[np.intp]]:
    """Yield row numbers drawn with replacement: within strata, or whole groups at a time."""
    if stratify is not None and groups is not None:
        raise ValueError("give stratify= or groups=, not both: groups may span strata")
    if groups is not None:
        pools = _pools(groups, n_samples, "groups")
        for _ in range(n_resamples):
            drawn = rng.randint(len(pools), size=len(pools))
            yield np.concatenate([pools[g] for g in drawn])
        return
    pools = _pools(stratify, n_samples, "stratify")
    for _ in range(n_resamples):
        yield np.concatenate([pool[rng.randint(len(pool), size=len(pool))] for pool in pools])


def bootstrap_interval(
    metric: Callable[..., Any],
    *arrays: Any,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    method: Literal["percentile", "basic", "bca"] = "percentile",
    stratify: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    **params: Any,
) -> BootstrapInterval:
    """Return a bootstrap interval for any measure.

    Rows are drawn with replacement, the same for every array, so that labels, predictions of one
    or of several models, weights and costs stay paired.

    Parameters
    ----------
    metric : callable
        Called as ``metric(*arrays, **params)``; returns a number or an array of fixed shape.
    *arrays : array-likes with n_samples rows
        Such as `y_true` and `y_pred`. NumPy, pandas and polars objects and lists are accepted.
    n_resamples : int, default=1000
        Number of resamples.
    confidence : float, default=0.95
        Coverage of the interval.
    method : {"percentile", "basic", "bca"}, default="percentile"
        Quantiles of the resampled values; those reflected about the estimate; or quantiles moved
        by the bias and the acceleration of the measure (Efron 1987), which suits sums of few large
        costs, whose distribution is skewed. The acceleration takes the measure on up to 200 more
        samples, each of which leaves out a part of the rows.
    stratify : array-like of shape (n_samples,), default=None
        Resample within each of these labels, which keeps their numbers (for measures that need
        rows of both classes).
    groups : array-like of shape (n_samples,), default=None
        Resample whole groups, for rows that are not independent (several per customer).
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    **params
        Keywords of the metric. `costs`, and whatever has one value per row, is cut with the rows;
        the rest is passed on as it is.

    Returns
    -------
    result : BootstrapInterval
        Estimate, interval, standard error and the resampled values.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import bootstrap_interval, mean_cost
    >>> rng = np.random.RandomState(0)
    >>> y, decided = rng.randint(2, size=200), rng.randint(2, size=200)
    >>> result = bootstrap_interval(
    ...     mean_cost, y, decided, costs={"fp": 1, "fn": 10}, random_state=0
    ... )
    >>> bool(result.low < result.estimate < result.high)
    True
    """
    _check_resampling(n_resamples, confidence)
    if not arrays:
        raise ValueError("no arrays were given: pass y_true, y_pred, ... after the metric")
    if method not in ("percentile", "basic", "bca"):
        raise ValueError(f"method={method!r}: use 'percentile', 'basic' or 'bca'")
    rows = [array for array in arrays if not isinstance(array, Costs)]
    check_consistent_length(*rows)
    n = int(np.shape(rows[0])[0])
    if n == 0:
        raise ValueError("the arrays are empty: a measure needs at least one row")
    if params.get("costs") is not None:
        known = as_costs(params["costs"])
        has_labels = params.get("labels") is not None  # which name the classes themselves
        params["costs"] = known if has_labels else _named(known, arrays[0])
    estimate = np.asarray(metric(*arrays, **params), dtype=np.float64)
    rng = check_random_state(random_state)
    samples = np.array(
        [
            _on_resample(metric, arrays, params, drawn, n)
            for drawn in _resamples(n, n_resamples, stratify, groups, rng)
        ],
        dtype=np.float64,
    )
    undefined = np.count_nonzero(~np.isfinite(samples).reshape(n_resamples, -1).all(axis=1))
    if undefined:
        raise ValueError(
            f"the metric is not finite on {undefined} of {n_resamples} resamples: resample within "
            "classes with stratify=y_true, or use a metric that is defined for all of them"
        )
    tail = (1 - confidence) / 2
    if method == "bca":
        left_out = np.array(
            [
                _on_resample(metric, arrays, params, kept, n)
                for kept in _without_parts(n, stratify, groups)
            ],
            dtype=np.float64,
        )
        low, high = bca_ends(estimate, samples, left_out, tail)
    else:
        low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    error = _deviation(samples)
    return BootstrapInterval(estimate[()], low, high, error, samples)


def _without_parts(
    n_samples: int, stratify: ArrayLike | None, groups: ArrayLike | None
) -> Iterator[NDArray[np.intp]]:
    """Yield all rows but those of one part: a row, a group, or where there are many, several."""
    if groups is not None:
        part = np.asarray(np.unique(np.asarray(groups), return_inverse=True)[1]).reshape(-1)
    else:
        # Parts run through the strata in turn, so that none loses all of a small one.
        part = np.empty(n_samples, dtype=np.intp)
        part[np.concatenate(_pools(stratify, n_samples, "stratify"))] = np.arange(n_samples)
    part = part % min(int(part.max()) + 1, _PARTS)
    for k in range(int(part.max()) + 1):
        kept = np.flatnonzero(part != k)
        if len(kept):
            yield kept


def bca_ends(estimate: Floats, samples: Floats, left_out: Floats, tail: float) -> tuple[Any, Any]:
    """Return the ends of Efron's (1987) interval, "bias-corrected and accelerated".

    Quantiles are taken at ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))``: z0 is the normal quantile of
    the share of samples below the estimate (ties count half), and the acceleration a is a sixth of
    the skewness of the jackknife values.
    """
    n_resamples = len(samples)
    below = np.mean(samples < estimate, axis=0) + 0.5 * np.mean(samples == estimate, axis=0)
    z0 = stats.norm.ppf(np.clip(below, 0.5 / n_resamples, 1 - 0.5 / n_resamples))
    off = left_out.mean(axis=0) - left_out
    off = np.ldexp(off, -np.frexp(np.max(np.abs(off), axis=0))[1])  # so that powers stay in range
    spread = np.sum(off**2, axis=0) ** 1.5
    a = np.divide(np.sum(off**3, axis=0), 6 * spread, out=np.zeros_like(spread), where=spread > 0)
    ends = []
    for z in stats.norm.ppf([tail, 1 - tail]):
        share = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        ends.append(_quantiles_at(samples, np.asarray(share)))
    return ends[0], ends[1]


def _quantiles_at(samples: Floats, shares: Floats) -> Any:
    """Return a quantile of each of several measures, every one at its own share."""
    columns, places = samples.reshape(len(samples), -1), shares.reshape(-1)
    found = [np.quantile(column, at) for column, at in zip(columns.T, places, strict=True)]
    return np.array(found).reshape(shares.shape)[()]


def _named(costs: Costs, y_true: Any) -> Costs:
    """Name the classes of costs, where labels do, so that they survive a resample without one."""
    if costs.classes is not None or isinstance(y_true, Costs) or len(costs.shape) < 3:
        return costs
    classes = np.unique(np.asarray(y_true))
    return costs.bind(classes) if len(classes) == costs.shape[1] else costs


def _on_resample(
    metric: Callable[..., Any],
    arrays: tuple[Any, ...],
    params: dict[str, Any],
    drawn: NDArray[np.intp],
    n_samples: int,
) -> Any:
    try:
        return metric(
            *(take_rows(array, drawn, n_samples) for array in arrays),
            **{key: take_rows(value, drawn, n_samples) for key, value in params.items()},
        )
    except ValueError as error:
        raise ValueError(
            f"the metric failed on a resample ({error}): if that lacks a class, resample within "
            "classes with stratify=y_true"
        ) from error


def _deviation(samples: Floats) -> Any:
    """Return the standard deviation over resamples, scaled so that squares stay in range."""
    if len(samples) == 1:
        return np.zeros(samples.shape[1:])[()]
    scale = power_of_two(samples)
    return np.std(samples / scale, axis=0, ddof=1) * scale


def _blocks(n_resamples: int, width: int) -> Iterator[int]:
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


def _without_weightless(
    first: Floats, second: Floats, weight: Floats, groups: ArrayLike | None
) -> tuple[Floats, Floats, Floats, NDArray[Any] | None]:
    kept = weight > 0
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != weight.shape:
            raise ValueError(f"groups has shape {groups.shape}, but there are {len(weight)} rows")
        groups = groups[kept]
    return first[kept], second[kept], weight[kept], groups


def _flip_p_value(
    terms: Floats, alternative: str, n_resamples: int, rng: np.random.RandomState
) -> float:
    """Return the p-value of `sum(terms)` when the sign of every term is a coin flip.

    All sign patterns are counted when there are no more of them than `n_resamples`.
    """
    terms = terms[terms != 0]
    if len(terms) == 0:
        return 1.0
    slack = 1e-12 * float(np.sum(np.abs(terms)))  # equal sums may differ in the last bits
    observed = float(np.sum(terms))

    def count(signs: NDArray[np.int8]) -> int:
        sums = signs @ terms
        if alternative == "less":
            return int(np.count_nonzero(sums <= observed + slack))
        if alternative == "greater":
            return int(np.count_nonzero(sums >= observed - slack))
        return int(np.count_nonzero(np.abs(sums) >= abs(observed) - slack))

    if len(terms) < 31 and 2 ** len(terms) <= n_resamples:
        patterns = np.arange(2 ** len(terms))[:, None] >> np.arange(len(terms)) & 1
        return count((1 - 2 * patterns).astype(np.int8)) / len(patterns)
    as_extreme = sum(
        count((1 - 2 * rng.randint(2, size=(size, len(terms)))).astype(np.int8))
        for size in _blocks(n_resamples, len(terms))
    )
    # The observed pattern is one of those possible (Phipson and Smyth 2010).
    return (as_extreme + 1) / (n_resamples + 1)


def paired_cost_test(
    y_true: ArrayLike,
    y_pred_first: ArrayLike,
    y_pred_second: ArrayLike,
    *,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    n_resamples: int = 9999,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> PairedCostTest:
    """Test whether two models cost the same on the same rows.

    If they did, the sign of each row's cost difference would be a coin flip: the p-value is that
    of the total difference under random flips, exact when there are few enough differing rows to
    try them all. The interval is that of the paired differences, without draws (Hall 1992).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred_first, y_pred_second : array-like of shape (n_samples,)
        Decisions of the two models.
    costs : Costs, dict, array-like or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    labels : array-like of shape (n_classes,), default=None
        The classes, where the costs do not name them and some do not occur.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are flipped and drawn together, for rows that are not independent.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less": the first model is cheaper.
    n_resamples : int, default=9999
        Number of random flips.
    confidence : float, default=0.95
        Coverage of the interval.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    result : PairedCostTest
        Difference (first minus second), its interval, and the p-value.

    Examples
    --------
    >>> from costboost.metrics import paired_cost_test
    >>> y = [1] * 8
    >>> result = paired_cost_test(y, [1] * 8, [0] * 8, costs={"fp": 1, "fn": 5}, random_state=0)
    >>> result.difference, result.p_value
    (-5.0, 0.0078125)
    """
    _check_resampling(n_resamples, confidence)
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError(f"alternative={alternative!r}: use 'two-sided', 'less' or 'greater'")
    found = realise(y_true, y_pred_first, y_pred_second, costs=costs, labels=labels)
    first, second = found.paid
    weight = check_weights(sample_weight, len(first))
    first, second, weight, groups = _without_weightless(first, second, weight, groups)
    scale = power_of_two(np.concatenate([first, second]))
    terms = weight * (first / scale - second / scale)
    if groups is not None:
        pools = _pools(groups, len(terms), "groups")
        terms = np.array([terms[pool].sum() for pool in pools])
        weight = np.array([weight[pool].sum() for pool in pools])
    rng = check_random_state(random_state)
    p_value = _flip_p_value(terms, alternative, n_resamples, rng)
    mean = float(terms.sum() / weight.sum())
    # Of a mean, the interval is that of the sum of what each row differs from it.
    off = sum_interval(terms - mean * weight, confidence=confidence)
    low, high = (mean + end / float(weight.sum()) for end in off[1:])
    return PairedCostTest(
        mean * scale,
        low * scale,
        high * scale,
        p_value,
        int(np.count_nonzero(terms)),
    )
