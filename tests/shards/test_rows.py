"""A shard: its rows among nodes, their sums, and the leaves they reach."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.shards import rows as module
from costboost.shards.grid import GradientPairs, RowCounts
from costboost.shards.rows import Pieces, RowSample, Shard, TreeShape

N, D = 80, 3
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 10, (N, D)).astype(np.uint8)
CODES[::9, 1] = 255
STARTS = np.array([0, 20, 20, 80])  # a class without rows
PAIRS = np.stack([RNG.integers(-50, 50, N), RNG.integers(0, 50, N)], axis=1)
ROWS = RNG.permutation(N).astype(np.uint32)
SAMPLE = RowSample(0.6, seed=1, number=2)


class State:
    pairs = PAIRS
    sample_weights = None


def cut(limit, *, missing=False):
    goes = (np.arange(256) < limit).astype(np.uint8)
    goes[255] = missing
    return goes


# Node 0: column 1 (1 | 2), node 1: column 0 (3 | 4), node 4: column 2 (5 | 6).
NONE = None
SHAPE = TreeShape(
    left=(1, 3, -1, -1, 5, -1, -1),
    features=(1, 0, -1, -1, 2, -1, -1),
    goes_left=(cut(5, missing=True), cut(4), NONE, NONE, cut(7), NONE, NONE),
    leaves=(-1, -1, 0, 1, -1, 2, 3),
)


def walk():
    """Return the leaf of every row of the codes, by comparing."""
    codes = CODES.astype(int)
    left = (codes[:, 1] < 5) | (codes[:, 1] == 255)
    return np.where(~left, 0, np.where(codes[:, 0] < 4, 1, np.where(codes[:, 2] < 7, 2, 3)))


def make(*, pieces=False, state=None, first=0):
    if not pieces:
        return Shard(CODES, ROWS, STARTS, State() if state is None else state, first=first)
    cuts = np.array([0, 12, 20, 20, 20, 33, 80])  # two pieces of every class
    skips = (1, 2, 2, 2, 4, 5)
    codes = np.full((N + 5, D), 200, dtype=np.uint8)
    places = np.arange(N) + np.repeat(skips, np.diff(cuts))
    codes[places] = CODES
    return Shard(codes, ROWS, STARTS, State() if state is None else state, Pieces(cuts, skips))


PIECES = pytest.mark.parametrize("pieces", [False, True])
SAMPLES = pytest.mark.parametrize("sample", [None, SAMPLE])


def rows_of(shard, node):
    """Return the places of a node's rows."""
    order, whole, begins, ends = shard.where(node)
    ranges = [np.arange(a, b) for a, b in zip(begins, ends, strict=True)]
    return np.concatenate([own if whole else order[own] for own in ranges])


@PIECES
@SAMPLES
def test_rows_are_divided_and_keep_their_order(pieces, sample):
    shard = make(pieces=pieces)
    kept = np.ones(N, dtype=bool) if sample is None else sample.keeps(ROWS)
    assert shard.begin_tree(sample) == kept.sum()
    assert_array_equal(rows_of(shard, 0), np.flatnonzero(kept))
    left = (CODES[:, 1] < 5) | (CODES[:, 1] == 255)
    sizes = shard.divide(0, 1, 1, SHAPE.goes_left[0])
    assert sizes == ((kept & left).sum(), (kept & ~left).sum())
    assert_array_equal(rows_of(shard, 1), np.flatnonzero(kept & left))
    assert_array_equal(rows_of(shard, 2), np.flatnonzero(kept & ~left))
    assert (shard.size(1), shard.size(2)) == sizes


@PIECES
@SAMPLES
@pytest.mark.parametrize("limit", [1, 5, 9, 10])
def test_sums_of_both_children_come_from_the_smaller(pieces, sample, limit):
    shard, mode = make(pieces=pieces), GradientPairs()
    shard.begin_tree(sample)
    parent = shard.sum_histogram(0, mode).copy()
    n_left, found = shard.divide_node(0, 1, 1, cut(limit), (mode,))
    assert n_left == shard.size(1)
    assert_array_equal(found, mode.histogram(shard, 1))
    assert_array_equal(shard.sum_histogram(1, mode), mode.histogram(shard, 1))
    for _ in range(2):
        assert_array_equal(shard.sum_histogram(2, mode), mode.histogram(shard, 2))
    assert_array_equal(shard.sum_histogram(1, mode) + shard.sum_histogram(2, mode), parent)


