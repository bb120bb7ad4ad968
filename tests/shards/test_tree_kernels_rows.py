"""Loops over the rows of a node, compiled and interpreted, against their naive twins."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.shards.grid import PackedPairs
from costboost.shards.rows import Shard
from interpreted import WAYS, tree_kernels_by
from naive import trees as naive
from tree_searches import few


@pytest.fixture(scope="module", params=WAYS)
def kernels(request):
    return tree_kernels_by(request.param)


def random_codes(rng, n, d):
    codes = rng.integers(0, 5, size=(n, d)).astype(np.uint8)
    # The ends of the range, where bytes wrap.
    return np.where(rng.random((n, d)) < 0.3, rng.choice([254, 255]), codes).astype(np.uint8)


@st.composite
def segments(draw):
    """Rows of a node as the kernels see them: codes, order, whole, begins, ends."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n, whole = int(starts[-1]), draw(st.booleans())
    codes = random_codes(rng, n, draw(st.integers(1, 4)))
    order = np.full(n, 2**31, dtype=np.uint32)
    begins, ends = starts[:-1].copy(), starts[1:].copy()
    if not whole:
        for s, size in enumerate(sizes):
            begins[s] += rng.integers(0, size + 1)
            ends[s] = rng.integers(begins[s], starts[s + 1] + 1)
            members = rng.permutation(np.arange(starts[s], starts[s + 1]))
            order[starts[s] : starts[s + 1]] = members
    codes.setflags(write=False)
    return rng, codes, (order, whole, begins, ends)


def rows_of(where):
    """The rows of each segment."""
    order, whole, begins, ends = where
    spans = [range(b, e) for b, e in zip(begins, ends, strict=True)]
    return [list(span) if whole else [int(order[i]) for i in span] for span in spans]


def all_rows(where):
    return list(itertools.chain(*rows_of(where)))


@given(segments())
@few
def test_class_histogram(kernels, case):
    rng, codes, where = case
    n_classes = len(where[2])
    weights = rng.choice([0.0, 0.1, 1.0, 3.0, 1e-3], size=len(codes))
    own = rng.choice([0.5, 1.0, 4.0], size=len(codes))
    scales = 2.0**40 * rng.choice([0.25, 1.0, 2.0], size=n_classes)
    for factors in (np.zeros(0), own):
        hist = np.zeros((n_classes, codes.shape[1], 256), dtype=np.int64)
        kernels.tree.class_histogram(codes, *where, weights, factors, scales, hist.reshape(-1))
        handed = weights * factors if len(factors) else weights
        for k, rows in enumerate(rows_of(where)):
            channel = naive.class_channels([0] * len(weights), handed, scales[k], 1)
            np.testing.assert_array_equal(hist[k], naive.histogram(codes, rows, channel)[:, :, 0])


@given(segments())
@few
def test_pair_histogram(kernels, case):
    rng, codes, where = case
    pairs = rng.integers(-(2**50), 2**50, size=(len(codes), 2))
    hist = np.zeros((codes.shape[1], 256, 2), dtype=np.int64)
    kernels.tree.pair_histogram(codes, *where, pairs, hist.reshape(-1))
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), pairs))


@given(segments(), st.sampled_from([1, 3, 8191]))
@few
def test_packed_histogram(kernels, case, block):
    rng, codes, where = case
    gradients = rng.integers(-(2**21), 2**21 + 1, size=len(codes))
    hessians = rng.integers(0, 2**16 + 1, size=len(codes))
    hist = np.zeros((codes.shape[1], 256, 2), dtype=np.int64)
    part = np.zeros(codes.shape[1] * 256, dtype=np.int64)
    packed = gradients * 2**PackedPairs.SHIFT + hessians
    shift = PackedPairs.SHIFT
    kernels.tree.packed_histogram(codes, *where, packed, shift, block, part, hist.reshape(-1))
    pairs = np.stack([gradients, hessians], axis=1)
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), pairs))
    assert not part.any()


