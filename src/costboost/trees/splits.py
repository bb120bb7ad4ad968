"""The best split of a node, given the sums in its histogram. No rows here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.trees import _score_kernels as scores
from costboost.trees import _search_kernels as searches
from costboost.trees import _split_kernels as kernels
from costboost.typing import Int64

Bounds = tuple[float, float]
Criterion = Literal["gini", "entropy", "error", "newton", "vector", "one-hot", "squares"]

# The kernels' numbers for the criteria, as in `_score_kernels`.
CRITERIA: dict[str, int] = {name: number for number, name in enumerate(get_args(Criterion))}

FREE: Bounds = (-np.inf, np.inf)
ROUNDING = 1e-12  # as in the kernels
_UNCONSTRAINED = np.empty(0, dtype=np.int8)
_MADE_AGAIN = ("rules", "_search")


@dataclass(frozen=True)
class Split:
    """The best split of a node: column, rule, gain and left sums.

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


def make_search(left_sums: Int64, goes_left: NDArray[np.uint8]) -> Any:
    """Return a search that writes the left child's sums and codes into these arrays."""
    sides = np.empty((2, len(left_sums)), dtype=np.int64)
    codes = np.empty((2, 256), dtype=np.int64)
    return searches.SplitSearch(left_sums, goes_left, sides, codes, np.empty(256))


class SplitFinder:
    """Searches histograms under fixed rules; keeps the scratch space that the search needs."""

    whole_table: ClassVar[bool] = False  # whether histograms must be those of all columns
    own_search: ClassVar[bool] = False  # whether splits are looked for in another way than here
    counts_rows: ClassVar[bool] = False  # whether rows are counted even if leaves may be any size
    orientation: Int64 | None = None  # the votes of both sides, where a search chooses them too

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
        self.channels_are_classes = criterion in ("gini", "entropy", "error")
        self.l2, self.min_weight, self.min_count = float(l2), float(min_weight), int(min_count)
        self.monotone = None if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8)
        # What a single row weighs at most: then a heavy node is known to have many rows.
        self.heaviest = heaviest
        self._n_channels = n_channels

    def __getstate__(self) -> dict[str, Any]:
        # What the kernels hold is made again where it is needed.
        return {name: value for name, value in vars(self).items() if name not in _MADE_AGAIN}

    @cached_property
    def rules(self) -> Any:
        """The columns' kinds and the limits of splits, for the kernels."""
        monotone = _UNCONSTRAINED if self.monotone is None else self.monotone
        categorical = self.is_categorical.view(np.uint8)
        limits = (self.l2, self.min_weight, self.min_count)
        return searches.Rules(self.n_bins, categorical, monotone, self.criterion, *limits)

    @cached_property
    def _search(self) -> tuple[Any, Int64, NDArray[np.uint8]]:
        """Buffers that the kernels write the best split to."""
        left_sums = np.empty(self._n_channels, dtype=np.int64)
        goes_left = np.empty(256, dtype=np.uint8)
        return make_search(left_sums, goes_left), left_sums, goes_left

    @cached_property
    def every_column(self) -> Int64:
        """The numbers of all columns."""
        return np.arange(len(self.n_bins))

    def score(self, sums: Int64) -> float:
        """Return the criterion's score of a node's sums."""
        return float(scores.score(sums, self.criterion, self.l2))

    def weight(self, sums: Int64) -> float:
        """Return the weight of a node's sums, in units of the grid."""
        return float(scores.weight(sums, self.criterion))

    def surely_counts(self, split: Split, sums: Int64) -> bool:
        """Whether the children's weights alone prove that both have `min_count` rows."""
        if self.heaviest is None:
            return self.min_count <= 1
        least = self.min_count * self.heaviest
        return min(self.weight(split.left_sums), self.weight(sums - split.left_sums)) >= least

    def child_bounds(self, split: Split, sums: Int64, bounds: Bounds) -> tuple[Bounds, Bounds]:
        """Return the bounds of both children's values.

        Values are newton steps in units of the grid, or shares of the second of two classes. At a
        constrained column the middle of the children's values parts all values below it.
        """
        way = 0 if self.monotone is None else int(self.monotone[split.feature])
        if way == 0:
            return bounds, bounds
        how = (self.criterion, self.l2, *bounds)
        parts = (split.left_sums, sums - split.left_sums)
        sides = [scores.value_within(part, *how) for part in parts]
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
        drawn = len(hist) < len(self.n_bins)  # a place in the histogram is no column number
        node = searches.NodeSums(hist, counts, features, drawn, sums, n_rows, *bounds)
        found, left_sums, goes_left = self._search
        if not kernels.find_split(self.rules, node, found):
            return None
        copies = (goes_left.copy(), left_sums.copy())
        return Split(found.gain, found.feature, found.threshold, *copies, found.rounding)
