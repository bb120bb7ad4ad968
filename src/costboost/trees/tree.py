"""A grown tree as arrays over its nodes, and how far it may grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | None = None
    interactions: Interactions | None = None

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
        Where the values of the leaves may lie, if columns are constrained; see `splits`.
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