@pytest.mark.parametrize("sign", [-1, 1])
def test_full_blocks_of_packed_pairs_do_not_carry(sign):
    # The largest pairs there are, all in one cell, over more than two blocks.
    n = 2 * PackedPairs.BLOCK + 5
    gradient, hessian = sign * 2**PackedPairs.GRADIENT_BITS, 2**PackedPairs.HESSIAN_BITS
    shard = Shard(np.full((n, 1), 7, dtype=np.uint8), np.arange(n), np.array([0, n]))
    packed = np.full(n, gradient * 2**PackedPairs.SHIFT + hessian)
    shard.state = SimpleNamespace(packed=packed, part=None)
    shard.begin_tree(None)
    hist = PackedPairs().histogram(shard, 0)
    assert hist[0, 7].tolist() == [n * gradient, n * hessian]
    assert np.count_nonzero(hist) == 2


@given(segments(), st.integers(1, 5))
@few
def test_vector_histogram(kernels, case, n_classes):
    rng, codes, where = case
    vectors = rng.integers(-(2**31), 2**31, size=(len(codes), n_classes)).astype(np.int32)
    hist = np.zeros((codes.shape[1], 256, n_classes), dtype=np.int64)
    kernels.tree.vector_histogram(codes, *where, vectors, hist.reshape(-1))
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), vectors))


@given(segments())
@few
def test_count_histogram(kernels, case):
    _, codes, where = case
    counts = np.zeros((codes.shape[1], 256), dtype=np.int64)
    kernels.tree.count_histogram(codes, *where, counts)
    np.testing.assert_array_equal(counts, naive.count_histogram(codes, all_rows(where)))


def test_histograms_add_to_what_is_there(kernels):
    codes = np.array([[7]], dtype=np.uint8)
    where = (np.zeros(1, dtype=np.uint32), True, np.array([0]), np.array([1]))
    hist = np.full(256, 5, dtype=np.int64)
    kernels.tree.class_histogram(codes, *where, np.array([3.0]), np.zeros(0), np.array([2.0]), hist)
    assert hist[7] == 11
    assert hist.sum() == 5 * 256 + 6


@given(segments())
@few
def test_partition_is_stable_and_stays_in_its_segment(kernels, case):
    rng, codes, (order, whole, begins, ends) = case
    feature = int(rng.integers(codes.shape[1]))
    goes_left = rng.integers(0, 2, size=256).astype(np.uint8)
    before, outside = rows_of((order, whole, begins, ends)), order.copy()
    scratch, middles = np.empty_like(order), np.empty_like(begins)
    kernels.tree.partition(codes, feature, goes_left, order, scratch, whole, begins, ends, middles)
    for rows, begin, middle, end in zip(before, begins, middles, ends, strict=True):
        left = [row for row in rows if goes_left[codes[row, feature]]]
        right = [row for row in rows if not goes_left[codes[row, feature]]]
        assert order[begin:middle].tolist() == left
        assert order[middle:end].tolist() == right
        outside[begin:end] = order[begin:end]
    np.testing.assert_array_equal(order, outside)


@given(segments())
@few
def test_assign_leaf_and_assign_split(kernels, case):
    rng, codes, where = case
    feature, last = int(rng.integers(codes.shape[1])), 2**16 - 1
    goes_left = rng.integers(0, 2, size=256).astype(np.uint8)
    leaves = np.full(len(codes), 9, dtype=np.uint16)
    expected = leaves.copy()
    rows = all_rows(where)
    kernels.tree.assign_leaf(*where, last, leaves)
    expected[rows] = last
    np.testing.assert_array_equal(leaves, expected)
    for left, right in ((3, last), (last, 0)):
        kernels.tree.assign_split(codes, feature, goes_left, *where, left, right, leaves)
        for row in rows:
            expected[row] = left if goes_left[codes[row, feature]] else right
        np.testing.assert_array_equal(leaves, expected)
