"""What a tree that grows at once asks of its rows: each question by hand, as plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.shards.grid import GradientPairs
from costboost.shards.layout import Shards
from costboost.shards.rows import Pieces, Shard
from costboost.trees.grower import Grower, Size
from costboost.trees.tree import Limits, SplitFinder
from interpreted import tree_kernels
from naive import trees as naive
from tree_searches import using

# Two segments of 3 and 2 rows, between which 2 rows of others lie in the codes.
CODES = np.array([[0, 9], [1, 9], [2, 8], [7, 7], [7, 7], [1, 8], [255, 9]], dtype=np.uint8)
OWN = [0, 1, 2, 5, 6]
PAIRS = np.array([[-4, 1], [-3, 1], [5, 2], [2, 1], [1, 3]])


@pytest.fixture(scope="module")
def plain():
    return tree_kernels(hide_cython=True)


def place(plain, *, sampled=False):
    """Rows of pairs, and the kernels' room for a stump on them."""
    with using(plain):
        tree = Size(2, 2, 2, 2, counted=True, by_class=False).make(2)
    order = np.array([2, 0, 99, 4, 99] if sampled else [99] * 5, dtype=np.uint32)
    ends = np.array([2, 4]) if sampled else np.array([3, 5])
    scratch, leaves = np.zeros(5, dtype=np.uint32), np.full(5, 99, dtype=np.uint16)
    none = np.empty(0)
    rows = plain.grow_data.ShardRows(
        CODES,
        np.array([0, 2]),
        np.array([0, 3, 5]),
        ends,
        sampled,
        order,
        scratch,
        leaves,
        1,
        *(none, none, none),
        PAIRS,
        np.empty((0, 2), dtype=np.int32),
    )
    plain.shard.place_root(rows, tree.kernel)
    return rows, tree.kernel


@pytest.mark.parametrize(("sampled", "learnt"), [(False, [0, 1, 2, 3, 4]), (True, [2, 0, 4])])
def test_the_root_holds_the_rows_to_learn_from(plain, sampled, learnt):
    rows, tree = place(plain, sampled=sampled)
    assert tree.n_rows[0] == len(learnt)
    every = np.arange(2)
    plain.shard.add_up(rows, tree, 0, 1, False, every)
    plain.shard.count_rows(rows, tree, 0, 1, False, every)
    codes = CODES[OWN]
    np.testing.assert_array_equal(tree.views[1], naive.histogram(codes, learnt, PAIRS))
    np.testing.assert_array_equal(tree.counts[1], naive.count_histogram(codes, learnt))
    assert tree.counted[1] == 1


def test_of_drawn_columns_only_these_are_added_up(plain):
    rows, tree = place(plain)
    tree.hists.fill(5)
    tree.counts.fill(5)
    plain.shard.add_up(rows, tree, 0, 1, True, np.array([1]))
    plain.shard.count_rows(rows, tree, 0, 1, True, np.array([1]))
    codes = CODES[OWN]
    np.testing.assert_array_equal(tree.views[1, 0], naive.histogram(codes, range(5), PAIRS)[1])
    np.testing.assert_array_equal(tree.counts[1, 0], naive.count_histogram(codes, range(5))[1])
    assert not tree.views[1, 1].any()
    assert not tree.counts[1, 1].any()


def set_split(tree, *, slot):
    """Column 0 at code 1, missing values left."""
    tree.left[:] = [1, -1, -1]
    tree.feature[0], tree.goes_left[0] = 0, 0
    tree.goes_left[0, [0, 1, 255]] = 1
    tree.slot[:] = slot
    tree.leaf[:] = [-1, 0, 1]


@pytest.mark.parametrize("sampled", [False, True])
def test_children_part_the_rows_of_every_segment(plain, sampled):
    rows, tree = place(plain, sampled=sampled)
    set_split(tree, slot=0)
    plain.shard.divide(rows, tree, 0)
    expected = {1: [[0], [4]], 2: [[2], []]} if sampled else {1: [[0, 1], [3, 4]], 2: [[2], []]}
    for child, segments in expected.items():
        begins, ends = tree.ranges[child]
        found = [rows.order[a:b].tolist() for a, b in zip(begins, ends, strict=True)]
        assert found == segments
        assert tree.n_rows[child] == sum(map(len, segments))


@pytest.mark.parametrize("divided", [False, True])
def test_leaves_are_written_and_counted_whether_their_rows_were_divided_or_not(plain, divided):
    rows, tree = place(plain)
    set_split(tree, slot=-1 if divided else -2)
    if divided:
        plain.shard.divide(rows, tree, 0)
    plain.shard.write_leaves(rows, tree, 3)
    assert rows.leaves.tolist() == [0, 0, 1, 0, 0]
    assert tree.n_rows.tolist() == [5, 4, 1]


def test_rows_that_were_left_out_are_sent_down_too(plain):
    rows, tree = place(plain, sampled=True)
    set_split(tree, slot=-2)
    plain.shard.find_leaves(rows, tree, 3)
    assert rows.leaves.tolist() == [0, 0, 1, 0, 0]
    assert tree.n_rows.tolist() == [5, 4, 1]


def test_segments_apart_grow_the_tree_of_their_rows(kernels):
    state = type("State", (), {"pairs": PAIRS})()
    shard = Shard(CODES, np.arange(5), np.array([0, 5]), state, Pieces(np.array([0, 3, 5]), (0, 2)))
    finder = SplitFinder(np.array([8, 10]), np.zeros(2, dtype=bool), 2, criterion="newton")
    with using(kernels), Shards([shard]) as cut:
        tree = Grower(cut, GradientPairs(), finder, Limits()).grow()
    twin = naive.grow(naive.Table(CODES[OWN], PAIRS, [8, 10], [False] * 2), naive.Rules("newton"))
    assert tree.left.tolist() == [node.left for node in twin.nodes]
    assert tree.sums.tolist() == [node.sums for node in twin.nodes]
    for number, leaf in enumerate(twin.leaves):
        assert np.flatnonzero(shard.leaves == number).tolist() == twin.nodes[leaf].rows
