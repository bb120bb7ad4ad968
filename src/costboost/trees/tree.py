"""A tree: how far it may grow, the best split of a node, and the grown tree as arrays.

Splits are found from the sums in a node's histogram alone: no rows here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.trees import _score_kernels as scores
from costboost.trees import _search_kernels as searches
from costboost.trees import _split_kernels as kernels
from costboost.typing import Floats, Int64

# Interaction constraints: which columns may meet on one path.


@dataclass(frozen=True)
class Interactions:
    """Groups of columns that may interact, or how many at most.

    Attributes
    ----------
    n_features : int
    groups : tuple of frozensets of column numbers
        Columns in none of them are a group of their own together.
    most : int or None
        So many columns on a path, whichever they are; in place of groups.

    Examples
    --------
    >>> rule = make_interactions(4, [{0, 1}, {1, 2}])
    >>> [rule.allowed(frozenset(path)).tolist() for path in ([], [0], [1], [0, 1], [3])]
    [[0, 1, 2, 3], [0, 1], [0, 1, 2], [0, 1], [3]]
    """

    n_features: int
    groups: tuple[frozenset[int], ...] = ()
    most: int | None = None

    def allowed(self, path: frozenset[int]) -> Int64:
        """Return the columns on which a path that has split on `path` may split next, sorted."""
        if self.most is not None:
            return np.array(sorted(path)) if len(path) >= self.most else np.arange(self.n_features)
        fitting = [group for group in self.groups if path <= group]
        return np.array(sorted(frozenset().union(*fitting)), dtype=np.int64)


def make_interactions(n_features: int, groups: Iterable[Iterable[int]]) -> Interactions:
    """Return the constraint of some groups; columns in none of them form one more group."""
    named = [frozenset(group) for group in groups]
    rest = frozenset(range(n_features)) - frozenset().union(*named)
    return Interactions(n_features, tuple(named) + ((rest,) if rest else ()))


MAX_LEAVES = 1 << 16  # `shard.leaves` holds two bytes a row


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow.

    Attributes
    ----------
    max_depth : int or None
        1 is a stump.
    max_leaf_nodes : int or None
        Nodes are split in the order of their gain until this many leaves are there;
        never more than 65,536.
    min_samples_leaf : int
    max_features : int or None
        Columns drawn at random for each node; None is all of them.
    interactions : Interactions or None
        Which columns may meet on a path; None is all of them.
    columns : tuple of column numbers or None
        Those that trees may look at, ascending; None is all of them.
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | None = None
    interactions: Interactions | None = None
    columns: tuple[int, ...] | None = None

    @property
    def most_leaves(self) -> int:
        """The largest number of leaves."""
        return MAX_LEAVES if self.max_leaf_nodes is None else min(self.max_leaf_nodes, MAX_LEAVES)

    def allows(self, depth: int, n_leaves: int) -> bool:
        """Whether a node at this depth may be split when the tree has so many leaves."""
        below = self.max_depth is None or depth < self.max_depth
        return below and n_leaves < self.most_leaves


@dataclass(frozen=True)
class Tree:
    """A grown tree as arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        -1 at leaves.
    threshold : ndarray of shape (n_nodes,)
        Codes <= threshold go left; -1 at leaves and at subsets of categories.
    missing_left : ndarray of shape (n_nodes,), bool
    left : ndarray of shape (n_nodes,)
        The left child, -1 at leaves. The right child is the next node.
    gain : ndarray of shape (n_nodes,)
    sums : ndarray of shape (n_nodes, C)
        Sums on the grid.
    subsets : dict of node -> ndarray of shape (256,)
        Which codes go left, at subsets of categories.
    leaves : ndarray of shape (n_leaves,)
        The nodes that are leaves; a leaf's number is its place here.
    depth : int
    cover : ndarray of shape (n_nodes,)
        The training rows that reach each node, counted by their sample weights: all of them, also
        those that the tree did not learn from.
    leaf_bounds : ndarray of shape (n_leaves, 2) or None
        Where the values of the leaves may lie, if columns are constrained.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.int16]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    gain: Floats
    sums: Int64
    subsets: dict[int, NDArray[np.uint8]] = field(repr=False)
    leaves: NDArray[np.int32]
    depth: int
    cover: Floats
    leaf_bounds: Floats | None = None

    @property
    def leaf_sums(self) -> Int64:
        """The sums of the leaves, (n_leaves, C)."""
        return self.sums[self.leaves]


def add_up_leaves(
    left: NDArray[np.integer[Any]], leaves: NDArray[np.integer[Any]], values: NDArray[Any]
) -> Floats:
    """Sum leaf values up the tree: for every node that of all leaves below it, (n_nodes, ...).

    Examples
    --------
    >>> add_up_leaves(np.array([1, -1, -1]), np.array([1, 2]), np.array([3, 4])).tolist()
    [7.0, 3.0, 4.0]
    """
    sums = np.zeros((len(left), *values.shape[1:]))
    sums[leaves] = values
    for node in np.flatnonzero(left >= 0)[::-1].tolist():  # children stand after their parents
        below = int(left[node])
        sums[node] = sums[below] + sums[below + 1]
    return sums


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
