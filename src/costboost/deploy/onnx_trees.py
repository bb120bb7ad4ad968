"""Forests as `TreeEnsemble` nodes of ONNX: a table of doubles -> margins, (n, n_outputs)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.deploy.onnx_graph import Graph
from costboost.trees.forest import Forest, NodeTable, unpack_subset

__all__ = ["write_forest"]

_AT_MOST, _MEMBER, _SUM = 0, 6, 1  # modes of nodes, and how trees are put together


class _Nodes:
    """The lists that a TreeEnsemble is made of; a leaf has one entry for each of its outputs."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.columns: list[int] = []
        self.modes: list[int] = []
        self.cuts: list[float] = []
        self.yes: list[int] = []
        self.no: list[int] = []
        self.yes_ends: list[int] = []
        self.no_ends: list[int] = []
        self.missing: list[int] = []
        self.members: list[float] = []
        self.targets: list[int] = []
        self.weights: list[float] = []

    def add_tree(self, tree: NodeTable, sets: list[NDArray[np.bool_]], output: int) -> None:
        """Add what a tree says of one output."""
        self.roots.append(len(self.columns))
        splits = np.flatnonzero(tree.left >= 0).tolist()
        if not splits:  # a lone leaf: a question whose answers are alike
            self._add(0, _AT_MOST, 0.0, True)
            self._answer(self._leaf(tree, 0, output), self._leaf(tree, 0, output), True, True)
            return
        place = {at: len(self.columns) + i for i, at in enumerate(splits)}
        for at in splits:
            left, right = int(tree.left[at]), int(tree.right[at])
            if tree.subset[at] is None:
                cut, missing = float(tree.threshold[at]), bool(tree.missing_left[at])
                self._add(int(tree.feature[at]), _AT_MOST, cut, missing)
            elif self._add_set(int(tree.feature[at]), sets[at]):
                left, right = right, left
            ends = [child not in place for child in (left, right)]
            where = [
                self._leaf(tree, child, output) if end else place[child]
                for child, end in zip((left, right), ends, strict=True)
            ]
            self._answer(where[0], where[1], ends[0], ends[1])

    def _add(self, column: int, mode: int, cut: float, missing: bool) -> None:
        self.columns.append(column)
        self.modes.append(mode)
        self.cuts.append(min(cut, np.finfo(np.float64).max) if np.isfinite(cut) else cut)
        self.missing.append(int(missing))

    def _add_set(self, column: int, goes_left: NDArray[np.bool_]) -> bool:
        """Add a question about categories; return whether it is asked the other way round.

        What is not listed answers no, and so do missing values, the number -1: if they go left,
        the question is for the categories that go right.
        """
        turned = bool(goes_left[MISSING])
        listed = np.flatnonzero(goes_left[:MISSING] != turned)
        self._add(column, _MEMBER, 0.0, False)
        self.members += [*(listed.tolist() or [MISSING]), np.nan]
        return turned

    def _answer(self, yes: int, no: int, yes_ends: bool, no_ends: bool) -> None:
        self.yes.append(yes)
        self.no.append(no)
        self.yes_ends.append(int(yes_ends))
        self.no_ends.append(int(no_ends))

    def _leaf(self, tree: NodeTable, at: int, output: int) -> int:
        self.targets.append(output)
        self.weights.append(float(tree.value[at, output]))
        return len(self.targets) - 1


def write_forest(graph: Graph, forest: Forest, table: str) -> str:
    """Return the margins of the rows of a table."""
    base = graph.doubles(forest.base[None, :])
    if not len(forest):
        rows = graph.add("Gather", graph.add("Shape", table), graph.ints([0]), axis=0)
        shape = graph.add("Concat", rows, graph.ints([forest.n_outputs]), axis=0)
        return graph.add("Expand", base, shape)
    nodes = _Nodes()
    for t, root in enumerate(forest.roots.tolist()):
        tree = forest.tree(t)
        here = forest.subsets[root : root + len(tree.left)]
        sets = [unpack_subset(bits) for bits in here]
        for k in range(forest.n_outputs):
            if tree.value[:, k].any():
                nodes.add_tree(tree, sets, k)
    if not nodes.roots:
        nodes.add_tree(forest.tree(0), [], 0)
    more = {"membership_values": graph.tensor(np.array(nodes.members))} if nodes.members else {}
    sums = graph.add(
        "TreeEnsemble",
        table,
        domain="ai.onnx.ml",
        n_targets=forest.n_outputs,
        aggregate_function=_SUM,
        post_transform=0,
        tree_roots=nodes.roots,
        nodes_featureids=nodes.columns,
        nodes_modes=graph.tensor(np.array(nodes.modes, dtype=np.uint8)),
        nodes_splits=graph.tensor(np.array(nodes.cuts)),
        nodes_truenodeids=nodes.yes,
        nodes_trueleafs=nodes.yes_ends,
        nodes_falsenodeids=nodes.no,
        nodes_falseleafs=nodes.no_ends,
        nodes_missing_value_tracks_true=nodes.missing,
        leaf_targetids=nodes.targets,
        leaf_weights=graph.tensor(np.array(nodes.weights)),
        **more,
    )
    return graph.add("Add", sums, base)
