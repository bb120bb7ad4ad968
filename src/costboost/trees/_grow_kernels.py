"""A whole tree from the rows of one shard, in one call.

What `grower.Grower` does by messages, a node at a time, with the same loops over rows
(`_shard_kernels`) and the same search (`_split_kernels`), and to the same tree. A small table has
little work in a node, less than it takes to ask for it.

A node that waits to be split keeps its histogram in a slot. Once split, its slot goes to its larger
child: less the smaller child's, which integers make exact. Where nodes are searched for columns of
their own (`apart`), they are added up for these alone, all in one slot, and nothing is kept.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._room_kernels import NONE, UNDIVIDED, Room, ShardRows
    from cython.cimports.costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from cython.cimports.costboost.trees._search_kernels import MISSING, NodeSums, Rules, Search
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
    from costboost.trees._room_kernels import NONE, UNDIVIDED, Room, ShardRows
    from costboost.trees._score_kernels import ERROR, bounded_value, weigh
    from costboost.trees._search_kernels import MISSING, NodeSums, Rules, Search
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
    """Take the second array from the first."""
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
def _surely_counts(
    rules: Rules, node: NodeSums, search: Search, heaviest: cython.double
) -> cython.bint:
    """Whether both children have `min_count` rows for certain, by their weight alone."""
    k: cython.Py_ssize_t
    least: cython.double = rules.min_count * heaviest
    for k in range(node.sums.shape[0]):
        search.right[k] = node.sums[k] - search.left_sums[k]
    return (
        weigh(search.left_sums, rules.criterion) >= least
        and weigh(search.right, rules.criterion) >= least
    )


@cython.final
@cython.cclass
class Growth:
    """A tree that grows.

    Attributes
    ----------
    rules, rows, room : what it obeys, what it is made from, and where it grows
    columns : those to search, in every node its own row or one row for all
    apart : whether nodes are added up for these columns only
    heaviest : what a row weighs at most; negative: not known, and rows are always counted
    counting, lazily : whether rows are counted, and then only where a split may leave too few
    max_depth, max_leaves : how far it may grow
    n_nodes, n_leaves, n_waiting, n_free : how many nodes, leaves, nodes that wait, and free slots
    """

    rules: Rules
    rows: ShardRows
    room: Room
    columns: cython.const[cython.longlong][:, ::1]
    apart: cython.bint
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
        room: Room,
        columns: cython.const[cython.longlong][:, ::1],
        apart: cython.bint,
        heaviest: cython.double,
        max_depth: cython.longlong,
        max_leaves: cython.longlong,
    ):
        self.rules = rules
        self.rows = rows
        self.room = room
        self.columns = columns
        self.apart = apart
        self.heaviest = heaviest
        self.counting = rules.min_count > 1
        self.lazily = self.counting and heaviest >= 0.0
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.n_nodes = 1
        self.n_leaves = 1
        self.n_waiting = 0
        self.n_free = 0

    def grow(self) -> int:
        """Grow the tree; return how many nodes it has."""
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
        """Take a slot that is free."""
        self.n_free -= 1
        return self.room.free[self.n_free]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _give_back(self, slot: cython.Py_ssize_t) -> cython.int:
        """Let go of a slot; the only one that nodes have which are added up apart stays."""
        if not self.apart:
            self.room.free[self.n_free] = slot
            self.n_free += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _row(self, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return where the columns of a node stand."""
        return node if self.columns.shape[0] > 1 else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_up(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.int:
        """Fill a slot with the histogram of a node; its rows are not counted yet."""
        add_up(self.rows, self.room, node, slot, self.apart, self.columns[self._row(node)])
        self.room.counted[slot] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _count(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.int:
        """Count the rows of a node whose histogram is in a slot."""
        count_rows(self.rows, self.room, node, slot, self.apart, self.columns[self._row(node)])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _start(self) -> cython.int:
        """Make the root."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        self.n_free = self.room.hists.shape[0]
        for i in range(self.n_free):
            self.room.free[i] = self.n_free - 1 - i
        slot = self._take_slot()
        self.room.left[0] = NONE
        self.room.depth[0] = 0
        self.room.slot[0] = slot
        self.room.low[0] = -INFINITE
        self.room.high[0] = INFINITE
        place_root(self.rows, self.room)
        self._add_up(0, slot)
        for k in range(self.room.sums.shape[2]):
            self.room.sums[0, 0, k] = 0
            for i in range(256):
                self.room.sums[0, 0, k] += self.room.views[slot, 0, i, k]
        if self.counting and not self.lazily and not self.apart:
            self._count(0, slot)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _consider(self, node: cython.Py_ssize_t) -> cython.int:
        """Look for the node's best split; let the node wait if there is one."""
        slot: cython.Py_ssize_t = self.room.slot[node]
        if slot < 0:
            return 0
        if self.apart and node > 0:
            self._add_up(node, slot)
        if not self._search(node, slot):
            return self._give_back(slot)
        self.room.gain[node] = self.room.search.gain
        self.room.rounding[node] = self.room.search.rounding
        self.room.feature[node] = self.room.search.feature
        self.room.threshold[node] = self.room.search.threshold
        self.room.waiting[self.n_waiting] = node
        self.n_waiting += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _search(self, node: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.bint:
        """Search the histogram in a slot for the node's best split; whether there is one."""
        found: cython.bint
        n_rows: cython.longlong = self.room.n_rows[node]
        self.room.node.hist = self.room.views[slot]
        self.room.node.columns = self.columns[self._row(node)]
        self.room.node.drawn = self.apart
        self.room.node.sums = self.room.sums[node, 0]
        self.room.node.n_rows = n_rows
        self.room.node.low = self.room.low[node]
        self.room.node.high = self.room.high[node]
        self.room.search.left_sums = self.room.sums[node, 1]
        self.room.search.goes_left = self.room.goes_left[node]
        if not self.counting or (self.lazily and n_rows > FEW * self.rules.min_count):
            self.room.node.counts = self.room.counts[0, :0]
            found = search_node(self.rules, self.room.node, self.room.search)
            if (
                not self.counting
                or not found
                or _surely_counts(self.rules, self.room.node, self.room.search, self.heaviest)
            ):
                return found
        if not self.room.counted[slot]:
            self._count(node, slot)
        self.room.node.counts = self.room.counts[slot]
        return search_node(self.rules, self.room.node, self.room.search)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _next(self) -> cython.Py_ssize_t:
        """Take the node that gains most; the oldest of those that gain the same."""
        i: cython.Py_ssize_t
        node: cython.Py_ssize_t
        place: cython.Py_ssize_t = 0
        best: cython.Py_ssize_t = self.room.waiting[0]
        limit: cython.double
        for i in range(1, self.n_waiting):
            node = self.room.waiting[i]
            if self.room.gain[node] > self.room.gain[best] or (
                self.room.gain[node] == self.room.gain[best] and node < best
            ):
                best = node
                place = i
        limit = self.room.rounding[best] - self.room.gain[best]
        for i in range(self.n_waiting):
            node = self.room.waiting[i]
            if -self.room.gain[node] <= limit and node < best:
                best = node
                place = i
        self.n_waiting -= 1
        self.room.waiting[place] = self.room.waiting[self.n_waiting]
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _split(self, node: cython.Py_ssize_t) -> cython.int:
        """Make the node's split; look at its children if they may be split in turn."""
        left: cython.Py_ssize_t = self.n_nodes
        self.n_nodes += 2
        self.n_leaves += 1
        self._make_children(node, left)
        if self.room.depth[left] < self.max_depth and self.n_leaves < self.max_leaves:
            divide(self.rows, self.room, node)
            self._hand_down(node, left)
            self._consider(left)
            self._consider(left + 1)
        else:
            self._give_back(self.room.slot[node])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _make_children(self, node: cython.Py_ssize_t, left: cython.Py_ssize_t) -> cython.int:
        """Make the children of a node; their rows are still its own."""
        k: cython.Py_ssize_t
        child: cython.Py_ssize_t
        self.room.left[node] = left
        for child in range(left, left + 2):
            self.room.left[child] = NONE
            self.room.depth[child] = self.room.depth[node] + 1
            self.room.slot[child] = UNDIVIDED
            self.room.low[child] = self.room.low[node]
            self.room.high[child] = self.room.high[node]
        for k in range(self.room.sums.shape[2]):
            self.room.sums[left, 0, k] = self.room.sums[node, 1, k]
            self.room.sums[left + 1, 0, k] = self.room.sums[node, 0, k] - self.room.sums[node, 1, k]
        if self.rules.bounded and self.rules.monotone[self.room.feature[node]] != 0:
            self._bound(left, self.rules.monotone[self.room.feature[node]])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _value(self, node: cython.Py_ssize_t) -> cython.double:
        """Return the value of a node, kept within its bounds."""
        return bounded_value(
            self.room.sums[node, 0],
            self.rules.criterion,
            self.rules.l2,
            self.room.low[node],
            self.room.high[node],
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _bound(self, left: cython.Py_ssize_t, way: cython.int) -> cython.int:
        """Part the values of the children of a constrained column in their middle."""
        middle: cython.double = 0.5 * self._value(left) + 0.5 * self._value(left + 1)
        self.room.high[left if way > 0 else left + 1] = middle
        self.room.low[left + 1 if way > 0 else left] = middle
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _may_gain(self, node: cython.Py_ssize_t) -> cython.bint:
        """Whether a node is large and mixed enough to be worth a look."""
        return self.room.n_rows[node] >= 2 * self.rules.min_count and _mixed(
            self.room.sums[node, 0], self.rules.criterion
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _subtract(self, slot: cython.Py_ssize_t, child: cython.Py_ssize_t) -> cython.int:
        """Take a child's slot from its parent's: the other child's sums are left."""
        j: cython.Py_ssize_t
        _subtract(self.room.hists[slot], self.room.hists[child])
        if self.room.counted[slot]:
            for j in range(self.room.counts.shape[1]):
                _subtract(self.room.counts[slot, j], self.room.counts[child, j])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hand_down(self, node: cython.Py_ssize_t, left: cython.Py_ssize_t) -> cython.int:
        """Give slots to the children that are worth a look: the larger one its parent's."""
        is_left: cython.bint = 2 * self.room.n_rows[left] <= self.room.n_rows[node]
        small: cython.Py_ssize_t = left if is_left else left + 1
        large: cython.Py_ssize_t = left + 1 if is_left else left
        slot: cython.Py_ssize_t = self.room.slot[node]
        spare: cython.Py_ssize_t = slot
        small_may: cython.bint = self._may_gain(small)
        large_may: cython.bint = self._may_gain(large)
        if not self.apart and (small_may or large_may):
            # The smaller child is added up, and taken from its parent's sums.
            spare = self._take_slot()
            self._add_up(small, spare)
            if self.room.counted[slot]:
                self._count(small, spare)
            if large_may:
                self._subtract(slot, spare)
            if not small_may:
                self._give_back(spare)
        if not large_may:
            self._give_back(slot)
        self.room.slot[small] = spare if small_may else NONE
        self.room.slot[large] = slot if large_may else NONE
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _settle(self) -> cython.int:
        """Give leaves their numbers, write them at their rows, and count the rows of every node."""
        node: cython.Py_ssize_t
        n_leaves: cython.longlong = 0
        for node in range(self.n_nodes):
            if self.room.left[node] < 0:
                self.room.leaf[node] = n_leaves
                n_leaves += 1
        if self.rows.sampled:
            find_leaves(self.rows, self.room, self.n_nodes)
        else:
            write_leaves(self.rows, self.room, self.n_nodes)
        for node in range(self.n_nodes):
            if self.room.left[node] < 0:
                self.room.feature[node] = NONE
                self.room.threshold[node] = NONE
                self.room.gain[node] = 0.0
                self.room.goes_left[node, MISSING] = 0
        return 0
