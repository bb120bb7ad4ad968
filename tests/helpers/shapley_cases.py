"""Shared by the tests of Shapley values: random trees on a mixed table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from costboost.binning.binner import fit_binner
from costboost.trees.forest import ForestBuilder
from costboost.trees.tree import Tree, add_up_leaves


def mixed_table(rng, n=40):
    """Numbers with holes, numbers without, and categories with holes and surprises."""
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "b": rng.integers(0, 6, size=n).astype(float),
            "kind": pd.Categorical(rng.choice(["u", "v", "w", None], n)),
            "c": rng.normal(size=n),
        }
    )


def random_tree(rng, binner, n_splits):
    """Split leaves at random; covers are random too."""
    nodes = [{"left": -1}]
    subsets = {}
    for _ in range(n_splits):
        at = int(rng.choice([i for i, node in enumerate(nodes) if node["left"] < 0]))
        j = int(rng.integers(binner.n_features))
        nodes[at] = {"left": len(nodes), "feature": j, "missing": bool(rng.integers(2))}
        if binner.is_categorical[j]:
            subsets[at] = rng.integers(0, 2, size=256).astype(np.uint8)
            nodes[at] |= {"missing": bool(subsets[at][255])}
        else:
            nodes[at] |= {"threshold": int(rng.integers(binner.n_bins[j]))}
        nodes += [{"left": -1}, {"left": -1}]
    left = np.array([node["left"] for node in nodes])
    leaves = np.flatnonzero(left < 0)
    depth = np.zeros(len(nodes), dtype=int)
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], left[node] + 1]] = depth[node] + 1
    return Tree(
        feature=np.array([node.get("feature", -1) for node in nodes]),
        threshold=np.array([node.get("threshold", -1) for node in nodes]),
        missing_left=np.array([node.get("missing", False) for node in nodes]),
        left=left,
        gain=np.zeros(len(nodes)),
        sums=np.zeros((len(nodes), 2), dtype=np.int64),
        subsets=subsets,
        leaves=leaves,
        depth=int(depth.max()),
        cover=add_up_leaves(left, leaves, rng.integers(1, 50, size=len(leaves))),
    )


def random_case(seed, n_splits=6, n_trees=3, n_outputs=1):
    rng = np.random.default_rng(seed)
    X = mixed_table(rng)
    binner = fit_binner(X)
    builder = ForestBuilder(n_outputs)
    for _ in range(n_trees):
        tree = random_tree(rng, binner, n_splits)
        builder.add(tree, rng.normal(size=(len(tree.leaves), n_outputs)))
    return SimpleNamespace(X=X, forest=builder.build(binner, rng.normal(size=n_outputs)), rng=rng)
