"""Trees grown in one call: the same as by messages, whatever rows, columns and rules there are.

`test_grower.py` grows each of its trees both ways.
"""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from costboost.shards.grid import ClassWeights, GradientPairs, PackedPairs, Vectors
from costboost.shards.layout import Shards
from costboost.shards.rows import ColumnDraw, Pieces, RowSample, Shard
from costboost.trees import grower
from costboost.trees.grower import Grower, grow_tree, plan_size
from costboost.trees.tree import Limits, SplitFinder
from grown_trees import Asked


class Counted:
    """Counts how often a shard was asked for a whole tree."""

    def __init__(self, monkeypatch):
        self.n_trees = 0
        start = grower.kernels.Growth

        def counted(*given):
            self.n_trees += 1
            return start(*given)

        monkeypatch.setattr(grower, "kernels", SimpleNamespace(Growth=counted))


N, D = 400, 6


def make_rows(seed, *, n_segments=1):
    """Codes with ties and missing values, in segments of any size."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(N, D)).astype(np.uint8)
    codes[:, 1] = rng.integers(0, 3, size=N)
    codes[rng.random((N, D)) < 0.1] = 255
    cuts = np.sort(rng.integers(0, N, size=n_segments - 1))
    return rng, codes, np.concatenate([[0], cuts, [N]]).astype(np.int64)


def make_state(rng, **arrays):
    pairs = np.stack([rng.integers(-90, 91, size=N), rng.integers(0, 60, size=N)], axis=1)
    vectors = rng.integers(-60, 61, size=(N, 4)).astype(np.int32)
    vectors[:, 3] = rng.integers(1, 5, size=N)
    weights = rng.choice([0.0, 0.1, 1.0, 3.0], size=N)
    held = {"pairs": pairs, "vectors": vectors, "weights": weights, "room": None}
    return SimpleNamespace(**held | {"learner_factors": rng.random(N)} | arrays)


def make_finder(criterion, channels, **options):
    categorical = np.arange(D) == 4
    return SplitFinder(np.full(D, 12), categorical, channels, criterion=criterion, **options)


def assert_same(one, other):
    for name in ("feature", "threshold", "missing_left", "left", "gain", "sums", "leaves", "cover"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert one.depth == other.depth
    np.testing.assert_array_equal(one.leaf_bounds, other.leaf_bounds)
    assert {k: v.tolist() for k, v in one.subsets.items()} == {
        k: v.tolist() for k, v in other.subsets.items()
    }


def grow_both(shard, mode, finder, limits, draw=None, sample=None):
    """Grow a tree at once and by messages; return it, having compared them."""
    grown = []
    for kind in (Shards, Asked):
        with kind([shard]) as cut:
            tree = Grower(cut, mode, finder, limits, draw).grow(sample)
            grown.append((tree, shard.leaves.copy()))
    assert_same(grown[0][0], grown[1][0])
    np.testing.assert_array_equal(grown[0][1], grown[1][1])
    return grown[0][0]


LIMITS = [Limits(3), Limits(max_leaf_nodes=9), Limits(5, 12, 4), Limits(0), Limits(None, None, 2)]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("share", [None, 0.6, 1e-9])
@pytest.mark.parametrize(
    ("mode", "criterion", "channels"),
    [
        (ClassWeights((2.0**40, 2.0**39)), "gini", 2),
        (ClassWeights((2.0**40, 2.0**40, 2.0**41), factored=True), "entropy", 3),
        (GradientPairs(), "newton", 2),
        (Vectors(4), "squares", 4),
        (Vectors(4), "vector", 4),
    ],
)
def test_every_mode_and_limit(monkeypatch, limits, share, mode, criterion, channels):
    n_segments = channels if isinstance(mode, ClassWeights) else 1
    sample = None if share is None else RowSample(share, seed=1, number=2)
    least = limits.min_samples_leaf
    for seed in range(3):
        rng, codes, starts = make_rows(seed, n_segments=n_segments)
        shard = Shard(codes, np.arange(N, dtype=np.uint32), starts, make_state(rng))
        finder = make_finder(criterion, channels, min_count=least)
        counted = Counted(monkeypatch)
        for width in (None, 2, 4):
            draw = None if width is None else ColumnDraw(width, D, seed, number=7, stream=1)
            tree = grow_both(shard, mode, finder, limits, draw, sample)
            assert (tree.depth > 0) == (limits.max_depth != 0)
        assert counted.n_trees == 3
        monkeypatch.undo()


@pytest.mark.parametrize("heaviest", [5.0, 59.0, 1e9])
@pytest.mark.parametrize("least", [2, 3, 30])
def test_rows_counted_only_where_a_split_may_leave_too_few(heaviest, least):
    for seed in range(5):
        rng, codes, starts = make_rows(seed)
        shard = Shard(codes, np.arange(N, dtype=np.uint32), starts, make_state(rng))
        finder = make_finder("newton", 2, min_count=least, heaviest=heaviest, min_weight=20.0)
        tree = grow_both(shard, GradientPairs(), finder, Limits(6, None, least))
        assert tree.cover[tree.leaves].min() >= least or heaviest < 59.0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "newton"])
def test_constrained_columns(criterion):
    newton = criterion == "newton"
    mode = GradientPairs() if newton else ClassWeights((2.0**40, 2.0**40))
    for seed in range(5):
        rng, codes, starts = make_rows(seed, n_segments=1 if newton else 2)
        shard = Shard(codes, np.arange(N, dtype=np.uint32), starts, make_state(rng))
        ways = np.array([1, -1, 1, 0, 0, -1], dtype=np.int8)
        finder = make_finder(criterion, 2, monotone=ways, l2=0.5 if newton else 0.0)
        tree = grow_both(shard, mode, finder, Limits(5))
        assert tree.leaf_bounds is not None
        assert np.isfinite(tree.leaf_bounds).any() or tree.depth == 0


def test_segments_that_lie_apart_in_the_codes():
    for seed in range(5):
        rng, codes, starts = make_rows(seed, n_segments=2)
        wide = rng.integers(0, 12, size=(N + 70, D)).astype(np.uint8)
        wide[: starts[1]], wide[starts[1] + 70 :] = codes[: starts[1]], codes[starts[1] :]
        rows, state = np.arange(N, dtype=np.uint32), make_state(rng)
        together = Shard(codes, rows, starts, state)
        drawn_only = Shard(wide, rows, starts[[0, -1]], state, Pieces(starts, (0, 70)))
        for mode, criterion, channels in (
            (GradientPairs(), "newton", 2),
            (Vectors(4), "squares", 4),
        ):
            finder = make_finder(criterion, channels, min_count=3)
            sample = RowSample(0.7, seed, 1)
            for how in ((Limits(4, None, 3),), (Limits(4, None, 3), None, sample)):
                tree = grow_both(together, mode, finder, *how)
                assert_same(tree, grow_both(drawn_only, mode, finder, *how))


def test_cover_is_of_sample_weights():
    rng, codes, starts = make_rows(1, n_segments=2)
    own = rng.random(N)
    state = make_state(rng, sample_weights=own)
    shard = Shard(codes, np.arange(N, dtype=np.uint32), starts, state)
    tree = grow_both(shard, ClassWeights((2.0**40,) * 2), make_finder("gini", 2), Limits(3))
    assert tree.cover[0] == pytest.approx(own.sum())


def test_the_columns_of_all_nodes_are_those_of_each():
    for stream in (0, 3):
        draw = ColumnDraw(4, 11, seed=5, number=9, stream=stream)
        table = draw.table(40)
        assert table.dtype == np.int64
        assert table.tolist() == [draw.columns(node).tolist() for node in range(40)]


def test_large_tables_and_trees_are_asked_by_node():
    how = {"drawn_only": False, "by_class": False}
    assert plan_size(3, 1 << 16, 1, 1 << 15, 20, 2, **how).leaves == 8
    assert plan_size(3, 1 << 16, 1, (1 << 15) + 1, 20, 2, **how) is None
    assert plan_size(None, 1 << 16, 1, 500, 20, 2, **how).leaves == 500
    assert plan_size(None, 1 << 16, 1, 20_000, 20, 2, **how) is None  # so many histograms may wait
    assert plan_size(None, 1 << 16, 1, 20_000, 20, 2, drawn_only=True, by_class=False).slots == 1
    assert not hasattr(PackedPairs(), "summands")  # which only large tables have


def test_the_message_may_be_sent_elsewhere():
    rng, codes, starts = make_rows(2)
    shard = Shard(codes, np.arange(N, dtype=np.uint32), starts, make_state(rng))
    size = plan_size(3, 8, 1, N, D, 2, drawn_only=False, by_class=False)
    message = grow_tree(
        mode=GradientPairs(), finder=make_finder("newton", 2), max_depth=3, size=size
    )
    here = message.answer(shard)
    there = pickle.loads(pickle.dumps(message)).answer(shard)
    np.testing.assert_equal(vars(there), vars(here))
