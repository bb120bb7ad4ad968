"""Shared by the tests of searches for splits: small nodes, the library's search, and the twin's."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from costboost.trees.tree import SplitFinder
from interpreted import use_tree_kernels
from naive import trees as naive

CLASS_CRITERIA = ("gini", "entropy", "error")


few = settings(max_examples=30, deadline=None)


@contextmanager
def using(kernels):
    """Let the modules around the kernels use these."""
    with pytest.MonkeyPatch.context() as patch:
        use_tree_kernels(patch, kernels)
        yield


def make_channels(rng, n, criterion, n_channels):
    """Small integers of the kind that the criterion takes."""
    if criterion in CLASS_CRITERIA:
        labels = rng.integers(0, n_channels, size=n)
        return naive.class_channels(
            labels, rng.choice([0.0, 1.0, 2.0, 5.0], size=n), 1.0, n_channels
        )
    if criterion == "newton":
        return np.stack([rng.integers(-9, 10, size=n), rng.integers(1, 6, size=n)], axis=1)
    channels = rng.integers(-6, 7, size=(n, n_channels))
    if criterion == "squares":
        channels[:, -1] = rng.integers(1, 6, size=n)  # a weight
    return channels


@st.composite
def node_tables(draw, *, criteria=naive.CRITERIA, categorical=None, channels=(2, 3, 5)):
    """A small table, the rules of the search, and the rows of a node."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    criterion = draw(st.sampled_from(criteria))
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    n_channels = 2 if criterion == "newton" else draw(st.sampled_from(channels))
    n_bins = rng.integers(1, 6, size=d)
    codes = (rng.random((n, d)) * n_bins).astype(np.uint8)
    if draw(st.booleans()):
        codes[rng.random((n, d)) < 0.3] = naive.MISSING
    is_categorical = rng.random(d) < 0.4 if categorical is None else np.full(d, categorical)
    table = naive.Table(codes, make_channels(rng, n, criterion, n_channels), n_bins, is_categorical)
    rules = naive.Rules(
        criterion,
        l2=draw(st.sampled_from([0.0, 0.5, 3.0])) if criterion in ("newton", "squares") else 0.0,
        min_weight=draw(st.sampled_from([0.0, 0.0, 2.0, 4.5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 2, 4])),
    )
    return table, rules


def find_split(table, rules, features=None):
    """Call the library's search on the table's own histogram."""
    d, rows = table.codes.shape[1], range(len(table.codes))
    counts = np.empty((0, 256), dtype=np.int64)
    if rules.min_samples_leaf > 1:
        counts = naive.count_histogram(table.codes, rows)
    finder = SplitFinder(
        np.asarray(table.n_bins),
        np.asarray(table.is_categorical),
        table.channels.shape[1],
        criterion=rules.criterion,
        l2=rules.l2,
        min_weight=rules.min_weight,
        min_count=rules.min_samples_leaf,
    )
    hist = naive.histogram(table.codes, rows, table.channels)
    sums = np.array(table.sums(rows))
    features = np.arange(d) if features is None else np.asarray(features)
    return finder.find(hist, counts, sums, len(table.codes), features)


def assert_same_split(found, expected):
    assert (found is None) == (expected is None)
    if expected is None:
        return
    assert (found.feature, found.threshold) == (expected.feature, expected.threshold)
    assert found.gain == expected.gain
    assert found.left_sums.tolist() == expected.left_sums
    assert found.goes_left.tolist() == [int(left) for left in expected.goes_left]
    assert found.missing_left == expected.goes_left[naive.MISSING]
