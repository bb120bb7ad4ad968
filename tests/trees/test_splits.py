"""Searches under fixed rules: what they know of children, and that they may be sent elsewhere."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from costboost.trees.tree import FREE, Split, SplitFinder


def test_a_finder_that_has_searched_may_be_sent_elsewhere():
    hist, counts = np.zeros((1, 256, 2), dtype=np.int64), np.empty((0, 256), dtype=np.int64)
    hist[0, :2] = [[3, 1], [1, 5]]
    finder = SplitFinder(np.array([2]), np.array([False]), 2, criterion="gini")
    for searching in (finder, pickle.loads(pickle.dumps(finder))):
        found = searching.find(hist, counts, hist[0].sum(axis=0), 10, np.arange(1))
        assert (found.feature, found.threshold, found.left_sums.tolist()) == (0, 0, [3, 1])
        pickle.dumps(searching)


def split_of(left_sums, feature=0):
    return Split(1.0, feature, 0, np.zeros(256, dtype=np.uint8), np.array(left_sums))


def test_missing_values_go_where_the_last_code_goes():
    goes_left = np.ones(256, dtype=np.uint8)
    assert Split(1.0, 0, 3, goes_left, np.zeros(2)).missing_left
    goes_left[255] = 0
    assert not Split(1.0, 0, 3, goes_left, np.zeros(2)).missing_left


@pytest.mark.parametrize(
    ("heaviest", "left", "expected"),
    [
        (2.0, [6, 0], True),  # 3 rows of weight 2 or more lighter ones, on both sides
        (2.0, [5, 0], False),
        (2.0, [9, 6], False),
        (None, [10, 0], False),
    ],
)
def test_heavy_children_surely_have_rows_enough(heaviest, left, expected):
    options = {"criterion": "gini", "min_count": 3, "heaviest": heaviest}
    finder = SplitFinder(np.array([2]), np.array([False]), 2, **options)
    assert finder.surely_counts(split_of(left), np.array([10, 10])) is expected


def test_children_of_any_size_need_no_count():
    finder = SplitFinder(np.array([2]), np.array([False]), 2, criterion="gini")
    assert finder.surely_counts(split_of([0, 0]), np.array([10, 10]))


def test_children_of_a_constrained_column_are_parted_in_the_middle_of_their_values():
    ways = np.array([1, -1, 0])
    options = {"criterion": "newton", "l2": 1.0, "monotone": ways}
    finder = SplitFinder(np.full(3, 2), np.zeros(3, dtype=bool), 2, **options)
    sums, left = np.array([-2, 8]), np.array([4, 3])  # -4 / 4 and 6 / 6: the middle is 0
    assert finder.child_bounds(split_of(left, 0), sums, FREE) == ((-np.inf, 0.0), (0.0, np.inf))
    assert finder.child_bounds(split_of(left, 1), sums, FREE) == ((0.0, np.inf), (-np.inf, 0.0))
    assert finder.child_bounds(split_of(left, 2), sums, (-3.0, 2.0)) == ((-3.0, 2.0),) * 2
    # A value beyond the node's own bounds counts as the bound: (-1 + 0.5) / 2.
    bounds = finder.child_bounds(split_of(left, 0), sums, (-3.0, 0.5))
    assert bounds == ((-3.0, -0.25), (-0.25, 0.5))


def test_a_split_that_was_found_stays_what_it_was():
    counts = np.empty((0, 256), dtype=np.int64)
    finder = SplitFinder(np.array([3]), np.array([False]), 2, criterion="gini")
    hist = np.zeros((1, 256, 2), dtype=np.int64)
    hist[0, :3] = [[3, 1], [1, 5], [0, 2]]
    first = finder.find(hist, counts, hist[0].sum(axis=0), 10, np.arange(1))
    kept = (first.left_sums.tolist(), first.goes_left.tolist())
    other = finder.find(hist[:, :, ::-1].copy() * 7, counts, np.array([56, 28]), 10, np.arange(1))
    assert other.left_sums.tolist() != kept[0]
    assert (first.left_sums.tolist(), first.goes_left.tolist()) == kept
