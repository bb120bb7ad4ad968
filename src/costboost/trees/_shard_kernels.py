"""Loops over the rows of one shard for a tree that is grown in one call.

They call those of `_tree_kernels`, which shards run for messages about single nodes. Here a node is
a place in a `TreeScratch`, and its segments need not be contiguous in the codes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.shards._tree_kernels import (
        add_class_weights,
        add_pairs,
        add_rows,
        add_vectors,
        part_rows,
        write_leaf,
        write_split,
    )
    from cython.cimports.costboost.trees._grow_data_kernels import UNDIVIDED, ShardRows, TreeScratch
else:
    from costboost.shards._tree_kernels import (
        add_class_weights,
        add_pairs,
        add_rows,
        add_vectors,
        part_rows,
        write_leaf,
        write_split,
    )
    from costboost.trees._grow_data_kernels import UNDIVIDED, ShardRows, TreeScratch

CLASSES = cython.declare(cython.int, 0)
PAIRS = cython.declare(cython.int, 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_whole(rows: ShardRows, node: cython.Py_ssize_t) -> cython.bint:
    """Whether a node has all rows, so that `order` need not be read."""
    return node == 0 and not rows.sampled


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def place_root(rows: ShardRows, tree: TreeScratch) -> cython.int:
    """Set the root's ranges to the rows to learn from."""
    s: cython.Py_ssize_t
    tree.n_rows[0] = 0
    for s in range(rows.ends.shape[0]):
        tree.ranges[0, 0, s] = rows.starts[s]
        tree.ranges[0, 1, s] = rows.ends[s]
        tree.n_rows[0] += rows.ends[s] - rows.starts[s]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_up(
    rows: ShardRows,
    tree: TreeScratch,
    node: cython.Py_ssize_t,
    slot: cython.Py_ssize_t,
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Fill a slot with the histogram of a node; of some columns only if they are `drawn`."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    whole: cython.bint = _is_whole(rows, node)
    hist: cython.longlong[::1] = tree.hists[slot]
    codes: cython.const[cython.uchar][:, ::1] = rows.codes
    begins: cython.const[cython.longlong][::1] = tree.ranges[node, 0]
    ends: cython.const[cython.longlong][::1] = tree.ranges[node, 1]
    # The slot still holds the sums of another node.
    for i in range(hist.shape[0]):
        hist[i] = 0
    if rows.kind == CLASSES:  # a segment is a class: they lie together
        add_class_weights(
            codes,
            rows.order,
            whole,
            begins,
            ends,
            rows.weights,
            rows.factors,
            rows.scales,
            hist,
            drawn,
            columns,
        )
        return 0
    for s in range(tree.ranges.shape[2]):
        codes = rows.codes[rows.skips[s] :]
        # Segments one by one: each has its own offset into codes that it shares with other models.
        begins = tree.ranges[node, 0, s : s + 1]
        ends = tree.ranges[node, 1, s : s + 1]
        if rows.kind == PAIRS:
            add_pairs(codes, rows.order, whole, begins, ends, rows.pairs, hist, drawn, columns)
        else:
            add_vectors(codes, rows.order, whole, begins, ends, rows.vectors, hist, drawn, columns)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_rows(
    rows: ShardRows,
    tree: TreeScratch,
    node: cython.Py_ssize_t,
    slot: cython.Py_ssize_t,
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Count the rows of a node in a slot, by column and code."""
    j: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    counts: cython.longlong[:, ::1] = tree.counts[slot]
    for j in range(counts.shape[0]):
        for t in range(256):
            counts[j, t] = 0
    for s in range(tree.ranges.shape[2]):
        add_rows(
            rows.codes[rows.skips[s] :],
            rows.order,
            _is_whole(rows, node),
            tree.ranges[node, 0, s : s + 1],
            tree.ranges[node, 1, s : s + 1],
            counts,
            drawn,
            columns,
        )
    tree.counted[slot] = 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def divide(rows: ShardRows, tree: TreeScratch, node: cython.Py_ssize_t) -> cython.int:
    """Divide the rows of a node between its children."""
    s: cython.Py_ssize_t
    left: cython.Py_ssize_t = tree.left[node]
    tree.n_rows[left] = 0
    for s in range(tree.ranges.shape[2]):
        # The partition writes where the left child ends, straight into its range.
        part_rows(
            rows.codes[rows.skips[s] :],
            tree.feature[node],
            tree.goes_left[node],
            rows.order,
            rows.scratch,
            _is_whole(rows, node),
            tree.ranges[node, 0, s : s + 1],
            tree.ranges[node, 1, s : s + 1],
            tree.ranges[left, 1, s : s + 1],
        )
        tree.ranges[left, 0, s] = tree.ranges[node, 0, s]
        tree.ranges[left + 1, 0, s] = tree.ranges[left, 1, s]
        tree.ranges[left + 1, 1, s] = tree.ranges[node, 1, s]
        tree.n_rows[left] += tree.ranges[left, 1, s] - tree.ranges[left, 0, s]
    tree.n_rows[left + 1] = tree.n_rows[node] - tree.n_rows[left]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_leaves(rows: ShardRows, tree: TreeScratch, n_nodes: cython.Py_ssize_t) -> cython.int:
    """Write `rows.leaves` by ranges of nodes; splits whose rows were not divided do it here."""
    s: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    whole: cython.bint
    for node in range(n_nodes):
        left = tree.left[node]
        whole = _is_whole(rows, node)
        # A leaf has its rows together; where a split was not carried out the rows are still those
        # of the parent, and their codes say which of its two leaves each reached.
        if left < 0 and tree.slot[node] != UNDIVIDED:
            write_leaf(
                rows.order,
                whole,
                tree.ranges[node, 0],
                tree.ranges[node, 1],
                tree.leaf[node],
                rows.leaves,
            )
        elif left >= 0 and tree.slot[left] == UNDIVIDED:
            tree.n_rows[left] = 0
            for s in range(tree.ranges.shape[2]):
                tree.n_rows[left] += write_split(
                    rows.codes[rows.skips[s] :],
                    tree.feature[node],
                    tree.goes_left[node],
                    rows.order,
                    whole,
                    tree.ranges[node, 0, s : s + 1],
                    tree.ranges[node, 1, s : s + 1],
                    tree.leaf[left],
                    tree.leaf[left + 1],
                    rows.leaves,
                )
            tree.n_rows[left + 1] = tree.n_rows[node] - tree.n_rows[left]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_leaves(rows: ShardRows, tree: TreeScratch, n_nodes: cython.Py_ssize_t) -> cython.int:
    """Walk every row down the tree, those outside the sample too; count rows by node."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    node: cython.Py_ssize_t
    code: cython.uchar
    left: cython.const[cython.longlong][::1] = tree.left
    feature: cython.const[cython.longlong][::1] = tree.feature
    goes_left: cython.const[cython.uchar][:, ::1] = tree.goes_left
    for node in range(n_nodes):
        tree.n_rows[node] = 0
    # Ranges of a sampled tree hold no rows but those that it learnt from: all walk down from the
    # root.
    for s in range(rows.starts.shape[0] - 1):
        for i in range(rows.starts[s], rows.starts[s + 1]):
            node = 0
            while left[node] >= 0:
                code = rows.codes[i + rows.skips[s], feature[node]]
                node = left[node] if goes_left[node, code] else left[node] + 1
            rows.leaves[i] = tree.leaf[node]
            tree.n_rows[node] += 1
    for node in range(n_nodes - 1, -1, -1):  # children stand after their parents
        if left[node] >= 0:
            tree.n_rows[node] = tree.n_rows[left[node]] + tree.n_rows[left[node] + 1]
    return 0
