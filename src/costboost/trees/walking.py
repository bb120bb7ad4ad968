"""The node arrays of a forest: checked when it is made, then walked from codes to leaves.

    nodes of tree 0 | nodes of tree 1 | ...        words, subsets, values: one row per node
    ^roots[0]         ^roots[1]

A few rows walk down the trees, each down several at a time; many go down together, if every tree
is small enough to number its leaves in a byte (see `masks`). All reach the same leaves and add
their values in the order of the trees, so margins depend neither on the way nor on the threads.

Kernels follow children, columns and depths without bounds checks. Arrays that come from a file may
hold anything, so a forest checks its own whenever it is made: one pass over the nodes, a
millisecond for a thousand trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.trees import _forest_kernels as kernels
from costboost.trees.masks import MOST_NODES, MaskPlan, make_mask_plan
from costboost.typing import Codes, Floats, Int64, Words

_BLOCK = 512  # rows that pass through all trees together
_SMALL = 4096  # rows: below this, starting threads costs more than it saves
_TREES = 100  # with more of them, threads are worth it for fewer rows
_FEW = 4  # rows: below this, walking is faster
_WORTH = 1 << 13  # rows times trees: below this, a plan takes longer than it saves
_ABREAST = 16  # trees that a row walks down together


class UsedColumns(NamedTuple):
    """The columns that some trees split on, for the kernels that work column by column.

    Attributes
    ----------
    features : int64 array
        The columns that the trees look at, sorted.
    places : int64 array
        Where each column, up to the last of them, stands among the features.
    n_nodes : int
        The nodes of the largest tree.
    """

    features: Int64
    places: Int64
    n_nodes: int


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """The node arrays of a forest, or of the members of a model one after the other.

    `members` says to which forest a tree belongs; for the others see `forest.Forest`.
    """

    words: Words
    subsets: Words
    roots: Int64
    depths: Int64
    values: Floats
    members: Int64

    @cached_property
    def columns(self) -> UsedColumns:
        """The columns that any tree splits on."""
        sizes = np.diff(self.ends)
        # In a word a leaf is its own left child; see `_forest_kernels`.
        left = (self.words >> np.uint64(40)).astype(np.int64)
        is_split = left + np.repeat(self.roots, sizes) != np.arange(len(self.words))
        features = (self.words[is_split] >> np.uint64(16)) & np.uint64(0xFFFFFF)
        is_used = np.bincount(features.astype(np.int64)) > 0
        n_nodes = int(sizes.max(initial=0))
        return UsedColumns(np.flatnonzero(is_used), np.cumsum(is_used) - 1, n_nodes)

    @cached_property
    def plan(self) -> MaskPlan:
        """All trees, laid out for many rows."""
        return self._plan_of(0, len(self.roots))

    def plan_of(self, first: int, last: int) -> MaskPlan:
        """Return the trees first <= t < last, laid out for many rows."""
        return self.plan if (first, last) == (0, len(self.roots)) else self._plan_of(first, last)

    def _plan_of(self, first: int, last: int) -> MaskPlan:
        ends = self.ends[first : last + 1]
        part = slice(ends[0], ends[-1])
        subsets = self.subsets[part] if len(self.subsets) else self.subsets
        return make_mask_plan(
            self.words[part], subsets, ends - ends[0], self.values[part], self.members[first:last]
        )

    @cached_property
    def ends(self) -> Int64:
        """Where trees begin, and where the last one ends, (T + 1,)."""
        return np.append(self.roots, len(self.words))


class Tables(NamedTuple):
    """A forest of stumps as one look-up table per column, and the constant that every row gets.

    Attributes
    ----------
    columns : int64 array
    values : float64 array of shape (len(columns), 256, n_outputs)
    constant : float64 array of shape (n_outputs,)
    """

    columns: Int64
    values: Floats
    constant: Floats


def make_tables(nodes: Nodes) -> Tables | None:
    """Compile a forest of stumps; None if a tree is deeper or there is none."""
    if len(nodes.roots) == 0 or nodes.depths.max() > 1:
        return None
    features, places, _ = nodes.columns
    n_outputs = nodes.values.shape[1]
    tables = Tables(features, np.zeros((len(features), 256, n_outputs)), np.zeros(n_outputs))
    trees = (nodes.words, nodes.subsets, nodes.roots, nodes.depths, nodes.values)
    kernels.fill_tables(*trees, places, tables.values, tables.constant)
    return tables


def add_tables(tables: Tables, codes: Codes, margins: Floats, n_threads: int) -> None:
    """Add the margins of a forest of stumps to those of binned rows, in place."""
    margins += tables.constant

    def add(start: int, stop: int) -> None:
        kernels.add_tables(codes[start:stop], *tables[:2], margins[start:stop])

    in_parts(add, len(codes), n_threads)


def add_margins(
    nodes: Nodes, first: int, last: int, codes: Codes, margins: Floats, n_threads: int
) -> None:
    """Add the trees first <= t < last to the margins of binned rows, in place.

    `margins` have shape (n_members, n, n_outputs).
    """
    trees = (nodes.words, nodes.subsets, nodes.roots)
    # A few rows do not fill the words of masks; they wait for memory instead.
    if len(codes) < _FEW:
        how = (first, last, nodes.members, np.empty(_ABREAST, dtype=np.int64))
        kernels.add_margins_of_few(codes, *trees, *how, nodes.values, margins)
        return
    plan = _plan(nodes, first, last, len(codes))

    def add(start: int, stop: int) -> None:
        # Rows are independent, and the trees of a row are added in order: threads change no bit.
        rows, sums = codes[start:stop], margins[:, start:stop]
        if plan is not None:
            plan.add_margins(rows, sums)
            return
        for at in _blocks(len(rows)):
            how = (nodes.depths, first, last, nodes.members)
            kernels.add_margins(rows[at], *trees, *how, nodes.values, sums[:, at])

    least = min(_SMALL, max(_BLOCK, _SMALL * _TREES // max(1, last - first)))
    in_parts(add, len(codes), n_threads, least)


def find_leaves(
    nodes: Nodes, first: int, last: int, codes: Codes, leaves: Int64, n_threads: int
) -> None:
    """Write the node that each binned row reaches in the trees first <= t < last."""
    plan = _plan(nodes, first, last, len(codes))
    trees = (nodes.words, nodes.subsets, nodes.roots, nodes.depths, first, last)

    def find(start: int, stop: int) -> None:
        rows, found = codes[start:stop], leaves[start:stop]
        if plan is None:
            kernels.find_leaves(rows, *trees, found)
        else:
            plan.find_leaves(rows, found)

    in_parts(find, len(codes), n_threads)


def _plan(nodes: Nodes, first: int, last: int, n_rows: int) -> MaskPlan | None:
    """Return the trees laid out for many rows; None where walking is needed or faster."""
    if n_rows < _FEW or n_rows * (last - first) < _WORTH:
        return None
    return nodes.plan_of(first, last) if nodes.columns.n_nodes <= MOST_NODES else None


def _blocks(n_rows: int) -> Iterator[slice]:
    """Yield blocks of rows: their codes stay in the cache while they walk tree after tree."""
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, start + _BLOCK)


def in_parts(
    function: Callable[[int, int], Any], n_rows: int, n_threads: int, least: int = _SMALL
) -> None:
    """Call function(start, stop) for parts of the rows, in parallel if each has so many."""
    n_threads = max(1, min(n_threads, n_rows // least))
    if n_threads == 1:
        function(0, n_rows)
        return
    # Contiguous parts, equal but for a row.
    cuts = [n_rows * i // n_threads for i in range(n_threads + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(function, cuts[:-1], cuts[1:]))


_TYPES = {
    "words": (np.uint64, 1),
    "subsets": (np.uint64, 2),
    "roots": (np.int64, 1),
    "depths": (np.int64, 1),
    "values": (np.float64, 2),
    "base": (np.float64, 1),
    "gains": (np.float64, 1),
    "covers": (np.float64, 1),
}
_SUBSET_WORDS = 4  # 256 codes, a bit each
# By the kernel's numbers.
_FAULTS = (
    "is sound",
    "has a child that does not stand behind it, in its tree",
    "or its child has not exactly one parent",
    "is a leaf that sends rows on",
    "has bits that mean nothing",
    "looks at a column that is not there",
    "cuts categories by their order, or numbers by a set",
    "has a set of categories that is not there",
    "is cut at an unknown code",
)


def check_forest(
    binner: Binner,
    words: Any,
    subsets: Any,
    roots: Any,
    depths: Any,
    values: Any,
    base: Any,
    gains: Any,
    covers: Any,
) -> dict[str, NDArray[Any]]:
    """Check the arrays of a forest against each other and the binner.

    Parameters
    ----------
    binner, words, subsets, roots, depths, values, base, gains, covers
        As the attributes of `forest.Forest`.

    Returns
    -------
    dict of str to array
        The same arrays, C-contiguous and in the machine's own byte order.

    Raises
    ------
    ValueError
        If a walk along these nodes could leave them, or would end at another depth, or could add
        what is not finite.

    Examples
    --------
    >>> from costboost.binning.binner import fit_binner
    >>> binner = fit_binner([[1.0], [2.0]])
    >>> split = [(1 << 40) + 7, (1 << 40) + 255, (2 << 40) + 255]
    >>> check_forest(
    ...     binner, np.array(split, dtype=np.uint64), np.zeros((0, 4), dtype=np.uint64),
    ...     np.array([0]), np.array([1]), np.zeros((3, 1)), np.zeros(1),
    ...     np.zeros(3), np.zeros(3),
    ... )
    Traceback (most recent call last):
    ...
    ValueError: These arrays are no forest: node 0 of tree 0 is cut at an unknown code.
    """
    if not isinstance(binner, Binner):
        raise _no_forest(f"its binner is a {type(binner).__name__}")
    given = {
        "words": words,
        "subsets": subsets,
        "roots": roots,
        "depths": depths,
        "values": values,
        "base": base,
        "gains": gains,
        "covers": covers,
    }
    # In this order: each check relies on those before it. The kernel reads roots, which must lie
    # within the nodes; depths are compared with those that it finds.
    arrays = {name: _typed(name, array) for name, array in given.items()}
    _check_lengths(arrays)
    _check_finite(arrays)
    _check_roots(arrays["roots"], len(arrays["words"]))
    nodes = (arrays["words"], len(arrays["subsets"]), arrays["roots"])
    _check_depths(_check_nodes(*nodes, binner), arrays["depths"])
    return arrays


def _no_forest(why: str) -> ValueError:
    return ValueError(f"These arrays are no forest: {why}.")


def _typed(name: str, array: Any) -> NDArray[Any]:
    """Return the array if its type and dimensions are right; raise otherwise, never convert."""
    dtype, ndim = _TYPES[name]
    if not isinstance(array, np.ndarray) or array.dtype.newbyteorder("=") != dtype:
        held = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise _no_forest(f"{name} must be an array of {np.dtype(dtype)}, not of {held}")
    if array.ndim != ndim:
        raise _no_forest(f"{name} must have {ndim} dimensions, not {array.ndim}")
    return np.ascontiguousarray(array, dtype=dtype)


def _check_lengths(arrays: dict[str, NDArray[Any]]) -> None:
    n_nodes, n_outputs = arrays["values"].shape
    if len(arrays["words"]) != n_nodes:
        raise _no_forest(f"{len(arrays['words'])} nodes have {n_nodes} rows of values")
    for name in ("gains", "covers"):
        if len(arrays[name]) != n_nodes:
            raise _no_forest(f"{n_nodes} nodes have {len(arrays[name])} {name}")
    if arrays["subsets"].shape not in ((n_nodes, _SUBSET_WORDS), (0, _SUBSET_WORDS)):
        shape = arrays["subsets"].shape
        raise _no_forest(f"subsets have shape {shape} for {n_nodes} nodes")
    if n_outputs == 0 or arrays["base"].shape != (n_outputs,):
        raise _no_forest(f"base has shape {arrays['base'].shape} for {n_outputs} outputs")
    if len(arrays["depths"]) != len(arrays["roots"]):
        raise _no_forest(f"{len(arrays['roots'])} roots have {len(arrays['depths'])} depths")


def _check_finite(arrays: dict[str, NDArray[Any]]) -> None:
    for name in ("values", "base", "gains", "covers"):
        if not np.isfinite(arrays[name]).all():
            raise _no_forest(f"{name} are not all finite")
    for name in ("gains", "covers"):
        if arrays[name].min(initial=0.0) < 0.0:
            raise _no_forest(f"{name} are negative somewhere")


def _check_roots(roots: Int64, n_nodes: int) -> None:
    # Every tree has a node: a root is followed by a larger one, the last by the end.
    ends = np.append(roots, n_nodes)
    if ends[0] != 0 or np.any(ends[1:] <= ends[:-1]):
        raise _no_forest(f"the roots must rise from 0 and end before {n_nodes}, the nodes")


def _check_nodes(words: Words, n_subsets: int, roots: Int64, binner: Binner) -> Int64:
    """Raise if a walk could leave its tree or the columns; return how deep each tree is."""
    # A node's level is -1 until its parent has been seen: a second parent, or none, is a fault.
    levels = np.full(len(words), -1, dtype=np.int32)
    depths, place = np.zeros(len(roots), dtype=np.int64), np.zeros(2, dtype=np.int64)
    columns = (binner.n_bins, binner.is_categorical.view(np.uint8))
    fault = kernels.check_nodes(words, n_subsets, roots, *columns, levels, depths, place)
    if fault:
        tree, node = place.tolist()
        raise _no_forest(f"node {node} of tree {tree} {_FAULTS[fault]}")
    return depths


def _check_depths(found: Int64, depths: Int64) -> None:
    """Raise unless depths are those of the trees: a walk takes as many steps as it is told."""
    if not np.array_equal(found, depths):
        tree = int(np.argmax(found != depths))
        raise _no_forest(f"tree {tree} has the depth {found[tree]}, not {depths[tree]}")
