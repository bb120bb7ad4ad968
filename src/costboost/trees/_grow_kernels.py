"""Growing a whole tree from the rows of one shard in one call.

`grower.Grower` sends messages, a node at a time. This is the same algorithm, with the same loops
over rows (`_shard_kernels`) and the same search (`_split_kernels`), and gives the same tree: on a
small table a message takes longer than the work in a node.

A node that waits to be split keeps its histogram in a slot. Once split, its slot goes to its larger
child, as the parent's sums less the smaller child's: exact in integers. Where every node draws
columns of its own (`drawn_only`), histograms are made of these alone, all in one slot, and none is
kept.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._grow_data_kernels import (
        NONE,
        UNDIVIDED,
        ShardRows,
        TreeScratch,
    )
    from cython.cimports.costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from cython.cimports.costboost.trees._search_kernels import (
        MISSING,
        NodeSums,
        Rules,
        SplitSearch,
    )
    from cython.cimports.costboost.trees._shard_kernels import (
        add_up,
        count_rows,
        divide,
        find_leaves,
        place_root,
        write_leaves,
    )
    from cython.cimports.costboost.trees._split_kernels import search_node
else:
    from costboost.trees._grow_data_kernels import NONE, UNDIVIDED, ShardRows, TreeScratch
    from costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from costboost.trees._search_kernels import MISSING, NodeSums, Rules, SplitSearch
    from costboost.trees._shard_kernels import (
        add_up,
        count_rows,
        divide,
        find_leaves,
        place_root,
        write_leaves,
    )
    from costboost.trees._split_kernels import search_node

INFINITE = cython.declare(cython.double, float("inf"))
# Least leaves in a node, below which its rows are counted without asking; as in the grower.
FEW = cython.declare(cython.longlong, 64)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _subtract(large: cython.longlong[::1], small: cython.const[cython.longlong][::1]) -> cython.int:
    """Subtract the second array from the first, in place."""
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
    # Only sums of class weights can tell that a node is pure; all others may be split on.
    for k in range(sums.shape[0]):
        if sums[k] != 0:
            seen += 1
    return criterion > ERROR or seen > 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _surely_counts(
    rules: Rules, node: NodeSums, search: SplitSearch, heaviest: cython.double
) -> cython.bint:
    """Whether the children's weights alone prove that both have `min_count` rows."""
    k: cython.Py_ssize_t
    least: cython.double = rules.min_count * heaviest
    # No row weighs more than `heaviest`: a side that weighs n times as much has n rows at least.
    for k in range(node.sums.shape[0]):
        search.right[k] = node.sums[k] - search.left_sums[k]
    return (
        weigh(search.left_sums, rules.criterion) >= least
        and weigh(search.right, rules.criterion) >= least
    )


