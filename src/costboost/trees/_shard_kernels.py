"""What a tree that is grown at once asks of the rows of its shard.

The loops over rows are those of `_tree_kernels`, which shards run when they are asked for one node
at a time. Here a node is a place in a `Room`, and its segments may lie apart in the codes.
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
    from cython.cimports.costboost.trees._room_kernels import UNDIVIDED, Room, ShardRows
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
    from costboost.trees._room_kernels import UNDIVIDED, Room, ShardRows

CLASSES = cython.declare(cython.int, 0)
PAIRS = cython.declare(cython.int, 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_whole(rows: ShardRows, node: cython.Py_ssize_t) -> cython.bint:
    """Whether a node has all rows, in their own order."""
    return node == 0 and not rows.sampled


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def place_root(rows: ShardRows, room: Room) -> cython.int:
    """Put the rows to learn from in the root."""
    s: cython.Py_ssize_t
    room.n_rows[0] = 0
    for s in range(rows.ends.shape[0]):
        room.ranges[0, 0, s] = rows.starts[s]
        room.ranges[0, 1, s] = rows.ends[s]
        room.n_rows[0] += rows.ends[s] - rows.starts[s]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_up(
    rows: ShardRows,
    room: Room,
    node: cython.Py_ssize_t,
    slot: cython.Py_ssize_t,
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Fill a slot with the histogram of a node; of some columns only if they are `drawn`."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    whole: cython.bint = _is_whole(rows, node)
    hist: cython.longlong[::1] = room.hists[slot]
    codes: cython.const[cython.uchar][:, ::1] = rows.codes
    begins: cython.const[cython.longlong][::1] = room.ranges[node, 0]
    ends: cython.const[cython.longlong][::1] = room.ranges[node, 1]
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
    for s in range(room.ranges.shape[2]):
        codes = rows.codes[rows.skips[s] :]
        begins = room.ranges[node, 0, s : s + 1]
        ends = room.ranges[node, 1, s : s + 1]
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
    room: Room,
    node: cython.Py_ssize_t,
    slot: cython.Py_ssize_t,
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Count the rows of a node in a slot, by column and code."""
    j: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    counts: cython.longlong[:, ::1] = room.counts[slot]
    for j in range(counts.shape[0]):
        for t in range(256):
            counts[j, t] = 0
    for s in range(room.ranges.shape[2]):
        add_rows(
            rows.codes[rows.skips[s] :],
            rows.order,
            _is_whole(rows, node),
            room.ranges[node, 0, s : s + 1],
            room.ranges[node, 1, s : s + 1],
            counts,
            drawn,
            columns,
        )
    room.counted[slot] = 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def divide(rows: ShardRows, room: Room, node: cython.Py_ssize_t) -> cython.int:
    """Part the rows of a node among its children."""
    s: cython.Py_ssize_t
    left: cython.Py_ssize_t = room.left[node]
    room.n_rows[left] = 0
    for s in range(room.ranges.shape[2]):
        part_rows(
            rows.codes[rows.skips[s] :],
            room.feature[node],
            room.goes_left[node],
            rows.order,
            rows.scratch,
            _is_whole(rows, node),
            room.ranges[node, 0, s : s + 1],
            room.ranges[node, 1, s : s + 1],
            room.ranges[left, 1, s : s + 1],
        )
        room.ranges[left, 0, s] = room.ranges[node, 0, s]
        room.ranges[left + 1, 0, s] = room.ranges[left, 1, s]
        room.ranges[left + 1, 1, s] = room.ranges[node, 1, s]
        room.n_rows[left] += room.ranges[left, 1, s] - room.ranges[left, 0, s]
    room.n_rows[left + 1] = room.n_rows[node] - room.n_rows[left]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_leaves(rows: ShardRows, room: Room, n_nodes: cython.Py_ssize_t) -> cython.int:
    """Write leaves at their rows, which stand together; count those that were not divided."""
    s: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    whole: cython.bint
    for node in range(n_nodes):
        left = room.left[node]
        whole = _is_whole(rows, node)
        if left < 0 and room.slot[node] != UNDIVIDED:
            write_leaf(
                rows.order,
                whole,
                room.ranges[node, 0],
                room.ranges[node, 1],
                room.leaf[node],
                rows.leaves,
            )
        elif left >= 0 and room.slot[left] == UNDIVIDED:
            room.n_rows[left] = 0
            for s in range(room.ranges.shape[2]):
                room.n_rows[left] += write_split(
                    rows.codes[rows.skips[s] :],
                    room.feature[node],
                    room.goes_left[node],
                    rows.order,
                    whole,
                    room.ranges[node, 0, s : s + 1],
                    room.ranges[node, 1, s : s + 1],
                    room.leaf[left],
                    room.leaf[left + 1],
                    rows.leaves,
                )
            room.n_rows[left + 1] = room.n_rows[node] - room.n_rows[left]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_leaves(rows: ShardRows, room: Room, n_nodes: cython.Py_ssize_t) -> cython.int:
    """Send every row down the tree, also those that it was not made from; count them."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    node: cython.Py_ssize_t
    code: cython.uchar
    left: cython.const[cython.longlong][::1] = room.left
    feature: cython.const[cython.longlong][::1] = room.feature
    goes_left: cython.const[cython.uchar][:, ::1] = room.goes_left
    for node in range(n_nodes):
        room.n_rows[node] = 0
    for s in range(rows.starts.shape[0] - 1):
        for i in range(rows.starts[s], rows.starts[s + 1]):
            node = 0
            while left[node] >= 0:
                code = rows.codes[i + rows.skips[s], feature[node]]
                node = left[node] if goes_left[node, code] else left[node] + 1
            rows.leaves[i] = room.leaf[node]
            room.n_rows[node] += 1
    for node in range(n_nodes - 1, -1, -1):  # children stand after their parents
        if left[node] >= 0:
            room.n_rows[node] = room.n_rows[left[node]] + room.n_rows[left[node] + 1]
    return 0
