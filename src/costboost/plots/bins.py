"""Probabilities in bins: what was predicted, what happened, and how sure that is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from costboost.typing import Floats


class ReliabilityBins(NamedTuple):
    """The m bins that hold rows.

    `predicted` and `observed` are weighted means of the probability and of being positive, `weight`
    the weight of the rows, `effective` how many rows of equal weight would say as much.
    """

    predicted: Floats
    observed: Floats
    weight: Floats
    effective: Floats


def weighted_quantiles(values: Floats, weight: Floats, q: ArrayLike) -> Floats:
    """Return the smallest values below or at which at least a share q of the weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.plots.bins import weighted_quantiles
    >>> values, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    >>> weighted_quantiles(values, weight, [0.25, 0.5]).tolist()
    [1.0, 2.0]
    """
    kept = weight > 0
    order = np.argsort(values[kept], kind="stable")
    ranked, cumulated = values[kept][order], np.cumsum(weight[kept][order])
    at = np.searchsorted(cumulated, np.asarray(q) * cumulated[-1], side="left")
    return np.asarray(ranked[np.minimum(at, len(ranked) - 1)])


def bin_edges(proba: Floats, weight: Floats, n_bins: int, strategy: str) -> Floats:
    """Return the edges of bins of equal width, weight, or number of positives to be expected."""
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r}: it must be a whole number of at least 1")
    grid = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "uniform":
        return grid
    if strategy == "quantile":
        inner = weighted_quantiles(proba, weight, grid[1:-1])
        return np.unique(np.concatenate([[0.0], inner, [1.0]]))
    if strategy == "positives":
        inner = weighted_quantiles(proba, weight * np.maximum(proba, 1e-12), grid[1:-1])
        return np.unique(np.concatenate([[0.0], inner, [1.0]]))
    raise ValueError(f"strategy={strategy!r}: use 'auto', 'uniform', 'quantile' or 'positives'")


def sum_bins(values: Floats, proba: Floats, edges: Floats) -> Floats:
    """Return the sum of values in every bin."""
    of = _bin_of(proba, edges)
    return np.asarray(np.bincount(of, weights=values, minlength=len(edges) - 1))


def _bin_of(proba: Floats, edges: Floats) -> NDArray[np.intp]:
    return np.searchsorted(edges[1:-1], proba, side="left")


def fill_bins(
    positive: NDArray[Any], proba: Floats, weight: Floats, edges: Floats
) -> ReliabilityBins:
    """Return the bins; a probability on an edge belongs to the bin on its left, as in scikit-learn.

    Empty bins are left out.
    """

    def sums(values: Floats) -> Floats:
        return sum_bins(values, proba, edges)

    total = sums(weight)
    full = total > 0
    size = total[full]
    # Every bin in a unit of its own, a power of two: squares stay in range, and nothing is rounded.
    unit = np.frexp(total)[1]
    part = np.ldexp(weight, -unit[_bin_of(proba, edges)])
    return ReliabilityBins(
        sums(weight * proba)[full] / size,
        sums(weight * positive)[full] / size,
        size,
        np.ldexp(size, -unit[full]) ** 2 / sums(part**2)[full],  # Kish
    )


def wilson_interval(share: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the interval of a share observed in n rows (Wilson 1927)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: it must lie between 0 and 1")
    z2 = float(stats.norm.ppf(0.5 + confidence / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)
