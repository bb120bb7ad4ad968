"""What histograms add up, against sums over masks."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.boosting.gradient.rows import GradientRows, LossRows
from costboost.shards.grid import ClassWeights, GradientPairs, PackedPairs, RowCounts, Vectors
from costboost.shards.layout import plan_layout
from costboost.shards.rows import Pieces, RowSample, Shard

N, D = 90, 4
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 6, (N, D)).astype(np.uint8)
CODES[::7, 1] = 255
STARTS = np.array([0, 30, 30, 90])  # of three classes the second has no rows
LABELS = np.repeat([0, 2], [30, 60])
GOES = (np.arange(256) < 3).astype(np.uint8)


class State:
    """What the modes read of a shard's state."""

    def __init__(self, **arrays):
        self.part = self.buffer = None
        vars(self).update(arrays)


def shard_of(state, *, pieces=False, starts=STARTS):
    """Return a shard of all rows; each segment in two pieces, with codes of strangers between."""
    rows = np.arange(N, dtype=np.uint32)
    if not pieces:
        return Shard(CODES, rows, starts, state)
    middles = starts[:-1] + np.diff(starts) // 3
    cuts = np.append(np.stack([starts[:-1], middles], axis=1).ravel(), starts[-1])
    skips = tuple(2 * (p + 1) for p in range(len(cuts) - 1))
    strangers = np.full((2, D), 77, dtype=np.uint8)
    parts = [CODES[a:b] for a, b in pairwise(cuts)]
    codes = np.concatenate([block for part in parts for block in (strangers, part)])
    return Shard(codes, rows, starts, state, Pieces(cuts, skips))


def added_up(values, among, codes=CODES):
    """Return (d, 256, C): sums of the rows' values (n, C) by column and code."""
    hist = np.zeros((codes.shape[1], 256, values.shape[1]), dtype=np.int64)
    for j in range(codes.shape[1]):
        np.add.at(hist[j], codes[among, j], values[among])
    return hist


def nodes(shard, sample=None):
    """Yield the root and two children, and their rows as masks."""
    shard.begin_tree(sample)
    kept = np.ones(N, dtype=bool) if sample is None else sample.keeps(np.arange(N))
    yield 0, kept
    shard.divide(0, 1, 2, GOES)
    yield 1, kept & (CODES[:, 2] < 3)
    yield 2, kept & (CODES[:, 2] >= 3)


SAMPLES = pytest.mark.parametrize("sample", [None, RowSample(0.5, seed=1, number=2)])
PIECES = pytest.mark.parametrize("pieces", [False, True])


@SAMPLES
@PIECES
@pytest.mark.parametrize("factored", [False, True])
def test_weights_are_added_up_by_class(sample, pieces, factored):
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 99, N).astype(float)
    factors = rng.integers(0, 5, N).astype(float)
    mode = ClassWeights((1.0, 8.0, 4.0), factored)
    shard = shard_of(State(weights=weights, learner_factors=factors), pieces=pieces)
    values = weights * (factors if factored else 1.0) * np.array(mode.scales)[LABELS]
    by_class = np.where(LABELS[:, None] == np.arange(3), values[:, None], 0).astype(np.int64)
    for node, among in nodes(shard, sample):
        assert_array_equal(mode.histogram(shard, node), added_up(by_class, among))
        some = np.array([0, 3])
        expected = added_up(by_class, among, CODES[:, some])
        assert_array_equal(mode.histogram(shard, node, some), expected)


@SAMPLES
@PIECES
def test_pairs_are_added_up_wide_and_packed(sample, pieces):
    rng = np.random.default_rng(1)
    pairs = np.stack([rng.integers(-999, 999, N), rng.integers(0, 999, N)], axis=1)
    packed = pairs[:, 0] * 2**PackedPairs.SHIFT + pairs[:, 1]
    shard = shard_of(State(pairs=pairs, packed=packed), pieces=pieces)
    for node, among in nodes(shard, sample):
        for columns in (None, np.array([1]), np.array([0, 2, 3])):
            own = CODES if columns is None else CODES[:, columns]
            expected = added_up(pairs, among, own)
            assert_array_equal(GradientPairs().histogram(shard, node, columns), expected)
            assert_array_equal(PackedPairs().histogram(shard, node, columns), expected)


def test_words_of_packed_pairs_hold_a_block_at_the_ends_of_the_grid():
    mode = PackedPairs
    gradients = mode.BLOCK << mode.GRADIENT_BITS
    hessians = mode.BLOCK << mode.HESSIAN_BITS
    assert hessians < 1 << mode.SHIFT
    assert (gradients << mode.SHIFT) + hessians < 1 << 63


@SAMPLES
@PIECES
@pytest.mark.parametrize("n_codes", [None, 6, 9])
def test_vectors_keep_few_codes_and_the_missing_ones(sample, pieces, n_codes):
    rng = np.random.default_rng(1)
    vectors = rng.integers(-99, 99, (N, 5)).astype(np.int32)
    mode = Vectors(5, n_codes)
    shard = shard_of(State(vectors=vectors), pieces=pieces, starts=np.array([0, N]))
    for node, among in nodes(shard, sample):
        for columns in (None, np.array([1, 2])):  # the room is used again
            own = CODES if columns is None else CODES[:, columns]
            expected = added_up(vectors.astype(np.int64), among, own)
            if n_codes is not None:
                expected = np.concatenate([expected[:, :n_codes], expected[:, 255:]], axis=1)
            assert_array_equal(mode.histogram(shard, node, columns), expected)


@SAMPLES
@PIECES
def test_rows_are_counted(sample, pieces):
    shard = shard_of(State(), pieces=pieces)
    for node, among in nodes(shard, sample):
        expected = added_up(np.ones((N, 1), dtype=np.int64), among)[..., 0]
        for _ in range(2):  # the whole root's are remembered
            assert_array_equal(RowCounts().histogram(shard, node), expected)
        some = np.array([3, 0])
        assert_array_equal(RowCounts().histogram(shard, node, some), expected[some])


@pytest.mark.parametrize("whole", [False, True])
def test_packed_histograms_are_pair_histograms(whole):
    """More rows than a block holds, at the ends of the grid."""
    rng = np.random.default_rng(0)
    n = 2 * PackedPairs.BLOCK + 5
    g = rng.choice([-(2**21), 2**21, 0, 5], size=n)
    h = rng.choice([0, 1, 2**16], size=n)
    with plan_layout(None, n, 1, 1).cut(rng.integers(0, 2, (n, 3)).astype(np.uint8)) as shards:
        shard = shards.shards[0]
        packed = g * 2**PackedPairs.SHIFT + h
        shard.state = GradientRows(LossRows(g), pairs=np.stack([g, h], axis=1), packed=packed)
        shard.begin_tree(None if whole else RowSample(0.7, seed=0, number=0))
        np.testing.assert_array_equal(
            PackedPairs().histogram(shard, 0), GradientPairs().histogram(shard, 0)
        )
        assert not shard.state.part.any()