@cython.final
@cython.cclass
class Growth:
    """One tree being grown, best gain first.

    Attributes
    ----------
    rules, rows, tree : limits of splits, the rows to learn from, and the nodes
    columns : columns to search, (N, width), or (1, width) for the same in all nodes
    drawn_only : whether histograms are made of these columns only
    heaviest : the largest weight of a row; negative: unknown, and rows are always counted
    counting, lazily : whether rows are counted, and then only where a split may leave too few
    max_depth, max_leaves : limits of the tree
    n_nodes, n_leaves, n_waiting, n_free : numbers of nodes, leaves, waiting nodes, free slots
    """

    rules: Rules
    rows: ShardRows
    tree: TreeScratch
    columns: cython.const[cython.longlong][:, ::1]
    drawn_only: cython.bint
    heaviest: cython.double
    counting: cython.bint
    lazily: cython.bint
    max_depth: cython.longlong
    max_leaves: cython.longlong
    n_nodes: cython.Py_ssize_t
    n_leaves: cython.longlong
    n_waiting: cython.Py_ssize_t
    n_free: cython.Py_ssize_t

    def __init__(
        self,
        rules: Rules,
        rows: ShardRows,
        tree: TreeScratch,
        columns: cython.const[cython.longlong][:, ::1],
        drawn_only: cython.bint,
        heaviest: cython.double,
        max_depth: cython.longlong,
        max_leaves: cython.longlong,
    ):
        self.rules = rules
        self.rows = rows
        self.tree = tree
        self.columns = columns
        self.drawn_only = drawn_only
        self.heaviest = heaviest
        self.counting = rules.min_count > 1
        # Without the largest weight of a row weights prove nothing, and every node is counted.
        self.lazily = self.counting and heaviest >= 0.0
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.n_nodes = 1
        self.n_leaves = 1
        self.n_waiting = 0
        self.n_free = 0

    def grow(self) -> int:
        """Grow the tree in `tree`; return the number of nodes."""
        # Nothing below allocates or asks Python: other threads go on while a tree grows.
        with cython.nogil:
            self._start()
            if self.max_depth > 0 and self.max_leaves > 1:
                self._consider(0)
            while self.n_waiting > 0 and self.n_leaves < self.max_leaves:
                self._split(self._next())
            self._settle()
        return self.n_nodes

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _take_slot(self) -> cython.Py_ssize_t:
        """Take a free slot."""
        # There always is one: `plan_size` makes one for each node that may wait, and one more.
        self.n_free -= 1
        return self.tree.free[self.n_free]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _release_slot(self, slot: cython.Py_ssize_t) -> cython.int:
        """Free a slot; with `drawn_only` there is one slot, used by every node in turn."""
        if not self.drawn_only:
            self.tree.free[self.n_free] = slot
            self.n_free += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _row(self, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the row of `columns` for a node."""
        return node if self.columns.shape[0] > 1 else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_up(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.int:
        """Fill a slot with the histogram of a node; its rows are not counted yet."""
        add_up(self.rows, self.tree, node, slot, self.drawn_only, self.columns[self._row(node)])
        self.tree.counted[slot] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _count(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.int:
        """Count the rows of a node whose histogram is in a slot."""
        count_rows(self.rows, self.tree, node, slot, self.drawn_only, self.columns[self._row(node)])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _start(self) -> cython.int:
        """Make the root and its histogram."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        self.n_free = self.tree.hists.shape[0]
        # Filled in reverse, so that slots are taken in the order 0, 1, 2, ...
        for i in range(self.n_free):
            self.tree.free[i] = self.n_free - 1 - i
        slot = self._take_slot()
        self.tree.left[0] = NONE
        self.tree.depth[0] = 0
        self.tree.slot[0] = slot
        self.tree.low[0] = -INFINITE
        self.tree.high[0] = INFINITE
        place_root(self.rows, self.tree)
        self._add_up(0, slot)
        for k in range(self.tree.sums.shape[2]):
            # The root's sums are those of any column: every row has one code in it.
            self.tree.sums[0, 0, k] = 0
            for i in range(256):
                self.tree.sums[0, 0, k] += self.tree.views[slot, 0, i, k]
        if self.counting and not self.lazily and not self.drawn_only:
            self._count(0, slot)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _consider(self, node: cython.Py_ssize_t) -> cython.int:
        """Search the node's best split; queue the node if there is one, else free its slot."""
        slot: cython.Py_ssize_t = self.tree.slot[node]
        # A leaf for want of rows or classes: `_hand_down` gave it no slot.
        if slot < 0:
            return 0
        # Sums of a parent's columns are of no use to a child with columns of its own. The root has
        # been added up by `_start`.
        if self.drawn_only and node > 0:
            self._add_up(node, slot)
        if not self._search(node, slot):
            return self._release_slot(slot)
        self.tree.gain[node] = self.tree.search.gain
        self.tree.rounding[node] = self.tree.search.rounding
        self.tree.feature[node] = self.tree.search.feature
        self.tree.threshold[node] = self.tree.search.threshold
        self.tree.waiting[self.n_waiting] = node
        self.n_waiting += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _search(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.bint:
        """Search the histogram in a slot; True if a split was found, left in `tree.search`."""
        found: cython.bint
        n_rows: cython.longlong = self.tree.n_rows[node]
        self.tree.node.hist = self.tree.views[slot]
        self.tree.node.columns = self.columns[self._row(node)]
        self.tree.node.drawn = self.drawn_only
        self.tree.node.sums = self.tree.sums[node, 0]
        self.tree.node.n_rows = n_rows
        self.tree.node.low = self.tree.low[node]
        self.tree.node.high = self.tree.high[node]
        # The search writes to the place of the node itself: nothing is copied when it is split.
        self.tree.search.left_sums = self.tree.sums[node, 1]
        self.tree.search.goes_left = self.tree.goes_left[node]
        # First without counts: a large node's split seldom leaves too few rows, and the weights can
        # prove that it does not.
        if not self.counting or (self.lazily and n_rows > FEW * self.rules.min_count):
            self.tree.node.counts = self.tree.counts[0, :0]
            found = search_node(self.rules, self.tree.node, self.tree.search)
            if (
                not self.counting
                or not found
                or _surely_counts(self.rules, self.tree.node, self.tree.search, self.heaviest)
            ):
                return found
        if not self.tree.counted[slot]:
            self._count(node, slot)
        self.tree.node.counts = self.tree.counts[slot]
        return search_node(self.rules, self.tree.node, self.tree.search)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _next(self) -> cython.Py_ssize_t:
        """Dequeue the node of largest gain; of gains equal but for rounding the oldest."""
        i: cython.Py_ssize_t
        node: cython.Py_ssize_t
        place: cython.Py_ssize_t = 0
        best: cython.Py_ssize_t = self.tree.waiting[0]
        limit: cython.double
        # A scan in place of a heap: trees of small tables have few nodes that wait.
        for i in range(1, self.n_waiting):
            node = self.tree.waiting[i]
            if self.tree.gain[node] > self.tree.gain[best] or (
                self.tree.gain[node] == self.tree.gain[best] and node < best
            ):
                best = node
                place = i
        # Gains that differ by rounding alone count as equal; of these the oldest node is taken.
        limit = self.tree.rounding[best] - self.tree.gain[best]
        for i in range(self.n_waiting):
            node = self.tree.waiting[i]
            if -self.tree.gain[node] <= limit and node < best:
                best = node
                place = i
        # The last one fills the gap; their order says nothing.
        self.n_waiting -= 1
        self.tree.waiting[place] = self.tree.waiting[self.n_waiting]
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _split(self, node: cython.Py_ssize_t) -> cython.int:
        """Split a node; search its children if they may be split in turn."""
        left: cython.Py_ssize_t = self.n_nodes
        self.n_nodes += 2
        self.n_leaves += 1
        # Rows are divided only where children may be split; those of leaves stay in the parent's
        # range, and `_settle` assigns them.
        self._make_children(node, left)
        if self.tree.depth[left] < self.max_depth and self.n_leaves < self.max_leaves:
            divide(self.rows, self.tree, node)
            self._hand_down(node, left)
            self._consider(left)
            self._consider(left + 1)
        else:
            self._release_slot(self.tree.slot[node])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _make_children(self, node: cython.Py_ssize_t, left: cython.Py_ssize_t) -> cython.int:
        """Create the children of a node; their rows are not divided yet."""
        k: cython.Py_ssize_t
        child: cython.Py_ssize_t
        self.tree.left[node] = left
        for child in range(left, left + 2):
            self.tree.left[child] = NONE
            self.tree.depth[child] = self.tree.depth[node] + 1
            self.tree.slot[child] = UNDIVIDED
            self.tree.low[child] = self.tree.low[node]
            self.tree.high[child] = self.tree.high[node]
        # The right child has what the left one leaves, exact in integers.
        for k in range(self.tree.sums.shape[2]):
            self.tree.sums[left, 0, k] = self.tree.sums[node, 1, k]
            self.tree.sums[left + 1, 0, k] = self.tree.sums[node, 0, k] - self.tree.sums[node, 1, k]
        if self.rules.bounded and self.rules.monotone[self.tree.feature[node]] != 0:
            self._bound(left, self.rules.monotone[self.tree.feature[node]])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _value(self, node: cython.Py_ssize_t) -> cython.double:
        """Return the value of a node, kept within its bounds."""
        return bounded_value(
            self.tree.sums[node, 0],
            self.rules.criterion,
            self.rules.l2,
            self.tree.low[node],
            self.tree.high[node],
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _bound(self, left: cython.Py_ssize_t, way: cython.int) -> cython.int:
        """Bound the values of both children of a constrained split by their mean."""
        # Whatever grows below a child keeps to its side of the middle, so that the constraint holds
        # for all pairs of leaves.
        middle: cython.double = 0.5 * self._value(left) + 0.5 * self._value(left + 1)
        self.tree.high[left if way > 0 else left + 1] = middle
        self.tree.low[left + 1 if way > 0 else left] = middle
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _may_gain(self, node: cython.Py_ssize_t) -> cython.bint:
        """Whether a node has rows enough, and classes enough, to be worth a search."""
        return self.tree.n_rows[node] >= 2 * self.rules.min_count and _mixed(
            self.tree.sums[node, 0], self.rules.criterion
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _subtract(self, slot: cython.Py_ssize_t, child: cython.Py_ssize_t) -> cython.int:
        """Subtract a child's histogram from its parent's, which leaves the other child's."""
        j: cython.Py_ssize_t
        _subtract(self.tree.hists[slot], self.tree.hists[child])
        if self.tree.counted[slot]:
            for j in range(self.tree.counts.shape[1]):
                _subtract(self.tree.counts[slot, j], self.tree.counts[child, j])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hand_down(self, node: cython.Py_ssize_t, left: cython.Py_ssize_t) -> cython.int:
        """Give slots to the children that are worth a search: the larger one gets its parent's."""
        # Of children of one size the left one is summed, as in `Shard.divide_node`.
        is_left: cython.bint = 2 * self.tree.n_rows[left] <= self.tree.n_rows[node]
        small: cython.Py_ssize_t = left if is_left else left + 1
        large: cython.Py_ssize_t = left + 1 if is_left else left
        slot: cython.Py_ssize_t = self.tree.slot[node]
        # With drawn columns both children use the only slot, one after the other.
        spare: cython.Py_ssize_t = slot
        small_may: cython.bint = self._may_gain(small)
        large_may: cython.bint = self._may_gain(large)
        if not self.drawn_only and (small_may or large_may):
            # The smaller child is added up, and taken from its parent's sums.
            spare = self._take_slot()
            self._add_up(small, spare)
            if self.tree.counted[slot]:
                self._count(small, spare)
            if large_may:
                self._subtract(slot, spare)
            if not small_may:
                self._release_slot(spare)
        if not large_may:
            self._release_slot(slot)
        self.tree.slot[small] = spare if small_may else NONE
        self.tree.slot[large] = slot if large_may else NONE
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _settle(self) -> cython.int:
        """Give leaves their numbers, assign every row to its leaf, and count the rows of nodes."""
        node: cython.Py_ssize_t
        n_leaves: cython.longlong = 0
        # In the order of nodes, as in the grower.
        for node in range(self.n_nodes):
            if self.tree.left[node] < 0:
                self.tree.leaf[node] = n_leaves
                n_leaves += 1
        if self.rows.sampled:
            find_leaves(self.rows, self.tree, self.n_nodes)
        else:
            write_leaves(self.rows, self.tree, self.n_nodes)
        # A search may have left a split in a node that became a leaf.
        for node in range(self.n_nodes):
            if self.tree.left[node] < 0:
                self.tree.feature[node] = NONE
                self.tree.threshold[node] = NONE
                self.tree.gain[node] = 0.0
                self.tree.goes_left[node, MISSING] = 0
        return 0
