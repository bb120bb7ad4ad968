"""Comparing many methods on many data sets: ranks, Friedman, Wilcoxon with Holm's correction.

Scores come as one table, `(n_datasets, n_methods)`, lower is better (costs) unless said otherwise.
The procedure is Demsar's (2006); pairwise signed-rank tests follow Benavoli et al. (2016).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from costboost.typing import Floats

# Above this many non-zero differences the normal limit is as good as the exact distribution.
_EXACT_PAIRS = 200


class FriedmanResult(NamedTuple):
    """Result of :func:`friedman_test`.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-square with the correction for ties.
    f_statistic, f_p_value : float
        Iman and Davenport's less conservative F form of it.

    Examples
    --------
    >>> from costboost.metrics import friedman_test
    >>> found = friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]])
    >>> found.statistic, found.p_value < 0.05
    (6.5, True)
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


class CriticalDifference(NamedTuple):
    """Result of :func:`critical_difference`.

    Attributes
    ----------
    average_ranks : ndarray of shape (n_methods,)
        1 is the best possible.
    order : tuple of int
        Methods from best to worst average rank.
    groups : tuple of tuples of int
        Largest runs of that order within which no two methods differ significantly; a method in no
        group differs from all others.
    p_values : ndarray of shape (n_methods, n_methods)
        Pairwise, corrected for their number.
    friedman : FriedmanResult
        Whether there is any difference at all.
    difference : float or None
        Nemenyi's critical difference of average ranks; None for ``test="wilcoxon-holm"``.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import critical_difference
    >>> costs = np.arange(30).reshape(10, 3) % 7 + np.array([0, 1, 20])  # ten sets, three methods
    >>> found = critical_difference(costs)
    >>> found.order[-1], float(found.average_ranks[-1])
    (2, 3.0)
    """

    average_ranks: Floats
    order: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    p_values: Floats
    friedman: FriedmanResult
    difference: float | None


def _table(scores: ArrayLike, lower_is_better: bool) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(
            f"scores have shape {table.shape}: give (n_datasets, n_methods), at least two methods"
        )
    if np.isnan(table).any():
        raise ValueError("scores hold missing values: drop those data sets or methods first")
    return table if lower_is_better else -table


def _ranks(table: Floats) -> Floats:
    return np.asarray(stats.rankdata(table, axis=1), dtype=np.float64)


def average_ranks(scores: ArrayLike, *, lower_is_better: bool = True) -> Floats:
    """Return the average rank of each method over the data sets; ties share their mean rank.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One measure of each method on each data set.
    lower_is_better : bool, default=True
        True for costs, False for savings or accuracy.

    Returns
    -------
    ranks : ndarray of shape (n_methods,)
        From 1 (best everywhere) to `n_methods`.

    Examples
    --------
    >>> from costboost.metrics import average_ranks
    >>> average_ranks([[10, 20, 30], [5, 5, 9]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return np.asarray(_ranks(_table(scores, lower_is_better)).mean(axis=0))


def friedman_test(scores: ArrayLike) -> FriedmanResult:
    """Test whether all methods rank alike (Friedman 1937, Iman and Davenport 1980).

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One measure of each method on each data set; its direction does not matter.

    Returns
    -------
    result : FriedmanResult
        Both statistics and their p-values; all methods tied everywhere give p = 1.

    Examples
    --------
    >>> from costboost.metrics import friedman_test
    >>> scores = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]]
    >>> round(friedman_test(scores).statistic, 3)
    6.5
    """
    ranks = _ranks(_table(scores, True))
    n, k = ranks.shape
    spread = float(np.sum((ranks - (k + 1) / 2) ** 2))
    if spread == 0:
        return FriedmanResult(0.0, 1.0, 0.0, 1.0)
    between = n * float(np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2))
    # n (k - 1) (between / spread) is the chi-square already corrected for ties.
    chi2 = n * (k - 1) * min(between / spread, 1.0)
    rest = n * (k - 1) - chi2
    # Perfect agreement leaves nothing unexplained; one data set says nothing about chance.
    f = float("inf") if rest <= 0 < n - 1 else (n - 1) * chi2 / rest if rest > 0 else 0.0
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))) if n > 1 else 1.0
    return FriedmanResult(chi2, float(stats.chi2.sf(chi2, k - 1)), f, f_p)


def _signed_rank_p(difference: Floats) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; zero differences are dropped."""
    nonzero = difference[difference != 0]
    if len(nonzero) == 0:
        return 1.0
    ranks = stats.rankdata(np.abs(nonzero))
    plus = float(np.sum(ranks[nonzero > 0]))
    smaller = min(plus, float(np.sum(ranks)) - plus)
    if len(nonzero) > _EXACT_PAIRS:
        deviation = np.sqrt(np.sum(ranks**2) / 4)
        return float(min(1.0, 2 * stats.norm.cdf((smaller - np.sum(ranks) / 2) / deviation)))
    # Under the hypothesis each rank counts with probability 1/2. Twice a rank is an integer even
    # among ties, so the distribution of their sum is a small exact table.
    table = np.ones(1)
    for twice in np.rint(2 * ranks).astype(int):
        shifted = np.concatenate([np.zeros(twice), table])
        shifted[: len(table)] += table
        table = shifted / 2
    return float(min(1.0, 2 * np.sum(table[: round(2 * smaller) + 1])))


