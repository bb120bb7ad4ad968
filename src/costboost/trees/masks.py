"""Forests laid out for many rows, which go down all trees as the bits of words.

    nodes -> Splits: each way to split rows, once        Trees: nodes and leaves by their numbers
          -> MaskPlan: both, and the values of leaves in the order of their numbers

`_mask_kernels` explains how. Trees must have at most 256 leaves, so that a byte numbers them. Which
forest of several a tree belongs to is its member: all members of a model go down together, and
rows are split once for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.trees import _forest_kernels as node_kernels
from costboost.trees import _mask_kernels as kernels
from costboost.typing import Codes, Floats, Int64, Words

MOST_NODES = 511  # of a tree with 256 leaves
_WIDTH = 8  # words of a mask: 512 rows
_AHEAD = 8  # trees whose leaves are numbered before their values are added
_LAST = 254  # behind this code stands the one of missing values


class Splits(NamedTuple):
    """The ways in which any tree splits rows, those of one column together.

    Attributes
    ----------
    features : int64 array of shape (F,)
        The columns that trees look at, ascending.
    starts : int64 array of shape (F + 1,)
        Where the splits of each column begin.
    flips : uint8 array of shape (S,)
        1 where code 0 goes right.
    bound_starts : int64 array of shape (S + 1,)
        Where the bounds of each split begin; it has at least one.
    bounds : uint8 array
        The codes behind which codes go to the other side.
    """

    features: Int64
    starts: Int64
    flips: Codes
    bound_starts: Int64
    bounds: Codes


class Trees(NamedTuple):
    """Trees as what is done with masks, one after the other.

    Attributes
    ----------
    split_starts : int64 array of shape (T + 1,)
        Where the splits of each tree begin.
    parents, lefts : uint16 arrays
        The node that is split, and its left child; the right one follows it.
    conditions : int32 array
        The number of the split among `Splits`.
    plane_starts : int64 array of shape (8 T + 1,)
        Where the nodes of each plane begin.
    slots : uint16 array
        The nodes below which all leaves have the plane's bit in their number.
    value_starts : int64 array of shape (T + 1,)
        Where the leaves of each tree begin.
    """

    split_starts: Int64
    parents: NDArray[np.uint16]
    lefts: NDArray[np.uint16]
    conditions: NDArray[np.int32]
    plane_starts: Int64
    slots: NDArray[np.uint16]
    value_starts: Int64


class MaskPlan(NamedTuple):
    """What the kernels need of some trees.

    Attributes
    ----------
    splits : Splits
    trees : Trees
    members : int64 array of shape (T,)
    values : float64 array of shape (n_leaves * n_outputs,)
    leaf_nodes : int64 array of shape (n_leaves,)
        The node of each leaf.
    n_nodes : int
        Of the largest tree.
    """

    splits: Splits
    trees: Trees
    members: Int64
    values: Floats
    leaf_nodes: Int64
    n_nodes: int

    def add_margins(self, codes: Codes, margins: Floats) -> None:
        """Add the values of rows' leaves to margins, (n_members, n, n_outputs)."""
        how = (*self.splits, *self.trees, self.members, *self._room(len(codes)))
        kernels.add_margins(codes, *how, self.values, margins)

    def find_leaves(self, codes: Codes, leaves: Int64) -> None:
        """Write the node of each row in each tree, (n, T)."""
        how = (*self.splits, *self.trees, *self._room(len(codes)))
        kernels.find_leaves(codes, *how, self.leaf_nodes, leaves)

    def _room(self, n_rows: int) -> tuple[Codes, Words, Words, Words, Words]:
        """Allocate scratch; every thread needs its own."""
        width = _WIDTH
        # Bytes of rows and the same memory as words: those that no row fills are read as well.
        column = np.zeros(_AHEAD * 64 * width, dtype=np.uint8)
        above, masks, reach = (
            np.empty(n * width, dtype=np.uint64)
            for n in (33, len(self.splits.flips), max(1, self.n_nodes))
        )
        return column, column.view(np.uint64), above, masks, reach


