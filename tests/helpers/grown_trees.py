"""Shared by the tests of trees that grow: problems of every mode, and equality with twins."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from costboost.shards.grid import ClassWeights, GradientPairs, PackedPairs, Vectors, grid_scale
from costboost.shards.layout import Shards
from costboost.shards.rows import Shard
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder
from naive import trees as naive


@dataclass(frozen=True, eq=False)
class Kept:
    """A sample of rows chosen by the test."""

    mask: np.ndarray

    def keeps(self, rows):
        return self.mask[rows]

    def write(self, rows, first, places):
        chosen = np.flatnonzero(self.keeps(rows)) + first
        places[: len(chosen)] = chosen
        return len(chosen)


@dataclass(frozen=True)
class Drawn:
    """Columns of a node chosen by the test."""

    choose: object
    width: int = 3

    def columns(self, node, allowed=None):
        return np.array(self.choose(node))

    def table(self, n_nodes):
        return np.array([self.choose(node) for node in range(n_nodes)])


class Asked(Shards):
    """Shards that are asked a node at a time, also where there is only one."""

    is_single_shard = False


MODES = {
    "gini": ("gini", 2),
    "gini-3": ("gini", 3),
    "gini-5": ("gini", 5),
    "entropy": ("entropy", 2),
    "entropy-3": ("entropy", 3),
    "error": ("error", 2),
    "error-3": ("error", 3),
    "newton": ("newton", 2),
    "vector": ("vector", 3),
    "one-hot": ("one-hot", 4),
    "squares": ("squares", 4),
}


each_mode = pytest.mark.parametrize("mode", MODES)


class Problem:
    """A table of codes with what one mode needs, and the twin's view of it."""

    def __init__(self, rng, mode, n, *, d=3, missing=0.2, categorical=0.4, weights=(0, 1, 2, 5)):
        self.criterion, self.n_channels = MODES[mode]
        self.n_bins = rng.integers(1, 7, size=d)
        self.codes = (rng.random((n, d)) * self.n_bins).astype(np.uint8)
        self.codes[rng.random((n, d)) < missing] = naive.MISSING
        self.is_categorical = rng.random(d) < categorical
        self.labels, self.scale = None, 1.0
        if self.criterion == "newton":
            g, h = rng.integers(-9, 10, size=n), rng.integers(1, 6, size=n)
            self.name, self.data = "pairs", np.stack([g, h], axis=1)
        elif self.criterion in ("vector", "one-hot"):
            data = rng.integers(-6, 7, size=(n, self.n_channels))
            self.name, self.data = "vectors", data.astype(np.int32)
        elif self.criterion == "squares":
            data = rng.integers(-6, 7, size=(n, self.n_channels))
            data[:, -1] = rng.integers(1, 4, size=n)
            self.name, self.data = "vectors", data.astype(np.int32)
        else:
            self.labels = rng.integers(0, self.n_channels, size=n)
            self.name, self.data = "weights", rng.choice(weights, size=n).astype(float)
            self.scale = grid_scale(self.data.max(initial=0.0), n)

    @property
    def table(self):
        channels = self.data
        if self.name == "weights":
            channels = naive.class_channels(self.labels, self.data, self.scale, self.n_channels)
        return naive.Table(self.codes, channels, self.n_bins, self.is_categorical)

    @property
    def mode(self):
        if self.name == "weights":
            return ClassWeights((self.scale,) * self.n_channels)
        pairs = {"pairs": GradientPairs(), "packed": PackedPairs()}
        return pairs.get(self.name) or Vectors(self.n_channels)

    def take(self, rows):
        """The problem of some rows, or of copies of them."""
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        other.codes, other.data = self.codes[rows], self.data[rows]
        other.labels = None if self.labels is None else self.labels[rows]
        return other

    def shard(self, rows):
        """Group some rows by class, by hand."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.labels is None:
            starts = np.array([0, len(rows)])
        else:
            rows = rows[np.argsort(self.labels[rows], kind="stable")]
            sizes = np.bincount(self.labels[rows], minlength=self.n_channels)
            starts = np.concatenate([[0], np.cumsum(sizes)])
        return Shard(self.codes[rows], rows, starts.astype(np.int64))

    def shards(self, parts=None, *, kind=Shards):
        cut = kind([self.shard(part) for part in (parts or [np.arange(len(self.codes))])])
        for shard in cut.shards:
            values = np.ascontiguousarray(self.data[shard.rows])
            shard.state = SimpleNamespace(part=None, **{self.name: values})
        return cut

    def grow(self, rules, *, parts=None, keep=None, draw=None, **options):
        """Return the tree and the leaf of every row; the same at once and a node at a time."""
        tree, leaves = self.grow_on(Shards, rules, parts, keep, draw, **options)
        asked, same = self.grow_on(Asked, rules, parts, keep, draw, **options)
        assert_same_tree(tree, asked)
        np.testing.assert_array_equal(tree.cover, asked.cover)
        np.testing.assert_array_equal(tree.leaf_bounds, asked.leaf_bounds)
        np.testing.assert_array_equal(leaves, same)
        return tree, leaves

    def grow_on(self, kind, rules, parts, keep, draw, **options):
        finder = SplitFinder(
            self.n_bins,
            self.is_categorical,
            self.n_channels,
            criterion=self.criterion,
            l2=rules.l2,
            min_weight=rules.min_weight,
            min_count=rules.min_samples_leaf,
            **options,
        )
        limits = Limits(rules.max_depth, rules.max_leaf_nodes, rules.min_samples_leaf)
        with self.shards(parts, kind=kind) as cut:
            tree = Grower(cut, self.mode, finder, limits, draw).grow(keep)
            return tree, cut.fetch(lambda shard: shard.leaves)


def assert_equals_twin(tree, twin):
    splits = [node.split if node.left >= 0 else None for node in twin.nodes]
    assert tree.left.tolist() == [node.left for node in twin.nodes]
    assert tree.feature.tolist() == [s.feature if s else -1 for s in splits]
    assert tree.threshold.tolist() == [s.threshold if s else -1 for s in splits]
    assert tree.missing_left.tolist() == [bool(s and s.goes_left[naive.MISSING]) for s in splits]
    assert tree.gain.tolist() == [s.gain if s else 0.0 for s in splits]
    assert tree.sums.tolist() == [node.sums for node in twin.nodes]
    assert tree.leaves.tolist() == twin.leaves
    assert tree.leaf_sums.tolist() == [twin.nodes[leaf].sums for leaf in twin.leaves]
    assert tree.depth == max(node.depth for node in twin.nodes)
    subsets = {i: s.goes_left for i, s in enumerate(splits) if s and s.threshold < 0}
    assert {i: goes.tolist() for i, goes in tree.subsets.items()} == subsets


def assert_same_tree(a, b):
    for name in ("feature", "threshold", "missing_left", "left", "gain", "sums", "leaves"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)
    assert a.depth == b.depth
    assert list(a.subsets) == list(b.subsets)
    for node, goes_left in a.subsets.items():
        np.testing.assert_array_equal(goes_left, b.subsets[node])


def assert_leaves_are_walked(problem, tree, leaves):
    assert leaves.tolist() == [
        tree.leaves.tolist().index(naive.walk(tree, row)) for row in problem.codes
    ]


@st.composite
def rule_sets(draw, criterion, scale):
    return naive.Rules(
        criterion,
        l2=draw(st.sampled_from([0.0, 2.5])) if criterion in ("newton", "squares") else 0.0,
        min_weight=draw(st.sampled_from([0.0, 0.0, 3.0])) * scale,
        min_samples_leaf=draw(st.sampled_from([1, 1, 2, 3])),
        max_depth=draw(st.sampled_from([None, 0, 1, 2, 3])),
        max_leaf_nodes=draw(st.sampled_from([None, 1, 2, 3, 4, 8])),
    )


seeds = st.integers(0, 2**32)
