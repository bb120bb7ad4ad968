"""Trees as arrays, and how far they may grow."""

import numpy as np
import pytest

from costboost.trees.tree import Limits, add_up_leaves
from grown_trees import Problem
from naive import trees as naive


@pytest.mark.parametrize(
    ("limits", "depth", "n_leaves", "expected"),
    [
        (Limits(), 99, 65_535, True),
        (Limits(), 3, 65_536, False),  # a leaf's number has two bytes
        (Limits(max_leaf_nodes=10**6), 3, 65_536, False),
        (Limits(max_leaf_nodes=8), 3, 7, True),
        (Limits(max_leaf_nodes=8), 3, 8, False),
        (Limits(max_depth=3), 2, 7, True),
        (Limits(max_depth=3), 3, 7, False),
    ],
)
def test_how_far_a_tree_may_grow(limits, depth, n_leaves, expected):
    assert limits.allows(depth, n_leaves) is expected


def test_leaves_have_the_sums_of_the_whole_tree():
    tree, _ = Problem(np.random.default_rng(0), "gini", 80).grow(naive.Rules("gini"))
    assert len(tree.leaf_sums) == len(tree.leaves) > 2
    np.testing.assert_array_equal(tree.leaf_sums.sum(axis=0), tree.sums[0])
    sums = add_up_leaves(tree.left, tree.leaves, tree.leaf_sums)
    np.testing.assert_array_equal(sums, tree.sums)
