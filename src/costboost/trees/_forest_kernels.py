"""Kernels of fitted forests: leaves and margins of coded rows.

A node is one 64-bit word, so that a step down the tree is two loads:

    bits 0-7    limit      goes left when ((code + shift) mod 256) <= limit
    bit  8      shift      1 sends missing values (255) left: they wrap to 0
    bit  9      subset     a categorical node: the limit is unused, `subsets` decides
    bits 16-39  feature
    bits 40-63  left child, counted from the tree's first node; the right one follows it

A leaf is its own left child with limit 255, so that every row takes `depth` steps and no branch
is mispredicted. Children stand after their parents.

Here rows walk down, each by itself. Few rows walk down several trees at a time, so that nodes which
are not in the cache are waited for together. Many rows have a way of their own, in `_mask_kernels`.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython


# What `check_nodes` finds; `walking` puts it into words.
SOUND = cython.declare(cython.int, 0)
STRAY_CHILD = cython.declare(cython.int, 1)
NOT_ONE_PARENT = cython.declare(cython.int, 2)
OPEN_LEAF = cython.declare(cython.int, 3)
UNKNOWN_BITS = cython.declare(cython.int, 4)
NO_COLUMN = cython.declare(cython.int, 5)
WRONG_KIND = cython.declare(cython.int, 6)
NO_SUBSET = cython.declare(cython.int, 7)
NO_CODE = cython.declare(cython.int, 8)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fault(
    word: cython.ulonglong,
    n_subsets: cython.Py_ssize_t,
    n_bins: cython.const[cython.longlong][::1],
    is_categorical: cython.const[cython.uchar][::1],
) -> cython.int:
    """Return the code of what is wrong with a split node, its children aside; 0 if nothing."""
    feature: cython.Py_ssize_t = (word >> 16) & 0xFFFFFF
    limit: cython.longlong = word & 255
    flags: cython.uint = (word >> 8) & 255
    if flags > 2:
        return UNKNOWN_BITS
    if feature >= n_bins.shape[0]:
        return NO_COLUMN
    if (flags == 2) != (is_categorical[feature] != 0):
        return WRONG_KIND
    if flags == 2:
        return SOUND if n_subsets > 0 and limit == 0 else NO_SUBSET
    limit -= flags
    return SOUND if 0 <= limit < n_bins[feature] else NO_CODE


def check_nodes(
    words: cython.const[cython.ulonglong][::1],
    n_subsets: cython.Py_ssize_t,
    roots: cython.const[cython.longlong][::1],
    n_bins: cython.const[cython.longlong][::1],
    is_categorical: cython.const[cython.uchar][::1],
    levels: cython.int[::1],
    depths: cython.longlong[::1],
    place: cython.longlong[::1],
) -> int:
    """Check that every walk ends inside its tree; return the code of the first fault, 0 if none.

    Parameters
    ----------
    roots : int64 array of shape (T,)
        Rising from 0, all below the number of nodes.
    levels : int32 array of shape (n_nodes,), all -1
        Written: how deep each node is. Children stand behind their parents, so that one pass
        finds it, and a node that is met before anybody named it has no parent.
    depths : int64 array of shape (T,)
        Written: how deep each tree is.
    place : int64 array of shape (2,)
        Written: the tree and the node in it where something is wrong.
    """
    t: cython.Py_ssize_t
    node: cython.Py_ssize_t
    root: cython.Py_ssize_t
    size: cython.Py_ssize_t
    left: cython.Py_ssize_t
    deepest: cython.longlong
    word: cython.ulonglong
    found: cython.int = SOUND
    with cython.nogil:
        for t in range(roots.shape[0]):
            root = roots[t]
            size = words.shape[0] - root
            if t + 1 < roots.shape[0]:
                size = roots[t + 1] - root
            levels[root] = 0
            deepest = 0
            for node in range(size):
                word = cython.cast(cython.ulonglong, words[root + node])
                left = word >> 40
                if levels[root + node] < 0:
                    found = NOT_ONE_PARENT
                elif left == node:
                    # A leaf sends every code left, to itself, and is read at column 0.
                    found = SOUND if (word & 0xFFFF) == 255 else OPEN_LEAF
                    found = found if ((word >> 16) & 0xFFFFFF) == 0 else OPEN_LEAF
                elif left < node or left >= size - 1:
                    found = STRAY_CHILD
                elif levels[root + left] >= 0 or levels[root + left + 1] >= 0:
                    found = NOT_ONE_PARENT
                else:
                    found = _fault(word, n_subsets, n_bins, is_categorical)
                    levels[root + left] = levels[root + node] + 1
                    levels[root + left + 1] = levels[root + left]
                if found != SOUND:
                    place[0] = t
                    place[1] = node
                    break
                if levels[root + node] > deepest:
                    deepest = levels[root + node]
            if found != SOUND:
                break
            depths[t] = deepest
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _child(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    words: cython.const[cython.ulonglong][::1],
    root: cython.Py_ssize_t,
    node: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    word: cython.ulonglong = cython.cast(cython.ulonglong, words[root + node])
    code: cython.uint = cython.cast(cython.uint, codes[row, (word >> 16) & 0xFFFFFF])
    code = (code + ((word >> 8) & 1)) & 255
    return (word >> 40) + (code > (word & 255))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _child_with_subsets(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    root: cython.Py_ssize_t,
    node: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    word: cython.ulonglong = cython.cast(cython.ulonglong, words[root + node])
    code: cython.uint = cython.cast(cython.uint, codes[row, (word >> 16) & 0xFFFFFF])
    bits: cython.ulonglong
    if (word >> 9) & 1:
        bits = cython.cast(cython.ulonglong, subsets[root + node, code >> 6])
        return (word >> 40) + (1 - ((bits >> (code & 63)) & 1))
    code = (code + ((word >> 8) & 1)) & 255
    return (word >> 40) + (code > (word & 255))


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
    for _step in range(depth):
        node = _child(codes, row, words, root, node)
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
    for _step in range(depth):
        node = _child_with_subsets(codes, row, words, subsets, root, node)
    return root + node


def add_margins(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    depths: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    members: cython.const[cython.longlong][::1],
    values: cython.const[cython.double][:, ::1],
    margins: cython.double[:, :, :],
):
    """Add the leaf values of trees first <= t < last to margins[members[t]], tree after tree.

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
                for k in range(n_outputs):
                    margins[members[t], row, k] += values[leaf, k]


