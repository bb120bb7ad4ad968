"""The best split of a node, from the sums in its histogram.

A search is given `Rules` and the `NodeSums` of a node and leaves its answer in a `SplitSearch`
(`_search_kernels`). Numeric columns are cut at thresholds, by any criterion (`cut_codes`) or in
`_pair_kernels` where there are two sums per cell; categorical ones in two subsets.

Boundary convention: a code goes left when it is <= the threshold, which is a code that the node
holds. Among splits of equal gain (see `_score_kernels`) the first wins: numeric columns before
categorical ones, lowest feature, lowest threshold, missing values to the right; for categories the
lowest channel's order, then the smallest subset.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._pair_kernels import search_pairs
    from cython.cimports.costboost.trees._score_kernels import (
        ERROR,
        GINI,
        NEWTON,
        ONE_HOT,
        ROUNDING,
        SQUARES,
        VECTOR,
        cut_codes,
        cut_order,
        holds,
        node_score,
        weigh,
    )
    from cython.cimports.costboost.trees._search_kernels import (
        MISSING,
        NodeSums,
        Rules,
        SplitSearch,
    )
else:
    from costboost.trees._pair_kernels import search_pairs
    from costboost.trees._score_kernels import (
        ERROR,
        GINI,
        NEWTON,
        ONE_HOT,
        ROUNDING,
        SQUARES,
        VECTOR,
        cut_codes,
        cut_order,
        holds,
        node_score,
        weigh,
    )
    from costboost.trees._search_kernels import MISSING, NodeSums, Rules, SplitSearch


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(
    rules: Rules,
    node: NodeSums,
    place: cython.Py_ssize_t,
    code: cython.Py_ssize_t,
    channel: cython.Py_ssize_t,
) -> cython.double:
    """Return the sort key of a category for one channel."""
    k: cython.Py_ssize_t
    n_channels: cython.Py_ssize_t = node.sums.shape[0]
    total: cython.double = 0.0
    value: cython.double = cython.cast(cython.double, node.hist[place, code, channel])
    # Signed weights are ordered as they are, other sums by their share of what the category weighs.
    if rules.criterion in (VECTOR, ONE_HOT):
        return value
    if rules.criterion == NEWTON:
        total = node.hist[place, code, 1]
    elif rules.criterion == SQUARES:
        total = node.hist[place, code, n_channels - 1]
    else:
        for k in range(n_channels):
            total += node.hist[place, code, k]
    # Gradients without curvature come first or last; a category that weighs nothing is 0.
    return value / total if total > 0.0 else value * 1e300


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exceeds(a: cython.double, b: cython.double) -> cython.bint:
    """Whether a is larger than b by more than rounding."""
    return a - b > ROUNDING * (a if a > 0.0 else -a)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_in_order(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    place: cython.Py_ssize_t,
    n_held: cython.Py_ssize_t,
    channel: cython.Py_ssize_t,
) -> cython.int:
    """Sort the node's categories by key, stably, by insertion."""
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    key: cython.double
    for t in range(n_held):
        key = _key(rules, node, place, search.held[t], channel)
        i = t
        while i > 0 and _exceeds(search.keys[i - 1], key):
            # Insertion sort: at most 256 entries, and stable, which the same order on every machine
            # needs.
            search.keys[i] = search.keys[i - 1]
            search.codes[i] = search.codes[i - 1]
            i -= 1
        search.keys[i] = key
        search.codes[i] = search.held[t]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_thresholds(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    column: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.int:
    """Search a numeric column, by any criterion."""
    cut: cython.Py_ssize_t = cut_codes(rules, node, search, column, place)
    if cut >= 0:
        search.feature = column
        search.place = place
        search.threshold = cut
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_subsets(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    column: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.int:
    """Search a categorical column for the best subset to send left.

    The categories present (a missing value is one of them) are ordered by their share of one
    channel and cut in two; for two classes and for gradients the best of all subsets is such
    a cut (Fisher 1958; Breiman et al. 1984, section 9.4), for K classes every class's order is
    tried. `goes_left` becomes 2 where a category is absent.
    """
    i: cython.Py_ssize_t
    cut: cython.Py_ssize_t
    channel: cython.Py_ssize_t
    n_held: cython.Py_ssize_t = 0
    n_orders: cython.Py_ssize_t = node.sums.shape[0]
    if rules.criterion == NEWTON or (n_orders == 2 and rules.criterion <= ERROR):
        n_orders = 1
    elif rules.criterion == SQUARES:
        # The last sum is a weight, and no output to order by.
        n_orders -= 1
    # Code 255 among them: a missing value is a category like any other.
    for i in range(256):
        if holds(node, search, place, i):
            search.held[n_held] = i
            n_held += 1
    for channel in range(n_orders):
        _put_in_order(rules, node, search, place, n_held, channel)
        cut = cut_order(rules, node, search, place, n_held)
        if cut >= 0:
            search.feature = column
            search.place = place
            search.threshold = -1
            for i in range(256):
                # Absent categories are marked; `_send_left` decides for them.
                search.goes_left[i] = 2
            for i in range(n_held):
                search.goes_left[search.codes[i]] = 1 if i <= cut else 0
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _send_left(rules: Rules, node: NodeSums, search: SplitSearch) -> cython.int:
    """Write `search.goes_left` for the split that was found, (256,).

    Missing values and categories that the node does not hold follow the heavier child.
    """
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    least: cython.double
    heavier: cython.uchar
    for k in range(node.sums.shape[0]):
        search.right[k] = node.sums[k] - search.left_sums[k]
    # Equal but for rounding counts as heavier on the left, whatever the order of sums.
    least = weigh(search.right, rules.criterion) * (1.0 - ROUNDING)
    heavier = 1 if weigh(search.left_sums, rules.criterion) >= least else 0
    if search.threshold < 0:
        for t in range(256):
            if search.goes_left[t] == 2:
                search.goes_left[t] = heavier
        return 0
    for t in range(255):
        search.goes_left[t] = 1 if t <= search.threshold else 0
    # A missing value that training never saw here follows the heavier child.
    search.goes_left[MISSING] = heavier
    if holds(node, search, search.place, MISSING):
        search.goes_left[MISSING] = 1 if search.missing_left else 0
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def search_node(rules: Rules, node: NodeSums, search: SplitSearch) -> cython.bint:
    """Search columns for the best split; see `find_split`."""
    f: cython.Py_ssize_t
    column: cython.Py_ssize_t
    in_pairs: cython.bint = not rules.bounded and (
        rules.criterion == NEWTON or (rules.criterion == GINI and node.sums.shape[0] == 2)
    )
    search.gain = 0.0
    search.rounding = 0.0
    search.feature = -1
    search.parent = node_score(rules, node)
    # Without counts the limit on rows is not checked: the caller has other proof.
    search.counting = rules.min_count > 1 and node.counts.shape[0] > 0
    # Numeric columns first, then categorical ones, on either path: of equal gains the same wins.
    if in_pairs:
        search_pairs(rules, node, search, search.pairs)
    else:
        for f in range(node.columns.shape[0]):
            column = node.columns[f]
            if not rules.categorical[column]:
                _search_thresholds(rules, node, search, column, f if node.drawn else column)
    for f in range(node.columns.shape[0]):
        column = node.columns[f]
        if rules.categorical[column]:
            _search_subsets(rules, node, search, column, f if node.drawn else column)
    if search.feature < 0:
        return False
    _send_left(rules, node, search)
    return True


def find_split(rules: Rules, node: NodeSums, search: SplitSearch) -> bool:
    """Search columns for the best split of a node; True if there is one, left in `search`.

    A split that is found is complete: for every code it says whether it goes left, also for those
    that the node does not hold.
    """
    found: cython.bint
    with cython.nogil:
        found = search_node(rules, node, search)
    return found
