"""Fast threshold search for histograms with two sums per cell, by newton or gini.

`_split_kernels` scores every cut, whatever the criterion. Here most cuts are dismissed some at a
time, and most others without a division: a cut is scored only where it may gain more than the best
so far, and the answer is the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._score_kernels import NEWTON, ROUNDING
    from cython.cimports.costboost.trees._search_kernels import (
        MISSING,
        NodeSums,
        PairBounds,
        Rules,
        SplitSearch,
    )
else:
    from costboost.trees._score_kernels import NEWTON, ROUNDING
    from costboost.trees._search_kernels import MISSING, NodeSums, PairBounds, Rules, SplitSearch

# What products of a few numbers are known to, and far more.
NEARLY = cython.declare(cython.double, 1.0 - 1e-9)
# Cuts that are dismissed together.
BLOCK = cython.declare(cython.Py_ssize_t, 16)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score(pairs: PairBounds, first: cython.longlong, second: cython.longlong) -> cython.double:
    """Return the criterion's score of two sums, as `_score_kernels.score`."""
    # The same operations in the same order as in `_score_kernels`: gains are equal bit for bit.
    a: cython.double = cython.cast(cython.double, first)
    b: cython.double = cython.cast(cython.double, second)
    total: cython.double = b + pairs.l2 if pairs.newton else a + b
    value: cython.double = a * a if pairs.newton else a * a + b * b
    return value / total if total > 0.0 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _weigh(pairs: PairBounds, first: cython.longlong, second: cython.longlong) -> cython.double:
    """Return the weight of two sums, as `_score_kernels.weigh`."""
    if pairs.newton:
        return cython.cast(cython.double, second)
    return cython.cast(cython.double, first) + cython.cast(cython.double, second)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _raise_bar(pairs: PairBounds, score: cython.double) -> cython.int:
    """Set the score that the two sides of a cut must reach together to be worth a closer look.

    Of two classes, both sides score (A^2 + B^2) / S + 2 (a B - b A)^2 / (s (S - s) S), S and s the
    sums of the whole's weights A, B and the left side's a, b: (a B - b A)^2 tells, over s (S - s).
    """
    a: cython.double = pairs.all_first
    b: cython.double = pairs.all_second
    pairs.bar = score * NEARLY
    if not pairs.newton:
        pairs.bar = 0.5 * (pairs.bar * (a + b) - a * a - b * b)
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_score(pairs: PairBounds, first: cython.longlong, second: cython.longlong) -> cython.bint:
    """Whether a cut may reach the bar, rounding allowed for; a filter without divisions."""
    a: cython.double = cython.cast(cython.double, first)
    b: cython.double = cython.cast(cython.double, second)
    c: cython.double
    d: cython.double
    if pairs.newton:
        c = cython.cast(cython.double, pairs.first - first)
        d = cython.cast(cython.double, pairs.second - second)
        b += pairs.l2
        d += pairs.l2
        # a^2 / b + c^2 / d > bar, times b d, which is not negative.
        return a * a * d + c * c * b > pairs.bar * b * d
    # What this is wrong by is 1e-15 of the whole, and the bar lies 1e-9 of it below the score.
    c = pairs.all_first
    d = pairs.all_second
    return (a * d - b * c) * (a * d - b * c) > pairs.bar * ((a + b) * (c + d - (a + b)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_score_between(
    pairs: PairBounds,
    lowest: cython.longlong,
    highest: cython.longlong,
    second: cython.longlong,
    far_second: cython.longlong,
) -> cython.bint:
    """Whether any cut with left sums between these may reach the bar; skips whole blocks.

    Scores are convex, and so largest in a corner of what lies between.
    """
    return (
        _may_score(pairs, highest, far_second)
        or _may_score(pairs, lowest, far_second)
        or _may_score(pairs, highest, second)
        or _may_score(pairs, lowest, second)
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _may_divide(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    pairs: PairBounds,
    threshold: cython.Py_ssize_t,
    missing_left: cython.bint,
    first: cython.longlong,
    second: cython.longlong,
) -> cython.bint:
    """Whether both sides of a cut have `min_count` rows and `min_weight`."""
    t: cython.Py_ssize_t
    count: cython.longlong = pairs.absent_count if missing_left else 0
    # Counted for cuts that would win only, which are few; a running count would cost every cut.
    if search.counting:
        for t in range(threshold + 1):
            count += node.counts[pairs.place, t]
        if count < rules.min_count or node.n_rows - count < rules.min_count:
            return False
    return rules.min_weight <= 0.0 or (
        _weigh(pairs, first, second) >= rules.min_weight
        and _weigh(pairs, pairs.first - first, pairs.second - second) >= rules.min_weight
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _try(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    pairs: PairBounds,
    threshold: cython.Py_ssize_t,
    missing_left: cython.bint,
    first: cython.longlong,
    second: cython.longlong,
) -> cython.int:
    """Record a cut with these left sums in `search` if it beats the best so far."""
    both: cython.double = _score(pairs, first, second) + _score(
        pairs, pairs.first - first, pairs.second - second
    )
    # The exact score decides; the filter before it may only let too much through.
    if both - search.parent - search.gain <= ROUNDING * both:
        return 0
    if not _may_divide(rules, node, search, pairs, threshold, missing_left, first, second):
        return 0
    search.gain = both - search.parent
    search.rounding = ROUNDING * both
    search.feature = pairs.column
    search.place = pairs.place
    search.threshold = threshold
    search.missing_left = missing_left
    search.left_sums[0] = first
    # Every success raises the bar for the rest of the search.
    search.left_sums[1] = second
    _raise_bar(pairs, search.parent + search.gain)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_block(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    pairs: PairBounds,
    hist: cython.const[cython.longlong][:, :, :],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    first: cython.longlong,
    second: cython.longlong,
) -> cython.int:
    """Try the cuts at codes start to stop, given the sums left of the first."""
    t: cython.Py_ssize_t
    j: cython.Py_ssize_t = pairs.place
    for t in range(start, stop):
        first += hist[j, t, 0]
        second += hist[j, t, 1]
        if not _may_score(pairs, first, second) and not (
            pairs.missing and _may_score(pairs, first + pairs.absent, second + pairs.absent_second)
        ):
            continue
        # An empty code gives the same cut as the one before it.
        if hist[j, t, 0] | hist[j, t, 1] == 0 and not (search.counting and node.counts[j, t] > 0):
            continue
        _try(rules, node, search, pairs, t, False, first, second)
        if pairs.missing and t < pairs.last - 1:
            _try(
                rules,
                node,
                search,
                pairs,
                t,
                True,
                first + pairs.absent,
                second + pairs.absent_second,
            )
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_column(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    pairs: PairBounds,
    hist: cython.const[cython.longlong][:, :, :],
) -> cython.int:
    """Search a column block by block; blocks that cannot reach the bar are skipped."""
    t: cython.Py_ssize_t
    j: cython.Py_ssize_t = pairs.place
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    first: cython.longlong = 0
    second: cython.longlong = 0
    far: cython.longlong
    far_second: cython.longlong
    lowest: cython.longlong
    highest: cython.longlong
    while start < pairs.last:
        # Bounds of the left sums over a block: hessians and class weights only grow, gradients may
        # turn, so their least and largest are tracked.
        stop = start + BLOCK if start + BLOCK < pairs.last else pairs.last
        far = first
        far_second = second
        lowest = first
        highest = first
        if pairs.newton:
            for t in range(start, stop):
                far += hist[j, t, 0]
                far_second += hist[j, t, 1]
                lowest = far if far < lowest else lowest
                highest = far if far > highest else highest
        else:
            for t in range(start, stop):
                far += hist[j, t, 0]
                far_second += hist[j, t, 1]
            highest = far  # weights only grow
        if _may_score_between(pairs, lowest, highest, second, far_second) or (
            pairs.missing
            and _may_score_between(
                pairs,
                lowest + pairs.absent,
                highest + pairs.absent,
                second + pairs.absent_second,
                far_second + pairs.absent_second,
            )
        ):
            _search_block(rules, node, search, pairs, hist, start, stop, first, second)
        first = far
        second = far_second
        start = stop
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _enter_column(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    pairs: PairBounds,
    column: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.int:
    """Set the sums that all cuts of a column share."""
    pairs.column = column
    pairs.place = place
    pairs.absent = node.hist[place, MISSING, 0]
    pairs.absent_second = node.hist[place, MISSING, 1]
    pairs.absent_count = node.counts[place, MISSING] if search.counting else 0
    pairs.missing = pairs.absent != 0 or pairs.absent_second != 0 or pairs.absent_count > 0
    # With missing values the cut behind the last code divides those present from those missing.
    pairs.last = rules.n_bins[column] if pairs.missing else rules.n_bins[column] - 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def search_pairs(
    rules: Rules, node: NodeSums, search: SplitSearch, pairs: PairBounds
) -> cython.int:
    """Search the numeric columns of a node with two sums per cell."""
    f: cython.Py_ssize_t
    column: cython.Py_ssize_t
    pairs.newton = rules.criterion == NEWTON
    pairs.l2 = rules.l2
    pairs.first = node.sums[0]
    pairs.second = node.sums[1]
    pairs.all_first = cython.cast(cython.double, pairs.first)
    pairs.all_second = cython.cast(cython.double, pairs.second)
    _raise_bar(pairs, search.parent + search.gain)
    for f in range(node.columns.shape[0]):
        column = node.columns[f]
        if not rules.categorical[column]:
            _enter_column(rules, node, search, pairs, column, f if node.drawn else column)
            _search_column(rules, node, search, pairs, node.hist)
    return 0
