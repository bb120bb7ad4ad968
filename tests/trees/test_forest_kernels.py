"""Loops over fitted forests, compiled and interpreted, on a forest made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from toy_forest import TOY_CODES, pack, toy_forest, toy_leaves

MEMBERS = np.array([0, 0, 1])


def test_find_leaves_and_add_margins_by_hand(kernels):
    words, subsets, roots, depths, values = toy_forest()
    leaves = np.full((len(TOY_CODES), 3), -1, dtype=np.int64)
    kernels.forest.find_leaves(TOY_CODES, words, subsets, roots, depths, 0, 3, leaves)
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    np.testing.assert_array_equal(leaves, expected)
    trees, margins = (words, subsets, roots, depths), np.ones((2, len(TOY_CODES), 2))
    kernels.forest.add_margins(TOY_CODES, *trees, 0, 3, MEMBERS, values, margins)
    np.testing.assert_array_equal(margins[0], (1 + values[expected[:, 0]]) + values[5])
    np.testing.assert_array_equal(margins[1], 1 + values[6 + expected[:, 2]])
    some = np.full((len(TOY_CODES), 1), -1, dtype=np.int64)
    kernels.forest.find_leaves(TOY_CODES, words, subsets, roots, depths, 2, 3, some)
    np.testing.assert_array_equal(some[:, 0], expected[:, 2])


@pytest.mark.parametrize("abreast", [1, 2, 3, 16])
def test_walking_down_several_trees_by_hand(kernels, abreast):
    words, subsets, roots, _, values = toy_forest()
    buffers, margins = np.full(abreast, 7), np.ones((2, len(TOY_CODES), 2))
    trees = (TOY_CODES, words, subsets, roots)
    kernels.forest.add_margins_of_few(*trees, 0, 3, MEMBERS, buffers, values, margins)
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    np.testing.assert_array_equal(margins[0], (1 + values[expected[:, 0]]) + values[5])
    np.testing.assert_array_equal(margins[1], 1 + values[6 + expected[:, 2]])
    none, one = np.empty((0, 4), dtype=np.uint64), np.ascontiguousarray(values[:, :1])
    margins = np.zeros((1, len(TOY_CODES), 1))
    plain = (TOY_CODES, words, none, roots)
    kernels.forest.add_margins_of_few(*plain, 1, 3, np.zeros(3, dtype=int), buffers, one, margins)
    np.testing.assert_array_equal(margins[0], one[5] + one[6 + expected[:, 2]])


def test_fill_tables(kernels):
    words, subsets, roots, _, values = toy_forest()
    tables, constant = np.ones((1, 256, 2)), np.ones(2)
    stumps = (words, subsets, roots[1:], np.array([0, 1]), values)
    kernels.forest.fill_tables(*stumps, np.array([-1, -1, 0]), tables, constant)
    np.testing.assert_array_equal(constant, 1 + values[5])
    np.testing.assert_array_equal(tables[0, :255], np.tile(1 + values[7], (255, 1)))
    np.testing.assert_array_equal(tables[0, 255], 1 + values[8])


def test_one_output_and_no_subsets(kernels):
    words, _, roots, depths, values = toy_forest()
    none, one = np.empty((0, 4), dtype=np.uint64), np.ascontiguousarray(values[:, :1])
    trees, margins = (words, none, roots, depths), np.zeros((1, len(TOY_CODES), 1))
    kernels.forest.add_margins(TOY_CODES, *trees, 1, 3, np.zeros(3, dtype=int), one, margins)
    last = [6 + toy_leaves(row)[2] for row in TOY_CODES.tolist()]
    np.testing.assert_array_equal(margins[0], one[5] + one[last])


def test_add_tables(kernels):
    rng = np.random.default_rng(0)
    tables, margins = rng.normal(size=(2, 256, 3)), np.ones((len(TOY_CODES), 3))
    kernels.forest.add_tables(TOY_CODES, np.array([0, 2]), tables, margins)
    expected = (1 + tables[0][TOY_CODES[:, 0]]) + tables[1][TOY_CODES[:, 2]]
    np.testing.assert_array_equal(margins, expected)


def checked(kernels, words, subsets, roots):
    """What `check_nodes` says of a forest on a column of categories and two of numbers."""
    n_bins, is_categorical = np.array([90, 4, 255]), np.array([1, 0, 0], dtype=np.uint8)
    levels, depths = np.full(len(words), -1, dtype=np.int32), np.full(len(roots), -7)
    place = np.full(2, -7)
    found = kernels.forest.check_nodes(
        words, len(subsets), roots, n_bins, is_categorical, levels, depths, place
    )
    return found, depths.tolist(), place.tolist()


def test_a_sound_forest_is_measured(kernels):
    words, subsets, roots, depths, _ = toy_forest()
    assert checked(kernels, words, subsets, roots) == (0, depths.tolist(), [-7, -7])


@pytest.mark.parametrize(
    ("node", "word", "fault", "place"),
    [
        (0, pack(4, shift=1, feature=1, left=5), 1, [0, 0]),  # a child in the next tree
        (1, pack(0, subset=1, feature=0, left=4), 1, [0, 1]),  # the right child is
        (1, pack(0, subset=1, feature=0, left=0), 1, [0, 1]),  # a child in front
        (1, pack(0, subset=1, feature=0, left=2), 2, [0, 1]),  # somebody else's child
        (0, pack(4, shift=1, feature=1, left=2), 2, [0, 1]),  # nobody's child
        (7, pack(254, left=1), 3, [2, 1]),  # a leaf that sends missing values on
        (7, pack(255, feature=1, left=1), 3, [2, 1]),
        (0, pack(4, shift=1, feature=1, left=1) | 1 << 10, 4, [0, 0]),
        (6, pack(254, feature=3, left=1), 5, [2, 0]),
        (6, pack(0, subset=1, feature=2, left=1), 6, [2, 0]),  # a set of numbers
        (6, pack(3, feature=0, left=1), 6, [2, 0]),  # a threshold of categories
        (1, pack(1, subset=1, feature=0, left=3), 7, [0, 1]),
        (0, pack(0, shift=1, feature=1, left=1), 8, [0, 0]),  # below the first code
        (0, pack(4 + 1, shift=1, feature=1, left=1), 8, [0, 0]),
        (6, pack(255, feature=2, left=1), 8, [2, 0]),
    ],
)
def test_nodes_that_could_not_be_followed_are_found(kernels, node, word, fault, place):
    words, subsets, roots, _, _ = toy_forest()
    words = words.copy()
    words[node] = word
    found, _, where = checked(kernels, words, subsets, roots)
    assert (found, where) == (fault, place)


def test_sets_of_categories_must_be_there(kernels):
    words, subsets, roots, _, _ = toy_forest()
    found, _, where = checked(kernels, words, subsets[:0], roots)
    assert (found, where) == (7, [0, 1])


def test_no_rows_and_no_trees(kernels):
    words, subsets, roots, depths, values = toy_forest()
    nobody, margins = np.empty((0, 3), dtype=np.uint8), np.empty((2, 0, 2))
    trees = (words, subsets, roots, depths)
    kernels.forest.add_margins(nobody, *trees, 0, 3, MEMBERS, values, margins)
    margins = np.ones((2, len(TOY_CODES), 2))
    kernels.forest.add_margins(TOY_CODES, *trees, 2, 2, MEMBERS, values, margins)
    assert (margins == 1).all()
