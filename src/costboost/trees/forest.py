"""A fitted forest: a handful of flat arrays and the functions that read them.

A node is one word (see `_forest_kernels`), a leaf has one value per output. Rows are binned once,
then pass through all trees as bytes (see `walking`). Boosted stumps are additive: a forest of them
is one table per column, and its prediction takes the same time for ten rounds as for a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner, restore_fields
from costboost.binning.codes import MISSING
from costboost.runtime.messages import message
from costboost.shards.rows import Shard
from costboost.trees.tree import Tree
from costboost.trees.walking import (
    Nodes,
    Tables,
    add_margins,
    add_tables,
    check_forest,
    find_leaves,
    make_tables,
)
from costboost.typing import Codes, Floats, Int64, Words


class NodeTable(NamedTuple):
    """One tree in readable form; arrays over its nodes, -1 or NaN where nothing applies."""

    feature: Int64
    threshold: Floats
    missing_left: NDArray[np.bool_]
    left: Int64
    right: Int64
    subset: list[tuple[Any, ...] | None]
    value: Floats
    gain: Floats
    cover: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees that vote by adding their leaf values to a margin.

    Attributes
    ----------
    binner : Binner
    words : uint64 array of shape (n_nodes,)
    subsets : uint64 array of shape (n_nodes, 4), or (0, 4) without categorical splits
    roots, depths : int64 arrays of shape (n_trees,)
    values : float64 array of shape (n_nodes, n_outputs)
        What a leaf adds to the margins; 0 elsewhere.
    base : float64 array of shape (n_outputs,)
        The margins before the first tree.
    gains : float64 array of shape (n_nodes,)
        What each split gained, in the units of its learner; 0 at leaves.
    covers : float64 array of shape (n_nodes,)
        The training rows that reached each node, by their sample weights.

    Gains and covers explain; prediction reads neither.

    Notes
    -----
    A forest checks its arrays whenever it is made or restored (`walking.check_forest`): kernels
    follow them without looking.

    Examples
    --------
    A stump on one column, its answer -1 up to 2.5, and 1 above it and for missing values:

    >>> from costboost.binning.binner import fit_binner
    >>> stump = Tree(
    ...     feature=np.array([0, -1, -1]),
    ...     threshold=np.array([1, -1, -1]),
    ...     missing_left=np.array([False, False, False]),
    ...     left=np.array([1, -1, -1]),
    ...     gain=np.zeros(3),
    ...     sums=np.zeros((3, 2), dtype=np.int64),
    ...     subsets={},
    ...     leaves=np.array([1, 2]),
    ...     depth=1,
    ...     cover=np.array([3.0, 2.0, 1.0]),
    ... )
    >>> builder = ForestBuilder(n_outputs=1)
    >>> builder.add(stump, np.array([[-1.0], [1.0]]))
    >>> forest = builder.build(fit_binner([[1.0], [2.0], [3.0]]))
    >>> forest.margins([[0.0], [2.5], [2.6], [np.nan]]).ravel().tolist()
    [-1.0, -1.0, 1.0, 1.0]
    >>> float(forest.tree(0).threshold[0])
    2.5
    """

    binner: Binner
    words: Words
    subsets: Words
    roots: Int64
    depths: Int64
    values: Floats
    base: Floats
    gains: Floats
    covers: Floats

    def __post_init__(self) -> None:
        for name, array in check_forest(**self.__getstate__()).items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: Any) -> None:
        # As the constructor does: whoever restores a forest, its arrays are checked and frozen.
        restore_fields(self, state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.roots)

    def __repr__(self) -> str:
        return f"Forest(n_trees={len(self)}, n_outputs={self.n_outputs}, {self.binner!r})"

    @property
    def n_outputs(self) -> int:
        """The number of margins per row."""
        return int(self.values.shape[1])

    def first(self, n_trees: int) -> Forest:
        """Return the forest of the first `n_trees` trees."""
        stop = self.roots[n_trees] if n_trees < len(self) else len(self.words)
        nodes = ("words", "subsets", "values", "gains", "covers")
        kept = {name: getattr(self, name)[:stop] for name in nodes}
        return replace(self, roots=self.roots[:n_trees], depths=self.depths[:n_trees], **kept)

    @property
    def used_features(self) -> Int64:
        """The columns that any tree splits on, ascending; only these are binned."""
        return self.nodes.columns.features

    @cached_property
    def nodes(self) -> Nodes:
        """The node arrays as the functions of `walking` take them."""
        return nodes_of([self])

    def encode(self, X: Any, n_threads: int = 1) -> Codes:
        """Bin the columns that the trees split on; return codes, (n_samples, n_features)."""
        return self.binner.encode(X, columns=self.used_features, n_threads=n_threads)

    def margins(self, X: Any, n_threads: int = 1) -> Floats:
        """Return the margins of raw rows, (n_samples, n_outputs)."""
        return self.margins_of_codes(self.encode(X, n_threads), n_threads)

    def margins_of_codes(self, codes: Codes, n_threads: int = 1) -> Floats:
        """Return the margins of binned rows, (n_samples, n_outputs)."""
        self._check_codes(codes)
        margins = np.repeat(self.base[None, :], len(codes), axis=0)
        # Stumps are summed by column ahead of time: one look-up a column, however many trees.
        if self.tables is None:
            self.add_trees(codes, margins, 0, len(self), n_threads)
        else:
            add_tables(self.tables, codes, margins, n_threads)
        return margins

    def _check_codes(self, codes: Codes) -> None:
        if codes.ndim != 2 or codes.shape[1] != self.binner.n_features:
            raise ValueError(
                f"codes have shape {codes.shape}; the trees look at {self.binner.n_features} "
                "columns."
            )

    def staged_margins(
        self, X: Any, n_threads: int = 1, codes: Codes | None = None
    ) -> Iterator[Floats]:
        """Yield the margins after each tree, a new array every time; X is binned without codes."""
        codes = self.encode(X, n_threads) if codes is None else codes
        margins = np.repeat(self.base[None, :], len(codes), axis=0)
        for t in range(len(self)):
            self.add_trees(codes, margins, t, t + 1, n_threads)
            yield margins.copy()

    def add_trees(
        self, codes: Codes, margins: Floats, first: int, last: int, n_threads: int = 1
    ) -> None:
        """Add the trees first <= t < last to margins of binned rows, in place."""
        if margins.shape != (len(codes), self.n_outputs):
            raise ValueError(
                f"margins have shape {margins.shape}; {len(codes)} rows and {self.n_outputs} "
                f"outputs need {(len(codes), self.n_outputs)}."
            )
        if not 0 <= first <= last <= len(self):
            raise ValueError(f"There are {len(self)} trees; {first} to {last} are not among them.")
        self._check_codes(codes)
        add_margins(self.nodes, first, last, codes, margins[None], n_threads)

    def apply(self, X: Any, n_threads: int = 1) -> Int64:
        """Return the node that each row reaches in each tree, (n_samples, n_trees)."""
        codes = self.encode(X, n_threads)
        leaves = np.empty((len(codes), len(self)), dtype=np.int64)
        find_leaves(self.nodes, 0, len(self), codes, leaves, n_threads)
        return leaves

    @cached_property
    def tables(self) -> Tables | None:
        """The forest as one table per column, if no tree is deeper than a stump."""
        return make_tables(self.nodes)

    def tree(self, t: int) -> NodeTable:
        """Return tree `t` in readable form, thresholds and categories as raw values."""
        start = int(self.roots[t])
        stop = int(self.roots[t + 1]) if t + 1 < len(self) else len(self.words)
        words = self.words[start:stop]
        left = (words >> np.uint64(40)).astype(np.int64)
        is_leaf = left == np.arange(stop - start)
        is_subset = (words >> np.uint64(9)) & np.uint64(1) == 1
        feature = ((words >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.int64)
        shift = ((words >> np.uint64(8)) & np.uint64(1)).astype(np.int64)
        # Codes are rotated by one where missing values go left, so that one comparison serves both.
        limit = (words & np.uint64(255)).astype(np.int64) - shift
        threshold = np.full(stop - start, np.nan)
        for i in np.flatnonzero(~is_leaf & ~is_subset):
            edges = self.binner.edges[feature[i]]
            threshold[i] = edges[limit[i]] if limit[i] < len(edges) else np.inf
        subset: list[tuple[Any, ...] | None] = [None] * (stop - start)
        missing_left = shift == 1
        for i in np.flatnonzero(is_subset):
            goes_left = unpack_subset(self.subsets[start + i])
            subset[i] = self.binner.levels_going(int(feature[i]), goes_left)
            missing_left[i] = goes_left[MISSING]
        return NodeTable(
            feature=np.where(is_leaf, -1, feature),
            threshold=threshold,
            missing_left=missing_left & ~is_leaf,
            left=np.where(is_leaf, -1, left),
            right=np.where(is_leaf, -1, left + 1),
            subset=subset,
            value=self.values[start:stop],
            gain=self.gains[start:stop],
            cover=self.covers[start:stop],
        )


def used_columns(forests: Sequence[Forest | None]) -> tuple[Binner, Int64] | None:
    """Return the binner of several forests, and the columns that any of them splits on, ascending.

    Parameters
    ----------
    forests : sequence of Forest, or of None where models are no forests
        They must have one binner, as the models of one fit do: codes mean something only under
        their own.

    Returns
    -------
    pair of Binner and int64 array, or None without forests
    """
    grown = [forest for forest in forests if forest is not None]
    if not grown:
        return None
    binner = grown[0].binner
    if any(forest.binner is not binner and forest.binner != binner for forest in grown):
        raise ValueError("These forests have different binners: encode X for each of them.")
    used = np.concatenate([forest.used_features for forest in grown])
    return binner, np.flatnonzero(np.bincount(used, minlength=binner.n_features))


def nodes_of(forests: Sequence[Forest]) -> Nodes:
    """Return the nodes of forests one after the other; each is a member."""
    if len(forests) == 1:  # which need not be copied
        (one,) = forests
        members = np.zeros(len(one), dtype=np.int64)
        return Nodes(one.words, one.subsets, one.roots, one.depths, one.values, members)
    ends = np.cumsum([0, *(len(forest.words) for forest in forests)])
    subsets = [_all_subsets(forest) for forest in forests]
    return Nodes(
        words=np.concatenate([forest.words for forest in forests]),
        subsets=np.concatenate(subsets) if any(len(f.subsets) for f in forests) else subsets[0][:0],
        roots=np.concatenate([f.roots + end for f, end in zip(forests, ends[:-1], strict=True)]),
        depths=np.concatenate([forest.depths for forest in forests]),
        values=np.concatenate([forest.values for forest in forests]),
        members=np.repeat(np.arange(len(forests)), [len(forest) for forest in forests]),
    )


def join_forests(forests: Sequence[Forest], factors: Sequence[float], base: Floats) -> Forest:
    """Join forests to one; the leaf values of each are multiplied by its factor.

    The forests must have one binner; `base` takes the place of theirs.
    """
    nodes, pairs = nodes_of(forests), list(zip(forests, factors, strict=True))
    return Forest(
        binner=forests[0].binner,
        words=nodes.words,
        subsets=nodes.subsets,
        roots=nodes.roots,
        depths=nodes.depths,
        values=np.concatenate([forest.values * factor for forest, factor in pairs]),
        base=np.array(base, dtype=float),
        gains=np.concatenate([forest.gains for forest in forests]),
        covers=np.concatenate([forest.covers for forest in forests]),
    )


def _all_subsets(forest: Forest) -> Words:
    """Return the subset words of a forest, an empty array where no node has a subset."""
    return forest.subsets if len(forest.subsets) else np.zeros((len(forest.words), 4), np.uint64)


class JointForest:
    """Forests of one binner, as members of a model: rows go down all their trees together."""

    def __init__(self, forests: Sequence[Forest]) -> None:
        self._first, self._nodes = forests[0], nodes_of(forests)
        self._bases = np.array([forest.base for forest in forests])[:, None, :]

    def margins_of_codes(self, codes: Codes, n_threads: int = 1) -> Floats:
        """Return the margins of binned rows by each forest, (n_forests, n_samples, n_outputs)."""
        self._first._check_codes(codes)
        margins = np.repeat(self._bases, len(codes), axis=1)
        add_margins(self._nodes, 0, len(self._nodes.roots), codes, margins, n_threads)
        return margins


def join_members(forests: Sequence[Forest | None]) -> JointForest | None:
    """Return forests to be predicted together; None where that is not possible, or no faster."""
    grown = [forest for forest in forests if forest is not None]
    if len(grown) < max(2, len(forests)) or any(f.tables is not None for f in grown):
        return None
    alike = all(
        f.n_outputs == grown[0].n_outputs
        and (f.binner is grown[0].binner or f.binner == grown[0].binner)
        for f in grown
    )
    return JointForest(grown) if alike else None


class ForestBuilder:
    """Accumulates trees, round after round, for a forest."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self._trees: list[Tree] = []
        self._values: list[Floats] = []

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, tree: Tree, leaf_values: Floats) -> None:
        """Add a tree whose leaf l adds leaf_values[l], (n_leaves, n_outputs), to the margins."""
        self._trees.append(tree)
        self._values.append(leaf_values)

    def build(self, binner: Binner, base: Floats | None = None) -> Forest:
        """Return the forest of the trees added so far."""
        trees, nothing = self._trees, np.zeros(0)
        packed = pack_trees(trees)
        values = np.zeros((len(packed.words), self.n_outputs))
        if trees:
            values[packed.leaves] = np.concatenate(self._values)
        subsets = packed.subsets
        return Forest(
            binner=binner,
            words=packed.words,
            # Forests without categorical splits carry no subsets: kernels then skip the test.
            subsets=subsets if subsets.any() else subsets[:0],
            roots=packed.roots,
            depths=np.array([tree.depth for tree in trees], dtype=np.int64),
            values=values,
            base=np.zeros(self.n_outputs) if base is None else np.array(base, dtype=float),
            gains=_finite(np.concatenate([nothing, *(tree.gain for tree in trees)])),
            covers=_finite(np.concatenate([nothing, *(tree.cover for tree in trees)])),
        )


class PackedTrees(NamedTuple):
    """The nodes of trees as words, one tree after the other.

    `leaves` are the numbers of the leaves among all nodes, `roots` where trees begin.
    """

    words: Words
    subsets: Words
    leaves: Int64
    roots: Int64


def pack_trees(trees: Sequence[Tree]) -> PackedTrees:
    """Pack the nodes of all trees into words; the layout is in `_forest_kernels`."""
    sizes = np.array([len(tree.left) for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    n_nodes = int(sizes.sum())
    subsets = np.zeros((n_nodes, 4), dtype=np.uint64)
    for root, tree in zip(roots.tolist(), trees, strict=True):
        for node, goes_left in tree.subsets.items():
            subsets[root + node] = _pack_subset(goes_left)
    if not trees:
        return PackedTrees(np.zeros(0, dtype=np.uint64), subsets, roots, roots)
    left = np.concatenate([tree.left for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    feature = np.concatenate([tree.feature for tree in trees])
    missing_left = np.concatenate([tree.missing_left for tree in trees])
    is_leaf = left < 0
    is_subset = ~is_leaf & (threshold < 0)
    shift = (missing_left & ~is_subset).astype(np.uint64)
    limit = np.where(is_leaf, 255, np.where(is_subset, 0, threshold)).astype(np.uint64)
    # A leaf points to itself: walks take `depth` steps without asking whether they have arrived.
    own = np.arange(n_nodes) - np.repeat(roots, sizes)
    left = np.where(is_leaf, own, left).astype(np.uint64)
    feature = np.where(is_leaf, 0, feature).astype(np.uint64)
    words = (
        (limit + shift) | (shift << np.uint64(8)) | (is_subset.astype(np.uint64) << np.uint64(9))
    )
    words = words | (feature << np.uint64(16)) | (left << np.uint64(40))
    return PackedTrees(words, subsets, np.flatnonzero(is_leaf), roots)


def _finite(values: Floats) -> Floats:
    """Replace infinities (squares of prices beyond 1e150) by the largest float."""
    return np.minimum(values, np.finfo(np.float64).max)


@message(reduce=None, changes=True)
def recall_leaves(shard: Shard, *, tree: Tree) -> None:
    """Assign every row to its leaf in a tree that was grown earlier."""
    for codes, rows in shard.stretches():
        write_leaves(tree, codes, shard.leaves[rows])


def write_leaves(tree: Tree, codes: Codes, leaves: NDArray[np.uint16]) -> None:
    """Write the number of the leaf that each binned row reaches in a tree."""
    packed, depth = pack_trees([tree]), np.array([tree.depth])
    nodes = np.empty((len(codes), 1), dtype=np.int64)
    values = np.zeros((len(packed.words), 1))
    members = np.zeros(1, dtype=np.int64)
    trees = Nodes(packed.words, packed.subsets, packed.roots, depth, values, members)
    # Through the kernels of prediction, so that training and prediction agree on every code.
    find_leaves(trees, 0, 1, codes, nodes, n_threads=1)
    numbers = np.zeros(len(tree.left), dtype=np.uint16)
    numbers[tree.leaves] = np.arange(len(tree.leaves))
    leaves[:] = numbers[nodes[:, 0]]


def _pack_subset(goes_left: NDArray[np.uint8]) -> Words:
    bits = np.packbits(goes_left.astype(bool), bitorder="little")
    return bits.view("<u8").astype(np.uint64)


def unpack_subset(bits: Words) -> NDArray[np.bool_]:
    """Unpack the bits of a subset: 1 for each code that goes left, (256,)."""
    return np.unpackbits(bits.astype("<u8").view(np.uint8), bitorder="little").astype(bool)
