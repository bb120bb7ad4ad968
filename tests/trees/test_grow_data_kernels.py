"""Where a whole tree grows: what its room holds in the end, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.trees.tree import CRITERIA

DEEP = 9


class Scratch:
    """A room full of rubbish for the tree of 4 rows in one column: pairs, least squares."""

    def __init__(self, kernels, *, most_leaves=4):
        n_nodes = 2 * most_leaves - 1
        self.numbers, self.reals = np.full((7, n_nodes), -99), np.full((4, n_nodes), np.nan)
        self.sums, self.ranges = np.full((n_nodes, 2, 2), -99), np.full((n_nodes, 2, 1), -99)
        self.goes_left = np.full((n_nodes, 256), 77, dtype=np.uint8)
        hists, slots = np.full((4, 512), -99), np.full((3, 4), -99)
        views, counts = hists.reshape(4, 1, 256, 2), np.full((1, 0, 256), -99)
        sides, codes = np.full((2, 2), -99), np.full((2, 256), -99)
        search = kernels.search.SplitSearch(
            self.sums[0, 1], self.goes_left[0], sides, codes, np.empty(256)
        )
        nothing = np.empty(0, dtype=np.int64)
        bounds = (-np.inf, np.inf)
        node = kernels.search.NodeSums(
            views[0], counts[0], nothing, False, self.sums[0, 0], 0, *bounds
        )
        nodes = (self.numbers, self.reals, self.sums, self.ranges, self.goes_left)
        self.kernel = kernels.grow_data.TreeScratch(
            *nodes, hists, views, counts, slots, node, search
        )

    def grow(self, kernels, gradients, max_depth=DEEP, max_leaves=4):
        """Grow on rows with codes 0, 1, 2, ..., of curvature 1; return the leaves of the rows."""
        n = len(gradients)
        pairs = np.stack([np.array(gradients), np.ones(n, dtype=np.int64)], axis=1)
        numbers, none = np.arange(n), np.empty(0)
        leaves = np.full(n, 77, dtype=np.uint16)
        rows = kernels.grow_data.ShardRows(
            numbers.astype(np.uint8)[:, None],
            np.zeros(1, dtype=np.int64),
            np.array([0, n]),
            np.array([n]),
            False,
            np.full(n, 77, dtype=np.uint32),
            np.full(n, 77, dtype=np.uint32),
            leaves,
            1,
            *(none, none, none),
            pairs,
            np.empty((0, 1), dtype=np.int32),
        )
        rules = kernels.search.Rules(
            np.array([n]),
            np.zeros(1, dtype=np.uint8),
            np.empty(0, dtype=np.int8),
            CRITERIA["newton"],
            *(0.0, 0.0, 1),
        )
        columns = np.zeros((1, 1), dtype=np.int64)
        how = (columns, False, -1.0, max_depth, max_leaves)
        self.n_nodes = kernels.grow.Growth(rules, rows, self.kernel, *how).grow()
        return leaves.tolist()


def test_a_stump_by_hand(kernels):
    tree = Scratch(kernels)
    leaves = tree.grow(kernels, [-3, -3, 3, 3], max_depth=1)
    assert tree.n_nodes == 3
    assert leaves == [0, 0, 1, 1]
    feature, threshold, left, depth, n_rows, slot, leaf = tree.numbers[:, :3].tolist()
    assert feature == [0, -1, -1]
    assert threshold == [1, -1, -1]
    assert left == [1, -1, -1]
    assert depth == [0, 1, 1]
    assert n_rows == [4, 2, 2]
    assert slot[1:] == [-2, -2]  # their rows are still the root's
    assert leaf[1:] == [0, 1]
    gain, low, high, rounding = tree.reals[:, :3].tolist()
    assert gain == [36.0, 0.0, 0.0]  # 2 * 6^2 / 2 - 0
    assert (low, high) == ([-np.inf] * 3, [np.inf] * 3)
    assert rounding[0] == pytest.approx(36e-12)
    assert tree.sums[:3, 0].tolist() == [[0, 4], [-6, 2], [6, 2]]
    assert tree.goes_left[0].tolist() == [1] * 2 + [0] * 253 + [1]  # missing: the heavier, or left
    assert tree.goes_left[1:3, 255].tolist() == [0, 0]


def test_children_stand_side_by_side_and_after_their_parents(kernels):
    tree = Scratch(kernels)
    leaves = tree.grow(kernels, [-9, -7, 3, 8])
    feature, threshold, left, depth, n_rows, _, leaf = tree.numbers.tolist()
    assert left == [1, 5, 3, -1, -1, -1, -1]
    assert threshold == [1, 0, 2, -1, -1, -1, -1]
    assert feature == [0, 0, 0, -1, -1, -1, -1]
    assert depth == [0, 1, 1, 2, 2, 2, 2]
    assert n_rows == [4, 2, 2, 1, 1, 1, 1]
    assert [leaf[node] for node in (3, 4, 5, 6)] == [0, 1, 2, 3]
    assert leaves == [2, 3, 0, 1]
    # 3^2 + 8^2 - 11^2 / 2 and 9^2 + 7^2 - 16^2 / 2: the second child gained more.
    assert tree.reals[0, :3].tolist() == [16**2 / 2 + 11**2 / 2 - 5**2 / 4, 2.0, 12.5]


def test_a_room_may_be_used_again(kernels):
    used, fresh = Scratch(kernels), Scratch(kernels)
    used.grow(kernels, [5, 1, -8, 2])
    expected = fresh.grow(kernels, [-3, 4, 4, -6], max_leaves=3)
    assert used.grow(kernels, [-3, 4, 4, -6], max_leaves=3) == expected
    assert used.n_nodes == fresh.n_nodes == 5
    np.testing.assert_array_equal(used.numbers[:5, :5], fresh.numbers[:5, :5])
    np.testing.assert_array_equal(used.reals[:3, :5], fresh.reals[:3, :5])
    np.testing.assert_array_equal(used.sums[:5, 0], fresh.sums[:5, 0])
    np.testing.assert_array_equal(used.ranges[0], fresh.ranges[0])
