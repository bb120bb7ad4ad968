"""Shapley values of a forest's margins: who computes them how.

    values (n, d, K), base (K,)        base + values.sum(axis=1) = margins, up to rounding

The game: a set of columns is known, the others are not. What an unknown column would have said is
either averaged over the training rows along each path ("path-dependent": no data needed), or over
the rows of a background, which takes the values of the unknown columns as they come together
("interventional"). See `_shap_kernels` for the formulas.

A forest of stumps is a sum of functions of one column: its values are read from one table per
column, less the mean.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.explain import _shap_kernels as kernels
from costboost.inputs.arrays import freeze
from costboost.runtime.machine import warn_if_interpreted
from costboost.trees.forest import Forest
from costboost.trees.walking import in_parts
from costboost.typing import Codes, Floats, Int64

_BLOCK = 1024  # rows at most that pass through all trees together
_LEAST = 32
_CELLS = 1 << 19  # of a block's values: 4 MB
_SMALL = 6  # as in the kernels


class Explainer:
    """Computes Shapley values of one forest; keeps what depends on the trees alone."""

    def __init__(self, forest: Forest) -> None:
        warn_if_interpreted()
        self.forest = forest

    @classmethod
    def of(cls, forest: Forest) -> Explainer:
        """Return the explainer of a forest: made once, and kept beside its arrays (frozen ones).

        A file or a pickle of the forest does not hold it.
        """
        if "_explainer" not in vars(forest):
            vars(forest)["_explainer"] = cls(forest)
        found: Explainer = vars(forest)["_explainer"]
        return found

    @cached_property
    def ends(self) -> Int64:
        """Where each tree begins, and the end of the last."""
        return np.append(self.forest.roots, len(self.forest.words))

    @cached_property
    def _splits(self) -> tuple[Int64, Int64]:
        """The nodes that are split, and the left child of each."""
        starts = np.repeat(self.ends[:-1], np.diff(self.ends))
        left = (self.forest.words >> np.uint64(40)).astype(np.int64) + starts
        nodes = np.flatnonzero(left != np.arange(len(left)))
        return nodes, left[nodes]

    @cached_property
    def shares(self) -> Floats:
        """The share of its parent's training rows that goes to each node; 1 at roots."""
        covers, (_, left) = self.forest.covers, self._splits
        both = covers[left] + covers[left + 1]
        share = np.divide(covers[left], both, out=np.full(len(left), 0.5), where=both > 0)
        shares = np.ones(len(covers))
        shares[left], shares[left + 1] = share, 1.0 - share
        return shares

    @cached_property
    def expected(self) -> Floats:
        """The mean value of every tree, path by path, (n_trees, K)."""
        nodes, left = self._splits
        reached = self.shares.copy()  # by the share of its tree's rows
        for _ in range(int(self.forest.depths.max(initial=0))):  # a level more each time
            reached[left] = reached[nodes] * self.shares[left]
            reached[left + 1] = reached[nodes] * self.shares[left + 1]
        return np.add.reduceat(reached[:, None] * self.forest.values, self.forest.roots, axis=0)

    @cached_property
    def _base(self) -> Floats:
        return np.asarray(self.forest.base + self.expected.sum(axis=0))

    def path_dependent(self, codes: Codes, n_threads: int = 1) -> tuple[Floats, Floats]:
        """Return values and base of binned rows, averaging along the paths of each tree."""
        base = self._base
        if self._tables is not None:
            return self._of_stumps(codes, self._stump_means()), base
        return self._by_kernel(codes, None, n_threads), base

    def interventional(
        self, codes: Codes, background: Codes, n_threads: int = 1
    ) -> tuple[Floats, Floats]:
        """Return values and base of binned rows, averaging over the rows of a background."""
        base = self.forest.margins_of_codes(background, n_threads).mean(axis=0)
        if self._tables is not None:
            features, tables, _ = self._tables
            means = [tables[f][background[:, j]].mean(axis=0) for f, j in enumerate(features)]
            return self._of_stumps(
                codes, np.reshape(means, (len(features), self.forest.n_outputs))
            ), base
        return self._by_kernel(codes, background, n_threads), base

    # --- stumps

    @property
    def _tables(self) -> Any:
        return self.forest.tables

    def _stump_means(self) -> Floats:
        """Return the mean of what the stumps of each column say, (F, K)."""
        columns, words = self.forest.nodes.columns, self.forest.words[self.forest.roots]
        means = np.zeros((len(columns.features), self.forest.n_outputs))
        splits = np.flatnonzero(self.forest.depths)
        feature = (words[splits] >> np.uint64(16)) & np.uint64(0xFFFFFF)
        np.add.at(means, columns.places[feature.astype(np.int64)], self.expected[splits])
        return means

    def _of_stumps(self, codes: Codes, means: Floats) -> Floats:
        features, tables, _ = self._tables
        values = np.zeros((len(codes), self.forest.binner.n_features, self.forest.n_outputs))
        for f, j in enumerate(features.tolist()):
            values[:, j] = tables[f][codes[:, j]] - means[f]
        return values

    # --- deeper trees

    @cached_property
    def _spans(self) -> Int64:
        """Which outputs the leaves of each tree have values for: first, and last + 1."""
        n_outputs = self.forest.n_outputs
        used = np.zeros((len(self.forest), n_outputs), dtype=bool)
        tree = np.repeat(np.arange(len(self.forest)), np.diff(self.ends))
        for k in range(n_outputs):
            used[tree[self.forest.values[:, k] != 0], k] = True
        some = used.any(axis=1)
        first = np.where(some, used.argmax(axis=1), 0)
        last = np.where(some, n_outputs - used[:, ::-1].argmax(axis=1), 0)
        return np.column_stack([first, last]).astype(np.int64)

    def _by_kernel(self, codes: Codes, background: Codes | None, n_threads: int) -> Floats:
        forest = self.forest
        features, places, n_nodes = forest.nodes.columns
        values = np.zeros((len(codes), forest.binner.n_features, forest.n_outputs))
        if not len(features):
            return values
        depth = int(forest.depths.max())
        width = min(depth, len(features))
        trees = (forest.words, forest.subsets, self.ends, forest.values, self.shares, self._spans)
        rules = gauss_points(width) if background is None else beta_table(width)
        common = (*trees, features, places, rules)
        block = _block(len(features) * forest.n_outputs, len(codes))
        theirs: tuple[Any, ...] = ()
        if background is not None:
            room = _room(len(background), len(features), n_nodes, depth, width)
            theirs = (background, room[0], room[1], room[5], room[6], np.empty(1 << _SMALL))
        kernel: Any = kernels.path_dependent if background is None else kernels.interventional

        def add(start: int, stop: int) -> None:
            room = _room(block, len(features), n_nodes, depth, width)
            phi = np.empty((len(features), forest.n_outputs, block))
            own = tuple(np.copy(part) for part in theirs)
            for first in range(start, stop, block):
                rows = slice(first, min(first + block, stop))
                phi[:] = 0.0
                kernel(codes[rows], *common, *room, phi, *own)
                values[rows, features] = phi.transpose(2, 0, 1)[: rows.stop - rows.start]

        in_parts(add, len(codes), n_threads, least=64)
        return values


