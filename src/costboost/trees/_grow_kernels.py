"""A whole tree from the rows of one shard, in one call.

What `grower.Grower` does by messages, a node at a time, with the same loops over rows and the same
search (`_tree_kernels`, `_split_kernels`), and to the same tree. A small table has little work in a
node, less than it takes to ask for it.

Nodes are rows of arrays that the caller gives, node 0 the root, children side by side:

    numbers  (N, 6) int64     feature, threshold, left child, depth, slot, leaf number
    reals    (N, 5) float64   gain, rounding of the gain, least and largest value, rows
    sums     (N, 2, C) int64  the node's own, and those of its left child
    ranges   (N, 2, S) int64  where its rows begin and end in `order`, by segment
    goes_left (N, 256) uint8

A node that waits to be split keeps its histogram in a slot of `hists`, its counts of rows in the
same slot of `counts`. Once split, its slot goes to its larger child: less the smaller child's,
which integers make exact. Where nodes are searched for columns of their own (`apart`), they are
added up for these alone and nothing is kept.
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
    from cython.cimports.costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from cython.cimports.costboost.trees._search_kernels import MISSING, NodeSums, Rules, Search
    from cython.cimports.costboost.trees._split_kernels import search_node
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
    from costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from costboost.trees._search_kernels import MISSING, NodeSums, Rules, Search
    from costboost.trees._split_kernels import search_node

FEATURE = cython.declare(cython.Py_ssize_t, 0)
THRESHOLD = cython.declare(cython.Py_ssize_t, 1)
LEFT = cython.declare(cython.Py_ssize_t, 2)
DEPTH = cython.declare(cython.Py_ssize_t, 3)
SLOT = cython.declare(cython.Py_ssize_t, 4)
LEAF = cython.declare(cython.Py_ssize_t, 5)
GAIN = cython.declare(cython.Py_ssize_t, 0)
ROUNDED = cython.declare(cython.Py_ssize_t, 1)
LOW = cython.declare(cython.Py_ssize_t, 2)
HIGH = cython.declare(cython.Py_ssize_t, 3)
ROWS = cython.declare(cython.Py_ssize_t, 4)
CLASSES = cython.declare(cython.int, 0)
PAIRS = cython.declare(cython.int, 1)
INFINITE = cython.declare(cython.double, float("inf"))
NONE = cython.declare(cython.longlong, -1)
UNDIVIDED = cython.declare(cython.longlong, -2)
# Least leaves in a node, below which its rows are counted without asking; as in the grower.
FEW = cython.declare(cython.longlong, 64)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _size(ranges: cython.const[cython.longlong][:, ::1]) -> cython.longlong:
    """Return how many rows there are in the ranges of a node, (2, S)."""
    s: cython.Py_ssize_t
    total: cython.longlong = 0
    for s in range(ranges.shape[1]):
        total += ranges[1, s] - ranges[0, s]
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_up(
    codes: cython.const[cython.uchar][:, ::1],
    skips: cython.const[cython.longlong][::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    ranges: cython.const[cython.longlong][:, ::1],
    kind: cython.int,
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    pairs: cython.const[cython.longlong][:, ::1],
    vectors: cython.const[cython.int][:, ::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
    hist: cython.longlong[::1],
) -> cython.int:
    """Fill the histogram of a node; segments may lie apart in the codes (`skips`)."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    for i in range(hist.shape[0]):
        hist[i] = 0
    if kind == CLASSES:
        add_class_weights(
            codes,
            order,
            whole,
            ranges[0],
            ranges[1],
            weights,
            factors,
            scales,
            hist,
            drawn,
            columns,
        )
        return 0
    for s in range(ranges.shape[1]):
        if kind == PAIRS:
            add_pairs(
                codes[skips[s] :],
                order,
                whole,
                ranges[0, s : s + 1],
                ranges[1, s : s + 1],
                pairs,
                hist,
                drawn,
                columns,
            )
        else:
            add_vectors(
                codes[skips[s] :],
                order,
                whole,
                ranges[0, s : s + 1],
                ranges[1, s : s + 1],
                vectors,
                hist,
                drawn,
                columns,
            )
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(
    codes: cython.const[cython.uchar][:, ::1],
    skips: cython.const[cython.longlong][::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    ranges: cython.const[cython.longlong][:, ::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
    counts: cython.longlong[:, ::1],
) -> cython.int:
    """Count the rows of a node by column and code."""
    j: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    for j in range(counts.shape[0]):
        for t in range(256):
            counts[j, t] = 0
    for s in range(ranges.shape[1]):
        add_rows(
            codes[skips[s] :],
            order,
            whole,
            ranges[0, s : s + 1],
            ranges[1, s : s + 1],
            counts,
            drawn,
            columns,
        )
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _subtract(large: cython.longlong[::1], small: cython.const[cython.longlong][::1]) -> cython.int:
    """Take a child's sums from its parent's: the other child's are left."""
    i: cython.Py_ssize_t
    for i in range(large.shape[0]):
        large[i] -= small[i]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mixed(sums: cython.const[cython.longlong][::1], criterion: cython.int) -> cython.bint:
    """Whether a node may hold rows of several classes."""
    k: cython.Py_ssize_t
    seen: cython.int = 0
    for k in range(sums.shape[0]):
        if sums[k] != 0:
            seen += 1
    return criterion > ERROR or seen > 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _next(
    queue: cython.longlong[::1],
    n_waiting: cython.Py_ssize_t,
    reals: cython.const[cython.double][:, ::1],
) -> cython.Py_ssize_t:
    """Take the node that gains most out of the queue; the oldest of those that gain the same."""
    i: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    taken: cython.Py_ssize_t
    gain: cython.double
    limit: cython.double
    for i in range(1, n_waiting):
        gain = reals[queue[i], GAIN]
        if gain > reals[queue[best], GAIN] or (
            gain == reals[queue[best], GAIN] and queue[i] < queue[best]
        ):
            best = i
    limit = reals[queue[best], ROUNDED] - reals[queue[best], GAIN]
    for i in range(n_waiting):
        if -reals[queue[i], GAIN] <= limit and queue[i] < queue[best]:
            best = i
    taken = queue[best]
    queue[best] = queue[n_waiting - 1]
    return taken


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bound_children(
    node: cython.Py_ssize_t,
    left: cython.Py_ssize_t,
    way: cython.int,
    sums: cython.const[cython.longlong][:, :, ::1],
    criterion: cython.int,
    l2: cython.double,
    reals: cython.double[:, ::1],
) -> cython.int:
    """Part the values of the children of a constrained column in their middle."""
    low: cython.double = reals[node, LOW]
    high: cython.double = reals[node, HIGH]
    below: cython.double
    above: cython.double
    middle: cython.double
    reals[left, LOW] = low
    reals[left, HIGH] = high
    reals[left + 1, LOW] = low
    reals[left + 1, HIGH] = high
    if way != 0:
        below = bounded_value(sums[left, 0], criterion, l2, low, high)
        above = bounded_value(sums[left + 1, 0], criterion, l2, low, high)
        middle = 0.5 * below + 0.5 * above
        reals[left if way > 0 else left + 1, HIGH] = middle
        reals[left + 1 if way > 0 else left, LOW] = middle
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _settle(
    codes: cython.const[cython.uchar][:, ::1],
    skips: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    sampled: cython.bint,
    order: cython.const[cython.uint][::1],
    n_nodes: cython.Py_ssize_t,
    numbers: cython.longlong[:, ::1],
    reals: cython.double[:, ::1],
    ranges: cython.const[cython.longlong][:, :, ::1],
    goes_left: cython.uchar[:, ::1],
    leaves: cython.ushort[::1],
) -> cython.int:
    """Give leaves their numbers, write them at their rows, and count the rows of every node."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    feature: cython.Py_ssize_t
    whole: cython.bint
    n_left: cython.longlong
    n_leaves: cython.longlong = 0
    for node in range(n_nodes):
        if numbers[node, LEFT] < 0:
            numbers[node, LEAF] = n_leaves
            n_leaves += 1
        if sampled:
            reals[node, ROWS] = 0.0
    if sampled:  # rows left out of the tree's making reach a leaf too
        for s in range(starts.shape[0] - 1):
            for i in range(starts[s], starts[s + 1]):
                node = 0
                while numbers[node, LEFT] >= 0:
                    feature = numbers[node, FEATURE]
                    left = numbers[node, LEFT]
                    node = left if goes_left[node, codes[i + skips[s], feature]] else left + 1
                leaves[i] = numbers[node, LEAF]
                reals[node, ROWS] += 1.0
    else:
        for node in range(n_nodes):
            left = numbers[node, LEFT]
            whole = node == 0
            if left < 0 and numbers[node, SLOT] != UNDIVIDED:
                write_leaf(
                    order, whole, ranges[node, 0], ranges[node, 1], numbers[node, LEAF], leaves
                )
            elif left >= 0 and numbers[left, SLOT] == UNDIVIDED:
                n_left = 0
                for s in range(ranges.shape[2]):
                    n_left += write_split(
                        codes[skips[s] :],
                        numbers[node, FEATURE],
                        goes_left[node],
                        order,
                        whole,
                        ranges[node, 0, s : s + 1],
                        ranges[node, 1, s : s + 1],
                        numbers[left, LEAF],
                        numbers[left + 1, LEAF],
                        leaves,
                    )
                reals[left, ROWS] = n_left
                reals[left + 1, ROWS] = reals[node, ROWS] - n_left
    if sampled:
        for node in range(n_nodes - 1, -1, -1):  # children stand after their parents
            left = numbers[node, LEFT]
            if left >= 0:
                reals[node, ROWS] = reals[left, ROWS] + reals[left + 1, ROWS]
    for node in range(n_nodes):
        if numbers[node, LEFT] < 0:
            numbers[node, FEATURE] = NONE
            numbers[node, THRESHOLD] = NONE
            reals[node, GAIN] = 0.0
            goes_left[node, MISSING] = 0
    return 0


def grow_tree(
    codes: cython.const[cython.uchar][:, ::1],
    skips: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    sampled: cython.bint,
    order: cython.uint[::1],
    scratch: cython.uint[::1],
    leaves: cython.ushort[::1],
    kind: cython.int,
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    pairs: cython.const[cython.longlong][:, ::1],
    vectors: cython.const[cython.int][:, ::1],
    columns: cython.const[cython.longlong][:, ::1],
    apart: cython.bint,
    rules: Rules,
    heaviest: cython.double,
    max_depth: cython.longlong,
    max_leaves: cython.longlong,
    hists: cython.longlong[:, ::1],
    views: cython.const[cython.longlong][:, :, :, :],
    counts: cython.longlong[:, :, ::1],
    numbers: cython.longlong[:, ::1],
    reals: cython.double[:, ::1],
    sums: cython.longlong[:, :, ::1],
    ranges: cython.longlong[:, :, ::1],
    goes_left: cython.uchar[:, ::1],
    slots: cython.longlong[:, ::1],
    given: NodeSums,
    search: Search,
) -> int:
    """Grow a tree on the rows of one shard; return how many nodes it has.

    Parameters that no other kernel has:

    starts, ends : where segments begin, (S + 1,), and where the rows to learn from end, (S,); with
        `sampled` these rows are in `order`.
    kind : what is added up: 0 weights by class, 1 pairs, 2 vectors.
    columns : those to search, in every node its own row or one row for all.
    heaviest : what a row weighs at most; negative: not known, and rows are always counted.
    views : `hists` as (n_slots, d, 256, C); `counts` has slots where `min_count` > 1.
    slots : scratch space (3, n_slots or more): slots that are free, nodes that wait, and whether
        the rows of a slot were counted.
    given, search : scratch space for the search of a node.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    s: cython.Py_ssize_t
    t: cython.Py_ssize_t
    node: cython.Py_ssize_t = 0
    left: cython.Py_ssize_t = 0
    small: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    spare: cython.Py_ssize_t
    row: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t = 1
    n_waiting: cython.Py_ssize_t = 0
    n_free: cython.Py_ssize_t = hists.shape[0]
    n_leaves: cython.longlong = 1
    n_channels: cython.Py_ssize_t = sums.shape[2]
    criterion: cython.int = rules.criterion
    min_count: cython.longlong = rules.min_count
    counting: cython.bint = min_count > 1
    lazily: cython.bint = counting and heaviest >= 0.0
    constrained: cython.bint = rules.bounded
    own: cython.bint = columns.shape[0] > 1
    whole: cython.bint
    found: cython.bint
    settled: cython.bint
    fits: cython.bint
    first: cython.bint
    second: cython.bint
    todo: cython.Py_ssize_t
    last: cython.Py_ssize_t
    n_rows: cython.longlong
    n_left: cython.longlong
    with cython.nogil:
        for i in range(n_free):
            slots[0, i] = n_free - 1 - i
        for s in range(ends.shape[0]):
            ranges[0, 0, s] = starts[s]
            ranges[0, 1, s] = ends[s]
        n_free -= 1
        slot = slots[0, n_free]
        numbers[0, LEFT] = NONE
        numbers[0, DEPTH] = 0
        numbers[0, SLOT] = slot
        reals[0, LOW] = -INFINITE
        reals[0, HIGH] = INFINITE
        reals[0, ROWS] = _size(ranges[0])
        _add_up(
            codes,
            skips,
            order,
            not sampled,
            ranges[0],
            kind,
            weights,
            factors,
            scales,
            pairs,
            vectors,
            apart,
            columns[0],
            hists[slot],
        )
        for k in range(n_channels):
            sums[0, 0, k] = 0
            for t in range(256):
                sums[0, 0, k] += views[slot, 0, t, k]
        slots[2, slot] = 0
        if counting and not lazily and not apart:
            _count(codes, skips, order, not sampled, ranges[0], False, columns[0], counts[slot])
            slots[2, slot] = 1
        # The nodes to look at: the root, then the children of every node that is split.
        todo = 0 if max_depth > 0 and max_leaves > 1 else 1
        last = 1
        while True:
            while todo < last:
                node = todo
                todo += 1
                n_rows = cython.cast(cython.longlong, reals[node, ROWS])
                slot = numbers[node, SLOT]
                if slot < 0:
                    continue
                row = node if own else 0
                whole = node == 0 and not sampled
                if apart:
                    slot = 0
                    if node > 0:
                        _add_up(
                            codes,
                            skips,
                            order,
                            whole,
                            ranges[node],
                            kind,
                            weights,
                            factors,
                            scales,
                            pairs,
                            vectors,
                            True,
                            columns[row],
                            hists[0],
                        )
                    slots[2, 0] = 0
                settled = False
                found = False
                given.hist = views[slot]
                given.counts = counts[0, :0]
                given.columns = columns[row]
                given.drawn = apart
                given.sums = sums[node, 0]
                given.n_rows = n_rows
                given.low = reals[node, LOW]
                given.high = reals[node, HIGH]
                search.left_sums = sums[node, 1]
                search.goes_left = goes_left[node]
                if not counting or (lazily and n_rows > FEW * min_count):
                    found = search_node(rules, given, search)
                    settled = True
                    if counting and found:
                        for k in range(n_channels):
                            search.right[k] = sums[node, 0, k] - sums[node, 1, k]
                        settled = (
                            weigh(sums[node, 1], criterion) >= min_count * heaviest
                            and weigh(search.right, criterion) >= min_count * heaviest
                        )
                if not settled:
                    if not slots[2, slot]:
                        _count(
                            codes,
                            skips,
                            order,
                            whole,
                            ranges[node],
                            apart,
                            columns[row],
                            counts[slot],
                        )
                        slots[2, slot] = 1
                    given.counts = counts[slot]
                    found = search_node(rules, given, search)
                if found:
                    reals[node, GAIN] = search.gain
                    numbers[node, FEATURE] = search.feature
                    numbers[node, THRESHOLD] = search.threshold
                    reals[node, ROUNDED] = search.rounding
                    slots[1, n_waiting] = node
                    n_waiting += 1
                elif not apart:
                    slots[0, n_free] = slot
                    n_free += 1
            if n_waiting == 0 or n_leaves >= max_leaves:
                break
            # Split the node that gains most.
            node = _next(slots[1], n_waiting, reals)
            n_waiting -= 1
            n_leaves += 1
            left = n_nodes
            n_nodes += 2
            numbers[node, LEFT] = left
            slot = numbers[node, SLOT]
            for i in range(left, left + 2):
                numbers[i, LEFT] = NONE
                numbers[i, DEPTH] = numbers[node, DEPTH] + 1
                numbers[i, SLOT] = UNDIVIDED
                reals[i, LOW] = reals[node, LOW]
                reals[i, HIGH] = reals[node, HIGH]
            for k in range(n_channels):
                sums[left, 0, k] = sums[node, 1, k]
                sums[left + 1, 0, k] = sums[node, 0, k] - sums[node, 1, k]
            if constrained:
                _bound_children(
                    node,
                    left,
                    rules.monotone[numbers[node, FEATURE]],
                    sums,
                    criterion,
                    rules.l2,
                    reals,
                )
            todo = left
            last = left
            if numbers[left, DEPTH] < max_depth and n_leaves < max_leaves:
                whole = node == 0 and not sampled
                for s in range(ends.shape[0]):
                    part_rows(
                        codes[skips[s] :],
                        numbers[node, FEATURE],
                        goes_left[node],
                        order,
                        scratch,
                        whole,
                        ranges[node, 0, s : s + 1],
                        ranges[node, 1, s : s + 1],
                        ranges[left, 1, s : s + 1],
                    )
                    ranges[left, 0, s] = ranges[node, 0, s]
                    ranges[left + 1, 0, s] = ranges[left, 1, s]
                    ranges[left + 1, 1, s] = ranges[node, 1, s]
                n_left = _size(ranges[left])
                n_rows = cython.cast(cython.longlong, reals[node, ROWS])
                reals[left, ROWS] = n_left
                reals[left + 1, ROWS] = n_rows - n_left
                first = n_left >= 2 * min_count and _mixed(sums[left, 0], criterion)
                second = n_rows - n_left >= 2 * min_count and _mixed(sums[left + 1, 0], criterion)
                numbers[left, SLOT] = NONE
                numbers[left + 1, SLOT] = NONE
                last = left + 2
                if apart:
                    numbers[left, SLOT] = 0 if first else NONE
                    numbers[left + 1, SLOT] = 0 if second else NONE
                elif first or second:
                    # The smaller child is added up, and taken from its parent's sums.
                    small = left if 2 * n_left <= n_rows else left + 1
                    n_free -= 1
                    spare = slots[0, n_free]
                    _add_up(
                        codes,
                        skips,
                        order,
                        False,
                        ranges[small],
                        kind,
                        weights,
                        factors,
                        scales,
                        pairs,
                        vectors,
                        False,
                        columns[0],
                        hists[spare],
                    )
                    fits = second if small == left else first  # the larger child is searched too
                    if fits:
                        _subtract(hists[slot], hists[spare])
                    slots[2, spare] = slots[2, slot]
                    if slots[2, slot]:
                        _count(
                            codes,
                            skips,
                            order,
                            False,
                            ranges[small],
                            False,
                            columns[0],
                            counts[spare],
                        )
                        for i in range(counts.shape[1] if fits else 0):
                            _subtract(counts[slot, i], counts[spare, i])
                    numbers[left, SLOT] = (spare if small == left else slot) if first else NONE
                    numbers[left + 1, SLOT] = (slot if small == left else spare) if second else NONE
                    if not (first if small == left else second):
                        slots[0, n_free] = spare
                        n_free += 1
                    if not fits:
                        slots[0, n_free] = slot
                        n_free += 1
                else:
                    slots[0, n_free] = slot
                    n_free += 1
            elif not apart:
                slots[0, n_free] = slot
                n_free += 1
        _settle(
            codes,
            skips,
            starts,
            sampled,
            order,
            n_nodes,
            numbers,
            reals,
            ranges,
            goes_left,
            leaves,
        )
    return n_nodes