def add_margins_of_few(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    members: cython.const[cython.longlong][::1],
    nodes: cython.longlong[::1],
    values: cython.const[cython.double][:, ::1],
    margins: cython.double[:, :, :],
):
    """`add_margins` for few rows and a forest larger than the cache; bit for bit the same.

    As many trees as `nodes` has room for take each step together: what a row costs is waiting for
    nodes to arrive, and so they arrive at the same time.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    node: cython.Py_ssize_t
    moved: cython.Py_ssize_t
    n_trees: cython.Py_ssize_t
    at: cython.Py_ssize_t = first
    plain: cython.bint = subsets.shape[0] == 0
    n_outputs: cython.Py_ssize_t = values.shape[1]
    with cython.nogil:
        # Groups of trees whose nodes fit the buffer.
        while at < last:
            n_trees = nodes.shape[0]
            if n_trees > last - at:
                n_trees = last - at
            for row in range(codes.shape[0]):
                for i in range(n_trees):
                    nodes[i] = 0
                moved = 1
                while moved != 0:
                    moved = 0  # a leaf is its own child
                    for i in range(n_trees):
                        if plain:
                            node = _child(codes, row, words, roots[at + i], nodes[i])
                        else:
                            node = _child_with_subsets(
                                codes, row, words, subsets, roots[at + i], nodes[i]
                            )
                        moved |= node ^ nodes[i]
                        nodes[i] = node
                for i in range(n_trees):
                    for k in range(n_outputs):
                        margins[members[at + i], row, k] += values[roots[at + i] + nodes[i], k]
            at += n_trees


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
    """Write the leaf of every row in every tree, as a node number counted from the root."""
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


def plan_trees(
    words: cython.const[cython.ulonglong][::1],
    ends: cython.const[cython.longlong][::1],
    sizes: cython.longlong[::1],
    begins: cython.longlong[::1],
    ones: cython.longlong[::1],
    split_starts: cython.longlong[::1],
    parents: cython.ushort[::1],
    lefts: cython.ushort[::1],
    plane_starts: cython.longlong[::1],
    slots: cython.ushort[::1],
    value_starts: cython.longlong[::1],
    leaf_nodes: cython.longlong[::1],
) -> int:
    """Give leaves numbers, list the splits and planes; return how many `slots` there are.

    This is what `_mask_kernels` follows, in the form of `masks.Trees`.

    Parameters
    ----------
    ends : int64 array of shape (T + 1,)
        Where trees begin, and where the last one ends.
    sizes, begins, ones : int64 arrays
        Scratch, an entry for each node of the largest tree.
    split_starts, value_starts : int64 arrays of shape (T + 1,)
        Written: where the splits and leaves of each tree begin.
    parents, lefts : uint16 arrays
        Written: the node of each split, and its left child.
    plane_starts : int64 array of shape (8 T + 1,)
        Written: where the nodes of each plane begin in `slots`.
    slots : uint16 array, at least eight for each leaf
        Written: nodes that make up the planes.
    leaf_nodes : int64 array
        Written: the node of each leaf in the order of the leaves' numbers.
    """
    t: cython.Py_ssize_t
    b: cython.Py_ssize_t
    node: cython.Py_ssize_t
    root: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t
    left: cython.Py_ssize_t
    small: cython.Py_ssize_t
    common: cython.longlong
    n_splits: cython.Py_ssize_t = 0
    n_slots: cython.Py_ssize_t = 0
    n_leaves: cython.Py_ssize_t = 0
    with cython.nogil:
        split_starts[0] = 0
        value_starts[0] = 0
        plane_starts[0] = 0
        for t in range(ends.shape[0] - 1):
            root = ends[t]
            n_nodes = ends[t + 1] - root
            # From the last node to the root: how many leaves are below.
            node = n_nodes
            while node > 0:
                node -= 1
                left = cython.cast(cython.ulonglong, words[root + node]) >> 40
                sizes[node] = 1 if left == node else sizes[left] + sizes[left + 1]
            # From the root: leaves below a node have numbers without a gap.
            begins[0] = 0
            ones[0] = 0
            for node in range(n_nodes):
                left = cython.cast(cython.ulonglong, words[root + node]) >> 40
                # Bits that all leaves below have: those before the first in which they differ.
                b = 0
                while (begins[node] >> b) != ((begins[node] + sizes[node] - 1) >> b):
                    b += 1
                common = (begins[node] >> b) << b
                if left == node:
                    leaf_nodes[n_leaves + begins[node]] = node
                else:
                    parents[n_splits] = node
                    lefts[n_splits] = left
                    n_splits += 1
                    # The smaller side first: fewer nodes then make up the planes.
                    small = left if sizes[left] < sizes[left + 1] else left + 1
                    begins[small] = begins[node]
                    begins[2 * left + 1 - small] = begins[node] + sizes[small]
                    ones[left] = common
                    ones[left + 1] = common
                ones[node] = common ^ ones[node]  # without those of its parent
            for b in range(8):
                for node in range(n_nodes):
                    if (ones[node] >> b) & 1:
                        slots[n_slots] = node
                        n_slots += 1
                plane_starts[8 * t + b + 1] = n_slots
            n_leaves += sizes[0]
            split_starts[t + 1] = n_splits
            value_starts[t + 1] = n_leaves
    return n_slots


def fill_tables(
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    depths: cython.const[cython.longlong][::1],
    values: cython.const[cython.double][:, ::1],
    places: cython.const[cython.longlong][::1],
    tables: cython.double[:, :, ::1],
    constant: cython.double[::1],
):
    """Add stumps to one table per column, tables[place, code], and lone leaves to a constant."""
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    place: cython.Py_ssize_t
    code: cython.uint
    bits: cython.ulonglong
    word: cython.ulonglong
    n_outputs: cython.Py_ssize_t = values.shape[1]
    with cython.nogil:
        for t in range(roots.shape[0]):
            if depths[t] == 0:
                for k in range(n_outputs):
                    constant[k] += values[roots[t], k]
                continue
            word = cython.cast(cython.ulonglong, words[roots[t]])
            place = places[(word >> 16) & 0xFFFFFF]
            for code in range(256):
                leaf = roots[t] + (word >> 40)
                if (word >> 9) & 1:
                    bits = cython.cast(cython.ulonglong, subsets[roots[t], code >> 6])
                    leaf += 1 - ((bits >> (code & 63)) & 1)
                else:
                    leaf += ((code + ((word >> 8) & 1)) & 255) > (word & 255)
                for k in range(n_outputs):
                    tables[place, code, k] += values[leaf, k]


def add_tables(
    codes: cython.const[cython.uchar][:, ::1],
    columns: cython.const[cython.longlong][::1],
    tables: cython.const[cython.double][:, :, ::1],
    margins: cython.double[:, ::1],
):
    """Add tables[f, code] of every listed column: a forest of stumps, one look-up a column."""
    f: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    code: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    n_outputs: cython.Py_ssize_t = margins.shape[1]
    with cython.nogil:
        # Column after column for a tile of rows: its table stays near, and no sum waits for its
        # own last addition.
        while begin < codes.shape[0]:
            end = begin + 512
            if end > codes.shape[0]:
                end = codes.shape[0]
            for f in range(columns.shape[0]):
                j = columns[f]
                for row in range(begin, end):
                    code = codes[row, j]
                    if n_outputs == 1:
                        margins[row, 0] += tables[f, code, 0]
                    else:
                        for k in range(n_outputs):
                            margins[row, k] += tables[f, code, k]
            begin = end
