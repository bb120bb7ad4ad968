"""The best split of a node, given the sums in its histogram. No rows here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
_UNCONSTRAINED = np.empty(0, dtype=np.int8)


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
    own_search: ClassVar[bool] = False  # whether splits are looked for in another way than here

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
        self.is_categorical = np.ascontiguousarray(is_categorical)
        self.has_categories = bool(self.is_categorical.any())
        self.criterion = CRITERIA[criterion]
        self.limits = (float(l2), float(min_weight), int(min_count))
        self.monotone = None if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8)
        # What a single row weighs at most: then a heavy node is known to have many rows.
        self.heaviest = heaviest
        self._n_channels = n_channels

    @cached_property
    def _scratch(self) -> tuple[Int64, Int64, NDArray[np.float64]]:
        """What the search needs beside its answers."""
        sides = np.empty((2, self._n_channels), dtype=np.int64)
        return sides, np.empty((2, 256), dtype=np.int64), np.empty(256)

    @cached_property
    def every_column(self) -> Int64:
        """The numbers of all columns."""
        return np.arange(len(self.n_bins))

    @property
    def columns(self) -> tuple[Int64, NDArray[np.uint8], NDArray[np.int8]]:
        """What the kernels know of the columns: bins, categories, and constraints if any."""
        monotone = _UNCONSTRAINED if self.monotone is None else self.monotone
        return self.n_bins, self.is_categorical.view(np.uint8), monotone

    def score(self, sums: Int64) -> float:
        """Score the sums of a node."""
        return float(kernels.score(sums, self.criterion, self.limits[0]))

    def weight(self, sums: Int64) -> float:
        """Weigh the sums of a node, in units of the grid."""
        return float(kernels.weight(sums, self.criterion))

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
        rules = (self.criterion, self.limits[0], *bounds)
        parts = (split.left_sums, sums - split.left_sums)
        sides = [kernels.value_within(part, *rules) for part in parts]
        middle = 0.5 * sides[0] + 0.5 * sides[1]
        lower, upper = (bounds[0], middle), (middle, bounds[1])
        return (lower, upper) if way > 0 else (upper, lower)

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
        best, best_sums = np.empty(5), np.empty_like(sums)
        goes_left = np.empty(256, dtype=np.uint8)
        l2, min_weight, min_count = self.limits
        drawn = len(hist) < len(self.n_bins)  # a place in the histogram is no column number
        rules = (self.criterion, l2, min_weight, min_count if len(counts) else 1, n_rows, *bounds)
        searched, written = (hist, counts, features, drawn), (best_sums, best, goes_left)
        found = kernels.find_split(*searched, *self.columns, sums, *rules, *self._scratch, *written)
        if not found:
            return None
        gain, feature, threshold, _, rounding = best.tolist()
        return Split(gain, int(feature), int(threshold), goes_left, best_sums, rounding)