def make_mask_plan(
    words: Words, subsets: Words, ends: Int64, values: Floats, members: Int64
) -> MaskPlan:
    """Lay trees out.

    Parameters
    ----------
    words, subsets, values
        The nodes of these trees, as in `forest.Forest`; none larger than `MOST_NODES`.
    ends : int64 array of shape (T + 1,)
        Where trees begin, and where the last one ends.
    members : int64 array of shape (T,)
    """
    n_trees, sizes = len(ends) - 1, np.diff(ends)
    n_nodes, roots = int(sizes.max(initial=0)), np.repeat(ends[:-1], sizes)
    # In a word a leaf is its own left child; see `_forest_kernels`.
    is_split = (words >> np.uint64(40)).astype(np.int64) + roots != np.arange(len(words))
    n_splits = int(np.count_nonzero(is_split))
    n_leaves = len(words) - n_splits
    split_starts, value_starts = np.empty((2, n_trees + 1), dtype=np.int64)
    parents, lefts = np.empty((2, n_splits), dtype=np.uint16)
    plane_starts = np.empty(8 * n_trees + 1, dtype=np.int64)
    slots, leaf_nodes = np.empty(8 * n_leaves, dtype=np.uint16), np.empty(n_leaves, dtype=np.int64)
    written = (split_starts, parents, lefts, plane_starts, slots, value_starts, leaf_nodes)
    sizes, begins, ones = np.empty((3, n_nodes), dtype=np.int64)
    n_slots = node_kernels.plan_trees(words, ends, sizes, begins, ones, *written)
    splits, conditions = _make_splits(words, subsets, np.flatnonzero(is_split))
    trees = Trees(
        split_starts, parents, lefts, conditions, plane_starts, slots[:n_slots].copy(), value_starts
    )
    in_order = values[np.repeat(ends[:-1], np.diff(value_starts)) + leaf_nodes]
    return MaskPlan(splits, trees, members, in_order.ravel(), leaf_nodes, n_nodes)


def _make_splits(words: Words, subsets: Words, nodes: Int64) -> tuple[Splits, NDArray[np.int32]]:
    """Return the different ways in which nodes split rows, and the number of each node's."""
    # The lower bits are the column, the kind of split and the limit; the children do not matter.
    kinds = words[nodes] & np.uint64((1 << 40) - 1)
    is_set = (kinds >> np.uint64(9)) & np.uint64(1) == 1
    keys, numbers = np.unique(kinds[~is_set], return_inverse=True)
    shift = ((keys >> np.uint64(8)) & np.uint64(1)).astype(np.int64)
    # Missing values that go left are one more change of sides, behind the last code.
    owners = np.repeat(np.arange(len(keys)), 1 + shift)
    bounds = np.full(len(owners), _LAST, dtype=np.int64)
    bounds[np.cumsum(1 + shift) - 1 - shift] = (keys & np.uint64(255)).astype(np.int64) - shift
    flips = np.zeros(len(keys), dtype=np.uint8)
    conditions = np.empty(len(nodes), dtype=np.int64)
    conditions[~is_set] = numbers
    if is_set.any():
        # A set changes sides as often as its neighbouring codes are apart, or nowhere.
        goes_left = _unpack(subsets[nodes[is_set]])
        changes = np.column_stack(
            [np.diff(goes_left, axis=1), ~np.ptp(goes_left, axis=1).astype(bool)]
        )
        sets, behind = np.nonzero(changes)
        owners, bounds = np.append(owners, len(keys) + sets), np.append(bounds, behind)
        flips = np.append(flips, 1 - goes_left[:, 0])
        conditions[is_set] = len(keys) + np.arange(len(goes_left))
        keys = np.append(keys, kinds[is_set])
    features = (keys >> np.uint64(16)).astype(np.int64)
    order = np.argsort(features, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    used, starts = np.unique(features[order], return_index=True)
    splits = Splits(
        used,
        np.append(starts, len(keys)),
        flips[order],
        np.append(0, np.cumsum(np.bincount(owners, minlength=len(keys))[order])),
        bounds[np.argsort(rank[owners], kind="stable")].astype(np.uint8),
    )
    return splits, rank[conditions].astype(np.int32)


def _unpack(subsets: Words) -> Codes:
    """Unpack sets of codes: 1 for each code that goes left, (n, 256)."""
    return np.unpackbits(subsets.astype("<u8").view(np.uint8), axis=1, bitorder="little")
