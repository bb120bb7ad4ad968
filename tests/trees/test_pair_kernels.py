"""Cuts of two sums per cell, dismissed or scored: those of searches that score every cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from costboost.trees.tree import SplitFinder
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
        found.append(split and (split.gain, split.feature, split.threshold, *split.goes_left))
    assert found[0] == found[1]
    share = cells.sum(axis=0).min() / 2.0**61
    assert found[0] is not None or share < 1e-9  # what is all but pure may gain less than rounding


@given(st.integers(0, 2**32), st.sampled_from([0.0, 2.0, 1e6]), st.integers(1, 70), st.booleans())
@few
def test_newton_is_searched_as_least_squares_of_one_gradient(kernels, seed, l2, n_codes, missing):
    """Squares are searched cut by cut, and of one gradient they are newton's score."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(-(2**40), 2**40, n_codes), rng.integers(0, 2**30, n_codes)], 1)
    codes = [*range(n_codes - 1), naive.MISSING if missing else n_codes - 1]
    hist = np.zeros((3, 256, 2), dtype=np.int64)
    rows = np.zeros((3, 256), dtype=np.int64)
    for column, count in zip(hist, rows, strict=True):  # every column holds all rows
        order = rng.permutation(n_codes)
        column[codes] = cells[order]
        count[codes] = order % 3
    n_bins, kinds, found = np.full(3, n_codes), np.zeros(3, dtype=bool), []
    limits = {"l2": l2, "min_count": 3, "min_weight": 2.0**28}
    for criterion in ("newton", "squares"):
        finder = SplitFinder(n_bins, kinds, 2, criterion=criterion, **limits)
        with using(kernels):
            found.append(finder.find(hist, rows, cells.sum(axis=0), rows[0].sum(), np.arange(3)))
    if found[0] is None:
        assert found[1] is None
        return
    for name in ("gain", "feature", "threshold", "missing_left"):
        assert getattr(found[0], name) == getattr(found[1], name)
    assert found[0].left_sums.tolist() == found[1].left_sums.tolist()


def test_a_cut_in_a_block_of_poor_ones_is_found(kernels):
    # 48 codes in which nothing happens but at one, in every place of its block of 16.
    for place in range(1, 48):
        hist = np.zeros((1, 256, 2), dtype=np.int64)
        hist[0, :48] = [0, 4]
        hist[0, place - 1, 0], hist[0, place, 0] = -1, 1
        finder = SplitFinder(np.array([48]), np.array([False]), 2, criterion="newton", l2=1.0)
        with using(kernels):
            counts = np.empty((0, 256), dtype=np.int64)
            found = finder.find(hist, counts, hist[0].sum(axis=0), 48, np.arange(1))
        assert found.threshold == place - 1
        both = 1 / (4 * place + 1) + 1 / (4 * (48 - place) + 1)
        assert found.gain == both  # a node whose gradients cancel scores 0
