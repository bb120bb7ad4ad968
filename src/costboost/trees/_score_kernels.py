"""Scores of node sums by every criterion, and the best cut of codes in a given order.

Every criterion is a score of a node's sums, additive over children and the larger the better:

    gini      sum_k s_k^2 / sum_k s_k          entropy   sum_k s_k ln(s_k / sum_k s_k)
    error     max_k s_k                        newton    s_0^2 / (s_1 + l2)
    vector    sum_k max(s_k, 0)                one-hot   max_k s_k
    squares   sum_k s_k^2 / (s_K + l2), k < K

and a split gains score(left) + score(right) - score(node). `newton` sums are (gradient,
hessian); `vector` and `one-hot` sums are the signed weights of relational examples: what a leaf
wins over answering 0 for every class, when it may answer 1 for any classes, or for exactly one;
`squares` sums are K gradients and a weight: what least squares explain of all of them together.

Gains are equal when they differ by no more than rounding (`ROUNDING` of the children's score):
boosting makes weights whose sums are equal in theory, one half again and again, and differ in their
last bits, so that weighing a row k times or repeating it k times would else break such ties
differently.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.trees._search_kernels import (
        MISSING,
        NodeSums,
        Rules,
        SplitSearch,
    )
    from cython.cimports.libc.math import log, log1p
else:
    from math import log, log1p

    from costboost.trees._search_kernels import MISSING, NodeSums, Rules, SplitSearch

GINI = cython.declare(cython.int, 0)
ENTROPY = cython.declare(cython.int, 1)
ERROR = cython.declare(cython.int, 2)
NEWTON = cython.declare(cython.int, 3)
VECTOR = cython.declare(cython.int, 4)
ONE_HOT = cython.declare(cython.int, 5)
SQUARES = cython.declare(cython.int, 6)
# Gains that differ by less than this share of the children's score differ by rounding.
ROUNDING = cython.declare(cython.double, 1e-12)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _entropy(sums: cython.const[cython.longlong][::1]) -> cython.double:
    k: cython.Py_ssize_t
    value: cython.double
    total: cython.double
    whole: cython.longlong = 0
    score: cython.double = 0.0
    for k in range(sums.shape[0]):
        # In integers, so that what is missing of the total is exact too.
        whole += sums[k]
    total = cython.cast(cython.double, whole)
    for k in range(sums.shape[0]):
        value = cython.cast(cython.double, sums[k])
        if value > 0.0 and value <= 0.9375 * total:
            score += value * log(value / total)
        elif value > 0.0:
            # From what differs, which is exact: in a nearly pure node log(value / total) would
            # be rounding.
            score += value * log1p(-cython.cast(cython.double, whole - sums[k]) / total)
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score(
    sums: cython.const[cython.longlong][::1], criterion: cython.int, l2: cython.double
) -> cython.double:
    k: cython.Py_ssize_t
    value: cython.double
    total: cython.double = 0.0
    score: cython.double = 0.0
    # gradient^2 / (hessian + l2) is twice what a Newton step takes off the loss; without curvature
    # there is no step.
    if criterion == NEWTON:
        total = sums[1] + l2
        value = cython.cast(cython.double, sums[0])
        return value * value / total if total > 0.0 else 0.0
    if criterion == VECTOR:
        for k in range(sums.shape[0]):
            if sums[k] > 0:
                score += sums[k]
        return score
    # The largest sum: what a majority vote gets right, or what the best single answer wins.
    if criterion in (ERROR, ONE_HOT):
        score = cython.cast(cython.double, sums[0])
        for k in range(1, sums.shape[0]):
            value = cython.cast(cython.double, sums[k])
            if value > score:
                score = value
        return score
    if criterion == ENTROPY:
        return _entropy(sums)
    if criterion == SQUARES:
        # The last sum is the weight of the rows, the others are gradients.
        for k in range(sums.shape[0] - 1):
            value = cython.cast(cython.double, sums[k])
            score += value * value
        total = sums[sums.shape[0] - 1] + l2
        return score / total if total > 0.0 else 0.0
    # What is left is GINI.
    for k in range(sums.shape[0]):
        value = cython.cast(cython.double, sums[k])
        total += value
        score += value * value
    return score / total if total > 0.0 else 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def weigh(sums: cython.const[cython.longlong][::1], criterion: cython.int) -> cython.double:
    """Return a node's weight: the sum of class weights, the hessian, or sum of |weights|."""
    k: cython.Py_ssize_t
    total: cython.double = 0.0
    if criterion == NEWTON:
        return sums[1]
    if criterion == SQUARES:
        return sums[sums.shape[0] - 1]
    # Signed weights of relational examples count by their size.
    for k in range(sums.shape[0]):
        total += sums[k] if sums[k] > 0 else -sums[k]
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bounded_value(
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    low: cython.double,
    high: cython.double,
) -> cython.double:
    """Return a leaf's value kept within bounds: -gradient / (hessian + l2), or P(second class)."""
    total: cython.double
    value: cython.double
    if criterion == NEWTON:
        # A leaf without weight does not move, or is half and half.
        total = sums[1] + l2
        value = -cython.cast(cython.double, sums[0]) / total if total > 0.0 else 0.0
    else:
        total = cython.cast(cython.double, sums[0] + sums[1])
        value = cython.cast(cython.double, sums[1]) / total if total > 0.0 else 0.5
    value = value if value > low else low
    return value if value < high else high


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score_at(
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    value: cython.double,
) -> cython.double:
    """Return the score of a leaf of a given value; at its optimal value the criterion's score.

    Two classes of weights n and p in a leaf that says v: gini n + p - 2 (n v^2 + p (1 - v)^2),
    entropy n ln(1 - v) + p ln v, error the weight of the class that v is nearer to.
    """
    score: cython.double = 0.0
    first: cython.double = cython.cast(cython.double, sums[0])
    second: cython.double = cython.cast(cython.double, sums[1])
    if criterion == NEWTON:
        return -value * (2.0 * sums[0] + (sums[1] + l2) * value)
    if criterion == GINI:
        return first + second - 2.0 * (first * value * value + second * (1.0 - value) ** 2)
    if criterion == ERROR:
        return second if value > 0.5 else first
    # To be certain and wrong has no finite score: it loses against any other value.
    if first > 0.0:
        score += first * log(1.0 - value) if value < 1.0 else -1e300
    if second > 0.0:
        score += second * log(value) if value > 0.0 else -1e300
    return score


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def node_score(rules: Rules, node: NodeSums) -> cython.double:
    """Return the score of the node to split, its value kept within its bounds."""
    value: cython.double
    if not rules.bounded:
        return _score(node.sums, rules.criterion, rules.l2)
    # The node is scored as its children are, within bounds: else a gain would pay for the bounds.
    value = bounded_value(node.sums, rules.criterion, rules.l2, node.low, node.high)
    return _score_at(node.sums, rules.criterion, rules.l2, value)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def holds(
    node: NodeSums, search: SplitSearch, place: cython.Py_ssize_t, code: cython.Py_ssize_t
) -> cython.bint:
    """Whether the node has rows of a code, also rows of weight 0."""
    k: cython.Py_ssize_t
    held: cython.bint = search.counting and node.counts[place, code] > 0
    # Rows of weight 0 leave no sum: they show only where rows are counted.
    for k in range(node.sums.shape[0]):
        held = held or node.hist[place, code, k] != 0
    return held


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _too_few(rules: Rules, node: NodeSums, n_left: cython.longlong) -> cython.bint:
    """Whether a side of a cut has fewer than `min_count` rows."""
    return n_left < rules.min_count or node.n_rows - n_left < rules.min_count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _improves(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    left: cython.const[cython.longlong][::1],
    right: cython.const[cython.longlong][::1],
    way: cython.int,
) -> cython.bint:
    """Record a cut with these sums if it is allowed and beats the best so far; True if so.

    Where values are bounded they must rise (`way` +1) or fall (-1) from left to right, or may do
    either (0).
    """
    criterion: cython.int = rules.criterion
    l2: cython.double = rules.l2
    below: cython.double
    above: cython.double
    both: cython.double
    rounding: cython.double
    if rules.min_weight > 0.0 and (
        weigh(left, criterion) < rules.min_weight or weigh(right, criterion) < rules.min_weight
    ):
        return False
    if rules.bounded:
        below = bounded_value(left, criterion, l2, node.low, node.high)
        above = bounded_value(right, criterion, l2, node.low, node.high)
        # Against the constraint a cut is no candidate, however much it gains.
        if (way > 0 and below > above) or (way < 0 and below < above):
            return False
        both = _score_at(left, criterion, l2, below) + _score_at(right, criterion, l2, above)
    else:
        both = _score(left, criterion, l2) + _score(right, criterion, l2)
    rounding = ROUNDING * (both if both > 0.0 else -both)
    # Of cuts that are equal but for rounding the one that was tried first stays.
    if both - search.parent - search.gain <= rounding:
        return False
    search.gain = both - search.parent
    search.rounding = rounding
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move(
    cells: cython.const[cython.longlong][:, :, :],
    place: cython.Py_ssize_t,
    code: cython.Py_ssize_t,
    way: cython.longlong,
    left: cython.longlong[::1],
    right: cython.longlong[::1],
) -> cython.bint:
    """Move a code's sums to the left (1) or to the right (-1); False if no row has the code."""
    k: cython.Py_ssize_t
    value: cython.longlong
    moved: cython.bint = False
    # In integers: sums that are moved to and fro come back without an error.
    for k in range(left.shape[0]):
        value = cells[place, code, k]
        if value != 0:
            moved = True
            left[k] += way * value
            right[k] -= way * value
    return moved


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _all_right(
    node: NodeSums, left: cython.longlong[::1], right: cython.longlong[::1]
) -> cython.int:
    """Start before the first cut: all sums on the right."""
    k: cython.Py_ssize_t
    for k in range(left.shape[0]):
        left[k] = 0
        right[k] = node.sums[k]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cut_codes(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    column: cython.Py_ssize_t,
    place: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Cut a numeric column; return the last code on the left, -1 if no cut is the best so far.

    Missing values go to either side.
    """
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    side: cython.int
    n_sides: cython.int
    best: cython.Py_ssize_t = -1
    last: cython.Py_ssize_t = rules.n_bins[column] - 1
    missing: cython.bint = holds(node, search, place, MISSING)
    counting: cython.bint = search.counting
    way: cython.int = rules.monotone[column] if rules.bounded else 0
    hist: cython.const[cython.longlong][:, :, :] = node.hist
    counts: cython.const[cython.longlong][:, ::1] = node.counts
    absent: cython.longlong = counts[place, MISSING] if counting else 0
    n_left: cython.longlong = 0
    left: cython.longlong[::1] = search.left
    right: cython.longlong[::1] = search.right
    _all_right(node, left, right)
    # With missing values present, the last cut parts them from all others.
    for t in range(last + 1 if missing else last):
        # A code that no row has makes the same cut as the one before it.
        if not _move(hist, place, t, 1, left, right) and not (counting and counts[place, t] > 0):
            continue
        if counting:
            n_left += counts[place, t]
        # Missing values on the right first: of equal gains the right wins.
        n_sides = 2 if missing and t < last else 1
        for side in range(n_sides):
            if side == 1:
                _move(hist, place, MISSING, 1, left, right)
            if counting and _too_few(rules, node, n_left + side * absent):
                continue
            if _improves(rules, node, search, left, right, way):
                best = t
                search.missing_left = side == 1
                for k in range(left.shape[0]):
                    search.left_sums[k] = left[k]
        if n_sides == 2:
            _move(hist, place, MISSING, -1, left, right)
    return best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cut_order(
    rules: Rules,
    node: NodeSums,
    search: SplitSearch,
    place: cython.Py_ssize_t,
    n_codes: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Cut the categories in `search.codes`; return the place of the last one on the left, or -1."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = -1
    n_left: cython.longlong = 0
    hist: cython.const[cython.longlong][:, :, :] = node.hist
    left: cython.longlong[::1] = search.left
    right: cython.longlong[::1] = search.right
    _all_right(node, left, right)
    # The last one stays on the right, which would else be empty.
    for i in range(n_codes - 1):
        _move(hist, place, search.codes[i], 1, left, right)
        if search.counting:
            n_left += node.counts[place, search.codes[i]]
            if _too_few(rules, node, n_left):
                continue
        if _improves(rules, node, search, left, right, 0):
            best = i
            search.missing_left = False
            for k in range(left.shape[0]):
                search.left_sums[k] = left[k]
    return best


def score(
    sums: cython.const[cython.longlong][::1], criterion: cython.int, l2: cython.double
) -> float:
    """Score the sums of one node."""
    return _score(sums, criterion, l2)


def weight(sums: cython.const[cython.longlong][::1], criterion: cython.int) -> float:
    """Weigh the sums of one node, in units of the grid."""
    return weigh(sums, criterion)


def value_within(
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    low: cython.double,
    high: cython.double,
) -> float:
    """Return the value of a leaf with these sums, kept within bounds."""
    return bounded_value(sums, criterion, l2, low, high)
