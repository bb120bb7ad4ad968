"""Kernels of fitted forests: leaves and margins of coded rows.

A node is one 64-bit word, so that a step down the tree is two loads:

    bits 0-7    limit      goes left when ((code + shift) mod 256) <= limit
    bit  8      shift      1 sends missing values (255) left: they wrap to 0
    bit  9      subset     a categorical node: the limit is unused, `subsets` decides
    bits 16-39  feature
    bits 40-63  left child, counted from the tree's first node; the right one follows it

A leaf is its own left child with limit 255, so that every row takes `depth` steps and no branch
is mispredicted.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.trees import _interpreted as cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    words: cython.const[cython.ulonglong][::1],
    root: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    _step: cython.Py_ssize_t
    node: cython.Py_ssize_t = 0
    word: cython.ulonglong
    code: cython.uint
    for _step in range(depth):
        word = cython.cast(cython.ulonglong, words[root + node])
        code = cython.cast(cython.uint, codes[row, (word >> 16) & 0xFFFFFF])
        code = (code + ((word >> 8) & 1)) & 255
        node = (word >> 40) + (code > (word & 255))
    return root + node


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf_with_subsets(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    root: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    _step: cython.Py_ssize_t
    node: cython.Py_ssize_t = 0
    word: cython.ulonglong
    bits: cython.ulonglong
    code: cython.uint
    for _step in range(depth):
        word = cython.cast(cython.ulonglong, words[root + node])
        code = cython.cast(cython.uint, codes[row, (word >> 16) & 0xFFFFFF])
        if (word >> 9) & 1:
            bits = cython.cast(cython.ulonglong, subsets[root + node, code >> 6])
            node = (word >> 40) + (1 - ((bits >> (code & 63)) & 1))
        else:
            code = (code + ((word >> 8) & 1)) & 255
            node = (word >> 40) + (code > (word & 255))
    return root + node


def add_margins(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    depths: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    values: cython.const[cython.double][:, ::1],
    margins: cython.double[:, ::1],
):
    """Add the leaf values of trees first <= t < last to the margins, tree after tree.

    `subsets` has no rows in a forest without categorical splits.
    """
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    plain: cython.bint = subsets.shape[0] == 0
    n_outputs: cython.Py_ssize_t = values.shape[1]
    with cython.nogil:
        for t in range(first, last):
            for row in range(codes.shape[0]):
                if plain:
                    leaf = _leaf(codes, row, words, roots[t], depths[t])
                else:
                    leaf = _leaf_with_subsets(codes, row, words, subsets, roots[t], depths[t])
                if n_outputs == 1:
                    margins[row, 0] += values[leaf, 0]
                else:
                    for k in range(n_outputs):
                        margins[row, k] += values[leaf, k]


def find_leaves(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    depths: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    leaves: cython.longlong[:, ::1],
):
    """Write the node, counted from its tree's root, that every row reaches in every tree."""
    t: cython.Py_ssize_t
    row: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    plain: cython.bint = subsets.shape[0] == 0
    with cython.nogil:
        for row in range(codes.shape[0]):
            for t in range(first, last):
                if plain:
                    leaf = _leaf(codes, row, words, roots[t], depths[t])
                else:
                    leaf = _leaf_with_subsets(codes, row, words, subsets, roots[t], depths[t])
                leaves[row, t - first] = leaf - roots[t]


def add_tables(
    codes: cython.const[cython.uchar][:, ::1],
    columns: cython.const[cython.longlong][::1],
    tables: cython.const[cython.double][:, :, ::1],
    margins: cython.double[:, ::1],
):
    """Add tables[f, code] of every listed column: a whole forest of stumps in one look-up each."""
    f: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    code: cython.Py_ssize_t
    with cython.nogil:
        for row in range(codes.shape[0]):
            for f in range(columns.shape[0]):
                code = codes[row, columns[f]]
                for k in range(margins.shape[1]):
                    margins[row, k] += tables[f, code, k]