def holm_correction(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for their number by Holm's (1979) step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Raw p-values.

    Returns
    -------
    corrected : ndarray of shape (n_tests,)
        In the same order; reject where at most alpha.

    Examples
    --------
    >>> from costboost.metrics import holm_correction
    >>> holm_correction([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    factors = np.arange(len(raw), 0, -1)
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return corrected


def wilcoxon_holm(scores: ArrayLike, *, correct: bool = True) -> Floats:
    """Test every pair of methods with Wilcoxon's signed ranks, corrected by Holm's procedure.

    Data sets on which two methods tie are left out of their test. Up to 200 data sets the
    distribution is exact, also among tied differences; beyond, it is the normal limit.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One measure of each method on each data set; its direction does not matter.
    correct : bool, default=True
        Whether to correct for the number of pairs.

    Returns
    -------
    p_values : ndarray of shape (n_methods, n_methods)
        Two-sided and symmetric, with 1 on the diagonal.

    Examples
    --------
    >>> from costboost.metrics import wilcoxon_holm
    >>> scores = [[i, i + 1 + i / 10] for i in range(6)]
    >>> wilcoxon_holm(scores).tolist()
    [[1.0, 0.03125], [0.03125, 1.0]]
    """
    table = _table(scores, True)
    if not np.isfinite(table).all():
        raise ValueError("scores hold infinite values, whose differences have no rank")
    k = table.shape[1]
    first, second = np.triu_indices(k, 1)
    # Halved: the difference of two finite scores may overflow, that of their halves cannot.
    raw = np.array(
        [
            _signed_rank_p(table[:, i] / 2 - table[:, j] / 2)
            for i, j in zip(first, second, strict=True)
        ]
    )
    p_values = np.ones((k, k))
    p_values[first, second] = p_values[second, first] = holm_correction(raw) if correct else raw
    return p_values


def _nemenyi(ranks: Floats, n_datasets: int, alpha: float) -> tuple[Floats, float]:
    """Return pairwise p-values and the critical difference (Demsar 2006, section 3.2.2)."""
    k = len(ranks)
    unit = np.sqrt(k * (k + 1) / (6 * n_datasets))
    gaps = np.abs(ranks[:, None] - ranks[None, :]) / unit
    p_values = np.asarray(stats.studentized_range.sf(gaps * np.sqrt(2), k, np.inf))
    critical = float(stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2) * unit)
    return np.clip(p_values, 0.0, 1.0), critical


def _runs(order: tuple[int, ...], differs: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Return the maximal runs of at least two methods without a separable pair."""
    runs: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not differs[order[stop], list(order[start:stop])].any():
            stop += 1
        if stop > reached and stop - start > 1:
            runs.append(order[start:stop])
        reached = max(reached, stop)
    return tuple(runs)


def critical_difference(
    scores: ArrayLike,
    *,
    alpha: float = 0.05,
    test: Literal["wilcoxon-holm", "nemenyi"] = "wilcoxon-holm",
    lower_is_better: bool = True,
) -> CriticalDifference:
    """Return the numbers of a critical-difference diagram (Demsar 2006).

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One measure of each method on each data set.
    alpha : float, default=0.05
        Probability of calling two equal methods different.
    test : {"wilcoxon-holm", "nemenyi"}, default="wilcoxon-holm"
        How pairs are compared: by signed ranks of their own scores, or by their average ranks
        among all methods (weaker, and dependent on which other methods take part).
    lower_is_better : bool, default=True
        True for costs, False for savings or accuracy.

    Returns
    -------
    result : CriticalDifference
        Average ranks, their order, and the groups that cannot be separated.

    Examples
    --------
    >>> from costboost.metrics import critical_difference
    >>> scores = [[i, i + 0.1 * (-1) ** i, i + 5] for i in range(12)]
    >>> result = critical_difference(scores)
    >>> result.groups
    ((0, 1),)
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha}: it must lie between 0 and 1")
    table = _table(scores, lower_is_better)
    ranks = average_ranks(table)
    order = tuple(int(i) for i in np.argsort(ranks, kind="stable"))
    difference: float | None = None
    if test == "wilcoxon-holm":
        p_values = wilcoxon_holm(table)
        differs = p_values <= alpha
    elif test == "nemenyi":
        p_values, difference = _nemenyi(ranks, len(table), alpha)
        differs = np.abs(ranks[:, None] - ranks[None, :]) >= difference
    else:
        raise ValueError(f"test={test!r}: use 'wilcoxon-holm' or 'nemenyi'")
    return CriticalDifference(
        ranks, order, _runs(order, differs), p_values, friedman_test(table), difference
    )