def test_sums_of_another_tree_are_not_those_of_the_last():
    shard, mode = make(), GradientPairs()
    shard.begin_tree(None)
    before = shard.sum_histogram(0, mode).copy()
    shard.state.pairs = 2 * PAIRS
    shard.begin_tree(None)
    assert_array_equal(shard.sum_histogram(0, mode), 2 * before)
    some = np.array([2, 0])
    assert_array_equal(shard.sum_histogram(0, mode, some), 2 * before[some])


def test_the_whole_roots_counts_are_not_those_of_a_sample():
    shard = make()
    for sample in (None, SAMPLE, None):
        shard.begin_tree(sample)
        kept = CODES if sample is None else CODES[sample.keeps(ROWS)]
        expected = [np.bincount(column, minlength=256) for column in kept.T]
        assert_array_equal(shard.count_codes(0), expected)
        assert_array_equal(shard.sum_histogram(0, RowCounts()), expected)


@PIECES
@SAMPLES
@pytest.mark.parametrize("divided", [0, 1, 2, 3])
def test_every_row_reaches_its_leaf(pieces, sample, divided):
    """Whether the tree's nodes were divided while it grew, or not."""
    shard = make(pieces=pieces)
    shard.begin_tree(sample)
    for node in [0, 1, 4][:divided]:
        shard.divide(node, SHAPE.left[node], SHAPE.features[node], SHAPE.goes_left[node])
    counts = shard.assign_leaves(SHAPE)
    assert_array_equal(shard.leaves, walk())
    assert_array_equal(counts, np.bincount(walk(), minlength=4))


def test_a_tree_of_one_leaf_holds_all_rows():
    shard = make()
    shard.begin_tree(SAMPLE)
    shape = TreeShape((-1,), (-1,), (None,), (0,))
    assert shard.assign_leaves(shape).tolist() == [N]
    assert not shard.leaves.any()


@PIECES
def test_stretches_are_the_codes_of_the_rows(pieces):
    shard = make(pieces=pieces)
    found = np.zeros_like(CODES)
    for codes, among in shard.stretches():
        found[among] = codes
    assert_array_equal(found, CODES)


def test_rows_of_a_part_are_numbered_from_its_first(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    shard = make(first=1000)
    assert_array_equal(shard.numbers(), ROWS + 1000)
    expected = SAMPLE.keeps(ROWS + 1000)
    assert_array_equal(shard.mark(SAMPLE), expected)
    assert_array_equal(shard.marked(SAMPLE), expected)
    other = RowSample(0.6, seed=1, number=3)
    assert_array_equal(shard.marked(other), other.keeps(ROWS + 1000))
    assert shard.begin_tree(SAMPLE) == expected.sum()


def test_sample_weights_are_added_up_by_leaf():
    state = State()
    state.sample_weights = np.arange(N) % 9 * 0.25
    shard = make(state=state)
    shard.begin_tree(None)
    shard.assign_leaves(SHAPE)
    expected = np.bincount(walk(), state.sample_weights, minlength=5)
    assert_array_equal(shard.weigh_leaves(5, 4.0), 4 * expected)
    assert shard.heaviest == state.sample_weights.max()
    assert make().heaviest == 0.0


def test_a_shard_without_rows():
    empty = Shard(CODES[:0], ROWS[:0], np.array([0, 0]), State())
    empty.state.sample_weights = np.zeros(0)
    assert empty.begin_tree(SAMPLE) == 0
    assert empty.begin_tree(None) == 0
    assert empty.divide(0, 1, 1, cut(3)) == (0, 0)
    assert not empty.count_codes(0).any()
    assert empty.assign_leaves(SHAPE).tolist() == [0, 0, 0, 0]
    assert empty.heaviest == 0.0
