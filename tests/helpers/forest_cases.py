"""Shared by the tests of fitted forests: random trees on a mixed table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from costboost.binning.binner import fit_binner
from costboost.trees.forest import ForestBuilder
from costboost.trees.tree import Tree, add_up_leaves
from naive import trees as naive

seeds = st.integers(0, 2**32)
KINDS = ("ash", "beech", "elm", "oak", "yew")


def mixed_frame(rng, n, *, unseen=False):
    """Two numeric columns, one of them with gaps, a category with gaps and a constant."""
    kinds = rng.choice([*KINDS, None, *(["zelkova"] if unseen else [])], size=n)
    numbers = rng.integers(-4, 5, size=(n, 2)) / 2
    numbers[rng.random(n) < 0.2, 1] = np.nan
    # Values on the edges themselves: halfway between neighbours.
    numbers[rng.random((n, 2)) < 0.3] += 0.25 if unseen else 0.0
    return pd.DataFrame(
        {"a": numbers[:, 0], "b": numbers[:, 1], "kind": pd.Categorical(kinds), "one": np.ones(n)}
    )


def random_tree(rng, binner, max_depth):
    """Grow a tree at random: any column, any threshold or subset, missing to any side."""
    feature, threshold, missing_left, left, subsets = [-1], [-1], [False], [-1], {}
    depths = [0]
    for node in range(2**max_depth - 1):
        if node >= len(left) or depths[node] >= max_depth or rng.random() < 0.25:
            continue
        j = int(rng.integers(binner.n_features))
        feature[node], left[node] = j, len(left)
        if binner.is_categorical[j]:
            goes_left = rng.integers(0, 2, size=256).astype(np.uint8)
            goes_left[0] = 1
            subsets[node], missing_left[node] = goes_left, bool(goes_left[naive.MISSING])
        else:
            threshold[node] = int(rng.integers(binner.n_bins[j]))
            missing_left[node] = bool(rng.integers(2))
        for part, value in (
            (feature, -1),
            (threshold, -1),
            (missing_left, False),
            (left, -1),
            (depths, depths[node] + 1),
        ):
            part += [value, value]
    left_array = np.array(left, dtype=np.int32)
    leaves = np.flatnonzero(left_array < 0).astype(np.int32)
    return Tree(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.int16),
        missing_left=np.array(missing_left),
        left=left_array,
        gain=np.zeros(len(left)),
        sums=np.zeros((len(left), 2), dtype=np.int64),
        subsets=subsets,
        leaves=leaves,
        depth=max(depths),
        cover=add_up_leaves(left_array, leaves, rng.integers(1, 9, size=len(leaves))),
    )


class Case:
    """A random forest, its trees and the rows it is asked about."""

    def __init__(self, seed, *, n_trees=5, max_depth=3, n_outputs=2, numeric=False, n=40):
        rng = np.random.default_rng(seed)
        train = mixed_frame(rng, 60)
        self.X = mixed_frame(rng, n, unseen=True)
        if numeric:
            train, self.X = (frame[["a", "b"]].to_numpy() for frame in (train, self.X))
        self.binner = fit_binner(train)
        self.trees = [random_tree(rng, self.binner, max_depth) for _ in range(n_trees)]
        self.values = [rng.normal(size=(len(tree.leaves), n_outputs)) for tree in self.trees]
        self.base = rng.normal(size=n_outputs)
        self.n_outputs = n_outputs
        self.codes = self.binner.encode(self.X)

    def builder(self):
        builder = ForestBuilder(self.n_outputs)
        for tree, values in zip(self.trees, self.values, strict=True):
            builder.add(tree, values)
        return builder

    @property
    def forest(self):
        return self.builder().build(self.binner, self.base)

    @property
    def stages(self):
        return naive.staged_margins(self.trees, self.values, self.codes, self.base)
