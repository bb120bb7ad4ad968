"""Searches under fixed rules: what they know of children, and that they may be sent elsewhere."""

from __future__ import annotations

import pickle

import numpy as np

from costboost.trees.splits import SplitFinder


def test_a_finder_that_has_searched_may_be_sent_elsewhere():
    hist, counts = np.zeros((1, 256, 2), dtype=np.int64), np.empty((0, 256), dtype=np.int64)
    hist[0, :2] = [[3, 1], [1, 5]]
    finder = SplitFinder(np.array([2]), np.array([False]), 2, criterion="gini")
    for searching in (finder, pickle.loads(pickle.dumps(finder))):
        found = searching.find(hist, counts, hist[0].sum(axis=0), 10, np.arange(1))
        assert (found.feature, found.threshold, found.left_sums.tolist()) == (0, 0, [3, 1])
        pickle.dumps(searching)
