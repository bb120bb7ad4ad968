"""Validation of the arrays of a forest, which kernels index without bounds checks.

The kernels that walk trees follow children, columns and depths as they stand in the arrays of a
`Forest` (see `_forest_kernels` for the layout of a node). Arrays that come from a file may hold
anything, so a forest checks its own whenever it is made: one pass over the nodes, a millisecond
for a thousand trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.trees import _forest_kernels as kernels
from costboost.typing import Int64, Words

__all__ = ["check_forest"]


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
    ends = np.append(roots, n_nodes)
    if ends[0] != 0 or np.any(ends[1:] <= ends[:-1]):
        raise _no_forest(f"the roots must rise from 0 and end before {n_nodes}, the nodes")


def _check_nodes(words: Words, n_subsets: int, roots: Int64, binner: Binner) -> Int64:
    """Raise if a walk could leave its tree or the columns; return how deep each tree is."""
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
