"""Cuts of two sums per cell, dismissed or scored: those of searches that score every cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from costboost.trees.splits import SplitFinder
from naive import trees as naive
from tree_searches import few, using


@given(st.integers(0, 2**32), st.sampled_from([1.0, 4.0, 12.0]), st.booleans())
@few
def test_two_classes_are_searched_as_three_of_which_one_is_empty(kernels, seed, spread, missing):
    """Three classes are searched cut by cut; of two, cuts are dismissed before they are scored."""
    rng = np.random.default_rng(seed)
    weights = np.exp(spread * rng.standard_normal((60, 2)))
    cells = (weights / weights.sum() * 2.0**61).astype(np.int64)
    codes = [*range(59), naive.MISSING if missing else 59]
    hist, found = np.zeros((4, 256, 3), dtype=np.int64), []
    for j in range(4):  # every column holds all rows
        hist[j, codes, :2] = rng.permutation(cells)
    for channels in (2, 3):
        own = np.ascontiguousarray(hist[..., :channels])
        kinds, counts = np.zeros(4, dtype=bool), np.empty((0, 256), dtype=np.int64)
        finder = SplitFinder(np.full(4, 60), kinds, channels, criterion="gini")
        with using(kernels):
            split = finder.find(own, counts, own[0].sum(axis=0), 100, np.arange(4))
        assert split is not None
        found.append((split.gain, split.feature, split.threshold, split.goes_left.tolist()))
    assert found[0] == found[1]
