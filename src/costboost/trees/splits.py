"""The best split of a node, given the sums in its histogram. No rows here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.trees import _split_kernels as kernels

Int64 = NDArray[np.int64]
Bounds = tuple[float, float]
Criterion = Literal["gini", "entropy", "error", "newton", "vector", "one-hot", "squares"]

# The kernels' numbers for the criteria, in the order in which their docstring lists them.
CRITERIA: dict[str, int] = {name: number for number, name in enumerate(get_args(Criterion))}

FREE: Bounds = (-np.inf, np.inf)
ROUNDING = 1e-12  # as in the kernels


# Row t says which codes are <= t.
_UP_TO = (np.arange(256) <= np.arange(256)[:, None]).astype(np.uint8)


@dataclass(frozen=True)
class Split:
    """A way to divide a node.

    Attributes
    ----------
    gain : float
        What the criterion's score grows by.
    feature : int
    threshold : int
        Codes <= threshold go left; -1 for a subset of categories.
    goes_left : ndarray of shape (256,), uint8
        The same for every code, missing and absent ones included: 1 is left.
    left_sums : ndarray of shape (C,)
    rounding : float
        Gains that differ by no more than this are equal.
    """

    gain: float
    feature: int
    threshold: int
    goes_left: NDArray[np.uint8]
    left_sums: Int64
    rounding: float = 0.0

    @property
    def missing_left(self) -> bool:
        """Whether missing values go left."""
        return bool(self.goes_left[MISSING])


class SplitFinder:
    """Searches histograms under fixed rules; keeps the scratch space that the search needs."""

    whole_table: ClassVar[bool] = False  # whether histograms must be those of all columns

    def __init__(
        self,
        n_bins: Int64,
        is_categorical: NDArray[np.bool_],
        n_channels: int,
        *,
        criterion: Criterion,
        l2: float = 0.0,
        min_weight: float = 0.0,
        min_count: int = 1,
        monotone: NDArray[np.int8] | None = None,
        heaviest: float | None = None,
    ) -> None:
        self.n_bins = np.ascontiguousarray(n_bins, dtype=np.int64)
        self.is_categorical = is_categorical
        self.criterion = CRITERIA[criterion]
        self.limits = (float(l2), float(min_weight), int(min_count))
        self.monotone = None if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8)
        # What a single row weighs at most: then a heavy node is known to have many rows.
        self.heaviest = heaviest
        self._any_categorical = bool(np.any(is_categorical))
        self._left = np.empty(n_channels, dtype=np.int64)
        self._right = np.empty(n_channels, dtype=np.int64)
        self._keys = np.empty(256)
        self._codes = np.empty(256, dtype=np.int64)
        self._held = np.empty(256, dtype=np.int64)

    def score(self, sums: Int64) -> float:
        """Score the sums of a node."""
        return float(kernels.score(sums, self.criterion, self.limits[0]))

    def weight(self, sums: Int64) -> float:
        """Weigh the sums of a node, in units of the grid."""
        return float(kernels.weight(sums, self.criterion))

    def _not_lighter(self, left: Int64, right: Int64) -> bool:
        """Whether the left child weighs at least what the right one does, but for rounding."""
        return self.weight(left) >= self.weight(right) * (1.0 - ROUNDING)

    def surely_counts(self, split: Split, sums: Int64) -> bool:
        """Whether both children have `min_count` rows for certain, by their weight alone."""
        if self.heaviest is None:
            return self.limits[2] <= 1
        least = self.limits[2] * self.heaviest
        return min(self.weight(split.left_sums), self.weight(sums - split.left_sums)) >= least

    def child_bounds(self, split: Split, sums: Int64, bounds: Bounds) -> tuple[Bounds, Bounds]:
        """Return the bounds of both children's values.

        Values are newton steps in units of the grid, or shares of the second of two classes. At a
        constrained column the middle of the children's values parts all values below it.
        """
        way = 0 if self.monotone is None else int(self.monotone[split.feature])
        if way == 0:
            return bounds, bounds
        sides = [self._value(part, bounds) for part in (split.left_sums, sums - split.left_sums)]
        middle = 0.5 * sides[0] + 0.5 * sides[1]
        lower, upper = (bounds[0], middle), (middle, bounds[1])
        return (lower, upper) if way > 0 else (upper, lower)

    def _value(self, sums: Int64, bounds: Bounds) -> float:
        if self.criterion == CRITERIA["newton"]:
            total = float(sums[1]) + self.limits[0]
            value = -float(sums[0]) / total if total > 0.0 else 0.0
        else:
            total = float(sums[0] + sums[1])
            value = float(sums[1]) / total if total > 0.0 else 0.5
        return min(max(value, bounds[0]), bounds[1])

    def _by_kind(self, features: Int64, *, drawn: bool) -> tuple[Int64, Int64]:
        """Return the numeric and the categorical ones of some columns: their places if drawn."""
        places = np.arange(len(features)) if drawn else features
        if not self._any_categorical:
            return places, places[:0]
        categorical = self.is_categorical[features]
        return places[~categorical], places[categorical]

    def find(
        self,
        hist: Int64,
        counts: Int64,
        sums: Int64,
        n_rows: int,
        features: Int64,
        bounds: Bounds = FREE,
    ) -> Split | None:
        """Return the best split among the given columns, or None when nothing gains.

        Parameters
        ----------
        hist : ndarray of shape (d, 256, C), or (len(features), 256, C)
            Of all columns, or of those to search only.
        counts : ndarray of shape (d, 256) or (len(features), 256), or (0, 256) when leaves may be
            of any size, or their size is checked afterwards
        sums : ndarray of shape (C,)
            The node's own sums.
        n_rows : int
        features : ndarray of column numbers, ascending
        bounds : (float, float)
            Where the node's values may lie, in units of the grid, if there are constraints.
        """
        best = np.array([0.0, -1.0, -1.0, 0.0, 0.0])
        best_sums = np.empty_like(sums)
        l2, min_weight, min_count = self.limits
        min_count = min_count if len(counts) else 1
        rules = (sums, self.criterion, l2, min_weight, min_count, n_rows, self._left, self._right)
        drawn = len(hist) < len(self.n_bins)  # a place in the histogram is no column number
        (numeric, subsets), n_bins = self._by_kind(features, drawn=drawn), self.n_bins
        n_bins = n_bins[features] if drawn else n_bins
        limits = () if self.monotone is None else (np.array(bounds),)
        tables = (hist, counts, numeric, n_bins)
        if self.monotone is not None:
            ways = self.monotone[features] if drawn else self.monotone
            kernels.best_threshold(*tables, *rules, best_sums, best, ways, *limits)
        elif self.criterion == CRITERIA["newton"]:
            rest = (sums, l2, min_weight, min_count, n_rows, best_sums, best)
            kernels.best_newton_threshold(*tables, *rest)
        else:
            kernels.best_threshold(*tables, *rules, best_sums, best)
        goes_left = np.empty(256, dtype=np.uint8)
        if len(subsets):
            scratch = (self._keys, self._codes, self._held, best_sums, best, goes_left)
            kernels.best_subset(hist, counts, subsets, *rules, *scratch, *limits)
        gain, feature, threshold, missing_left, rounding = best.tolist()
        if feature < 0:
            return None
        heavier = self._not_lighter(best_sums, sums - best_sums)
        if threshold < 0:
            # Categories that this node does not hold follow the heavier child.
            goes_left[goes_left == 2] = heavier
        else:
            goes_left = _UP_TO[int(threshold)].copy()
            seen_missing = bool(hist[int(feature), MISSING].any()) or (
                min_count > 1 and bool(counts[int(feature), MISSING] > 0)
            )
            goes_left[MISSING] = missing_left if seen_missing else heavier
        feature = features[int(feature)] if drawn else feature
        return Split(gain, int(feature), int(threshold), goes_left, best_sums, rounding)
