"""What searches are given and where they write, compiled and interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.trees.tree import SplitFinder
from naive import trees as naive
from tree_searches import few, find_split, node_tables, using


def parts_of(split):
    if split is None:
        return None
    sums, goes_left = split.left_sums.tolist(), split.goes_left.tolist()
    return split.gain, split.feature, split.threshold, sums, goes_left


def finder_of(table, rules):
    limits = {"l2": rules.l2, "min_weight": rules.min_weight}
    bins, kinds = np.asarray(table.n_bins), np.asarray(table.is_categorical)
    return SplitFinder(bins, kinds, table.channels.shape[1], criterion=rules.criterion, **limits)


def sums_of(table):
    rows = range(len(table.codes))
    hist = naive.histogram(table.codes, rows, table.channels)
    return hist, np.array(table.sums(rows)), len(table.codes)


@given(node_tables(), st.data())
@few
def test_histograms_of_the_searched_columns_alone_name_the_columns_of_the_table(
    kernels, case, data
):
    table, rules = case
    columns = range(table.codes.shape[1])
    features = data.draw(st.lists(st.sampled_from(columns), unique=True, min_size=1).map(sorted))
    hist, sums, n = sums_of(table)
    counts = np.empty((0, 256), dtype=np.int64)
    with using(kernels):
        finder = finder_of(table, rules)
        whole = finder.find(hist, counts, sums, n, np.array(features))
        part = finder.find(
            np.ascontiguousarray(hist[features]), counts, sums, n, np.array(features)
        )
    assert parts_of(part) == parts_of(whole)


@given(node_tables(criteria=("gini", "entropy", "error")))
@few
def test_histograms_are_read_in_any_memory_order_and_never_written(kernels, case):
    table, rules = case
    hist, sums, n = sums_of(table)
    planes = np.ascontiguousarray(hist.transpose(2, 0, 1)).transpose(1, 2, 0)  # a plane by class
    features, counts = np.arange(len(hist)), np.empty((0, 256), dtype=np.int64)
    for array in (planes, sums, features, counts):
        array.setflags(write=False)
    with using(kernels):
        expected = finder_of(table, rules).find(hist, counts, sums, n, features)
        got = finder_of(table, rules).find(planes, counts, sums, n, features)
    assert parts_of(got) == parts_of(expected)


@given(st.lists(node_tables(criteria=("gini",), channels=(3,)), min_size=2, max_size=5))
@few
def test_nothing_of_one_search_is_left_in_the_next(kernels, cases):
    # All of them as nodes of one table, whose columns have as many bins as any, in the same room.
    n_columns = min(table.codes.shape[1] for table, _ in cases)
    kinds = np.arange(n_columns) == 1
    counts = np.empty((0, 256), dtype=np.int64)

    def search(finder, table):
        hist, sums, n = sums_of(table)
        return parts_of(finder.find(hist[:n_columns].copy(), counts, sums, n, np.arange(n_columns)))

    with using(kernels):
        same = SplitFinder(np.full(n_columns, 5), kinds, 3, criterion="gini")
        for table, _ in cases:
            fresh = SplitFinder(np.full(n_columns, 5), kinds, 3, criterion="gini")
            assert search(same, table) == search(fresh, table)


@pytest.mark.parametrize(("way", "threshold"), [(0, 0), (1, 2), (-1, 0)])
def test_rules_hold_for_the_columns_that_they_name(kernels, way, threshold):
    # Shares of class 1 by code: 1, 0, 0, 1/2. The best cut falls, the best that rises is the last.
    channels = [[0, 4], [4, 0], [4, 0], [2, 2]]
    table = naive.Table(np.arange(4, dtype=np.uint8)[:, None], np.array(channels), [4], [False])
    finder = SplitFinder(
        np.array([4]), np.array([False]), 2, criterion="gini", monotone=np.array([way])
    )
    hist, sums, n = sums_of(table)
    with using(kernels):
        found = finder.find(hist, np.empty((0, 256), dtype=np.int64), sums, n, np.arange(1))
        assert find_split(table, naive.Rules("gini")).threshold == 0
    assert found.threshold == threshold