def _block(n_cells: int, n_rows: int) -> int:
    """Return how many rows to take together, where each has so many values."""
    return max(1, min(n_rows, _BLOCK, max(_LEAST, _CELLS // n_cells)))


def _room(
    block: int, n_features: int, n_nodes: int, depth: int, width: int
) -> tuple[NDArray[Any], ...]:
    """Make the kernels' scratch; every thread needs its own."""
    return (
        np.empty((n_features, block), dtype=np.uint8),
        np.empty((n_nodes, block), dtype=np.uint8),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty((depth + 1, 3), dtype=np.int64),
        np.empty(width, dtype=np.int64),
        np.empty((width, block), dtype=np.uint8),
        np.empty(block, dtype=np.uint8),
        np.empty((4, width)),
        np.empty((_SMALL, 1 << _SMALL)),
    )


@cache
def gauss_points(width: int) -> Floats:
    """Return Gauss-Legendre points and weights on [0, 1] of all orders that paths need, (n, n, 2).

    Examples
    --------
    >>> gauss_points(3)[1, 0].tolist()  # the midpoint, weight 1
    [0.5, 1.0]
    """
    n = (width + 1) // 2 + 1
    points = np.zeros((n, n, 2))
    for q in range(1, n):
        x, w = np.polynomial.legendre.leggauss(q)
        points[q, :q] = np.column_stack([0.5 * (x + 1.0), 0.5 * w])
    return freeze(points)


@cache
def beta_table(width: int) -> Floats:
    """Return a! b! / (a + b + 1)! for a, b = 0 .. width.

    Examples
    --------
    >>> beta_table(1).tolist()
    [[1.0, 0.5], [0.5, 0.16666666666666666]]
    """
    table = np.empty((width + 1, width + 1))
    table[0] = 1.0 / np.arange(1, width + 2)
    for a in range(1, width + 1):
        table[a] = table[a - 1] * a / (a + np.arange(width + 1) + 1.0)
    return freeze(table)
