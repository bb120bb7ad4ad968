"""The arrays from which and in which a whole tree is grown in one call: data, and no loops.

`ShardRows` are the rows of one shard and the weights that are added up; `TreeScratch` holds the
nodes while a tree grows, and in the end the tree. Nodes are places in its arrays, node 0 the root,
children side by side.
Compiled, attributes are C's and are read without the GIL; interpreted, these are plain classes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._search_kernels import NodeSums, SplitSearch
else:
    from costboost.trees._search_kernels import NodeSums, SplitSearch

# In place of a slot: of a node that is not searched, and of a child whose rows are still among
# those of its parent. `NONE` also stands for no child.
NONE = cython.declare(cython.longlong, -1)
UNDIVIDED = cython.declare(cython.longlong, -2)


@cython.final
@cython.cclass
class ShardRows:
    """The rows of one shard.

    Attributes
    ----------
    codes, order, scratch : as in `_tree_kernels`
    skips : how much further in the codes than elsewhere a segment lies, (S,)
    starts, ends : where segments begin, (S + 1,), and where the rows to learn from end, (S,)
    sampled : whether `order` holds the rows to learn from; else they are all of them
    leaves : the leaf of every row, which is written
    kind : what is added up: 0 weights by class, 1 pairs, 2 vectors
    weights, factors, scales, pairs, vectors : what is added up; see `shards.grid`
    """

    codes: cython.const[cython.uchar][:, ::1]
    skips: cython.const[cython.longlong][::1]
    starts: cython.const[cython.longlong][::1]
    ends: cython.const[cython.longlong][::1]
    sampled: cython.bint
    order: cython.uint[::1]
    scratch: cython.uint[::1]
    leaves: cython.ushort[::1]
    kind: cython.int
    weights: cython.const[cython.double][::1]
    factors: cython.const[cython.double][::1]
    scales: cython.const[cython.double][::1]
    pairs: cython.const[cython.longlong][:, ::1]
    vectors: cython.const[cython.int][:, ::1]

    def __init__(
        self,
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
    ):
        self.codes = codes
        self.skips = skips
        self.starts = starts
        self.ends = ends
        self.sampled = sampled
        self.order = order
        self.scratch = scratch
        self.leaves = leaves
        self.kind = kind
        self.weights = weights
        self.factors = factors
        self.scales = scales
        self.pairs = pairs
        self.vectors = vectors


@cython.final
@cython.cclass
class TreeScratch:
    """The nodes of a tree while it grows, and the histograms of those that wait to be split.

    A node that waits to be split keeps its histogram in a slot of `hists`, its counts of rows in
    the same slot of `counts`.

    Attributes
    ----------
    feature, threshold, left, depth : (N,), of every node
    slot : (N,), where its histogram is; `NONE` if it is not looked at, and `UNDIVIDED` if its rows
        are still among its parent's
    leaf : (N,), the number of a leaf
    n_rows : (N,)
    gain, rounding : (N,), of its split
    low, high : (N,), where its value may lie
    sums : (N, 2, C), its own, and those of its left child
    ranges : (N, 2, S), where its rows begin and end in `order`, by segment
    goes_left : (N, 256)
    hists : (n_slots, ...), and seen as (n_slots, d, 256, C) in `views`
    counts : (n_slots, d, 256), or (1, 0, 256) where rows are not counted
    counted : (n_slots,), whether the rows of a slot were counted
    free : (n_slots,), slots that are free
    waiting : nodes that wait to be split
    node, search : what a search is given, and what it answers
    """

    feature: cython.longlong[::1]
    threshold: cython.longlong[::1]
    left: cython.longlong[::1]
    depth: cython.longlong[::1]
    slot: cython.longlong[::1]
    leaf: cython.longlong[::1]
    n_rows: cython.longlong[::1]
    gain: cython.double[::1]
    rounding: cython.double[::1]
    low: cython.double[::1]
    high: cython.double[::1]
    sums: cython.longlong[:, :, ::1]
    ranges: cython.longlong[:, :, ::1]
    goes_left: cython.uchar[:, ::1]
    hists: cython.longlong[:, ::1]
    views: cython.const[cython.longlong][:, :, :, :]
    counts: cython.longlong[:, :, ::1]
    counted: cython.longlong[::1]
    free: cython.longlong[::1]
    waiting: cython.longlong[::1]
    node: NodeSums
    search: SplitSearch

    def __init__(
        self,
        numbers: cython.longlong[:, ::1],
        reals: cython.double[:, ::1],
        sums: cython.longlong[:, :, ::1],
        ranges: cython.longlong[:, :, ::1],
        goes_left: cython.uchar[:, ::1],
        hists: cython.longlong[:, ::1],
        views: cython.const[cython.longlong][:, :, :, :],
        counts: cython.longlong[:, :, ::1],
        slots: cython.longlong[:, ::1],
        node: NodeSums,
        search: SplitSearch,
    ):
        # Rows of a few arrays: `trees.grower` copies many nodes at a time out of them, in this
        # order.
        self.feature = numbers[0]
        self.threshold = numbers[1]
        self.left = numbers[2]
        self.depth = numbers[3]
        self.n_rows = numbers[4]
        self.slot = numbers[5]
        self.leaf = numbers[6]
        self.gain = reals[0]
        self.low = reals[1]
        self.high = reals[2]
        self.rounding = reals[3]
        self.sums = sums
        self.ranges = ranges
        self.goes_left = goes_left
        self.hists = hists
        self.views = views
        self.counts = counts
        self.counted = slots[0]
        self.free = slots[1]
        self.waiting = slots[2]
        self.node = node
        self.search = search
