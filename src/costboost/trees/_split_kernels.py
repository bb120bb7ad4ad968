"""The best split of a node, from the sums in its histogram.

Every criterion is a score of a node's sums, additive over children and the larger the better:

    gini      sum_k s_k^2 / sum_k s_k          entropy   sum_k s_k ln(s_k / sum_k s_k)
    error     max_k s_k                        newton    s_0^2 / (s_1 + l2)
    vector    sum_k max(s_k, 0)                one-hot   max_k s_k
    squares   sum_k s_k^2 / (s_K + l2), k < K

and a split gains score(left) + score(right) - score(node). `newton` sums are (gradient,
hessian); `vector` and `one-hot` sums are the signed weights of relational examples: what a leaf
wins over answering 0 for every class, when it may answer 1 for any classes, or for exactly one;
`squares` sums are K gradients and a weight: what least squares explain of all of them together.

Boundary convention: a code goes left when it is <= the threshold, which is a code that the node
holds. Among splits of equal gain the first wins: numeric columns before categorical ones, lowest
feature, lowest threshold, missing values to the right; for categories the lowest channel's order,
then the smallest subset. Gains are equal when they differ by no more than rounding (`ROUNDING` of
the children's score): boosting makes weights whose sums are equal in theory, one half again and
again, and differ in their last bits, so that weighing a row k times or repeating it k times would
else break such ties differently.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.libc.math import log, log1p
else:
    from math import log, log1p

GINI = cython.declare(cython.int, 0)
ENTROPY = cython.declare(cython.int, 1)
ERROR = cython.declare(cython.int, 2)
NEWTON = cython.declare(cython.int, 3)
VECTOR = cython.declare(cython.int, 4)
ONE_HOT = cython.declare(cython.int, 5)
SQUARES = cython.declare(cython.int, 6)
MISSING = cython.declare(cython.Py_ssize_t, 255)
# Gains that differ by less than this share of the children's score differ by rounding.
ROUNDING = cython.declare(cython.double, 1e-12)
# What products of a few numbers are known to, and far more.
NEARLY = cython.declare(cython.double, 1.0 - 1e-9)
# Cuts that are dismissed together.
BLOCK = cython.declare(cython.Py_ssize_t, 16)


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
    if criterion == NEWTON:
        total = sums[1] + l2
        value = cython.cast(cython.double, sums[0])
        return value * value / total if total > 0.0 else 0.0
    if criterion == VECTOR:
        for k in range(sums.shape[0]):
            if sums[k] > 0:
                score += sums[k]
        return score
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
        for k in range(sums.shape[0] - 1):
            value = cython.cast(cython.double, sums[k])
            score += value * value
        total = sums[sums.shape[0] - 1] + l2
        return score / total if total > 0.0 else 0.0
    for k in range(sums.shape[0]):
        value = cython.cast(cython.double, sums[k])
        total += value
        score += value * value
    return score / total if total > 0.0 else 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def weigh(sums: cython.const[cython.longlong][::1], criterion: cython.int) -> cython.double:
    """Weigh a node: the sum of class weights, the hessian, the size of signed weights."""
    k: cython.Py_ssize_t
    total: cython.double = 0.0
    if criterion == NEWTON:
        return sums[1]
    if criterion == SQUARES:
        return sums[sums.shape[0] - 1]
    for k in range(sums.shape[0]):
        total += sums[k] if sums[k] > 0 else -sums[k]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _beats(both: cython.double, parent: cython.double, best: cython.double[::1]) -> cython.bint:
    """Note the gain, and how much of it is rounding, if it is more than the best so far."""
    rounding: cython.double = ROUNDING * (both if both > 0.0 else -both)
    if both - parent - best[0] <= rounding:
        return False
    best[0] = both - parent
    best[4] = rounding
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _gains(
    left: cython.const[cython.longlong][::1],
    right: cython.const[cython.longlong][::1],
    parent: cython.double,
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    best: cython.double[::1],
) -> cython.bint:
    """Note a split that gains more than the best so far; whether it may be made and does."""
    if min_weight > 0.0 and (
        weigh(left, criterion) < min_weight or weigh(right, criterion) < min_weight
    ):
        return False
    return _beats(_score(left, criterion, l2) + _score(right, criterion, l2), parent, best)


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
    """Score a leaf of a given value; at its own value this is the criterion's score.

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
    if first > 0.0:
        score += first * log(1.0 - value) if value < 1.0 else -1e300
    if second > 0.0:
        score += second * log(value) if value > 0.0 else -1e300
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bounded_gains(
    left: cython.const[cython.longlong][::1],
    right: cython.const[cython.longlong][::1],
    parent: cython.double,
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    low: cython.double,
    high: cython.double,
    way: cython.int,
    best: cython.double[::1],
) -> cython.bint:
    """Do the same when values are bounded and must rise (+1) or fall (-1)."""
    below: cython.double
    above: cython.double
    if min_weight > 0.0 and (
        weigh(left, criterion) < min_weight or weigh(right, criterion) < min_weight
    ):
        return False
    below = bounded_value(left, criterion, l2, low, high)
    above = bounded_value(right, criterion, l2, low, high)
    if (way > 0 and below > above) or (way < 0 and below < above):
        return False
    return _beats(
        _score_at(left, criterion, l2, below) + _score_at(right, criterion, l2, above), parent, best
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _parent_score(
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    bounded: cython.bint,
    low: cython.double,
    high: cython.double,
) -> cython.double:
    """Score the node that is split, within its bounds."""
    if bounded:
        return _score_at(sums, criterion, l2, bounded_value(sums, criterion, l2, low, high))
    return _score(sums, criterion, l2)


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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_thresholds(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    n_bins: cython.const[cython.longlong][::1],
    categorical: cython.const[cython.uchar][::1],
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    min_count: cython.longlong,
    n_rows: cython.longlong,
    monotone: cython.const[cython.schar][::1],
    low: cython.double,
    high: cython.double,
    left: cython.longlong[::1],
    right: cython.longlong[::1],
    best_sums: cython.longlong[::1],
    best: cython.double[::1],
) -> cython.int:
    """Search the numeric columns, by any criterion; see `find_split`."""
    f: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    column: cython.Py_ssize_t
    last: cython.Py_ssize_t
    side: cython.Py_ssize_t
    n_channels: cython.Py_ssize_t = sums.shape[0]
    seen: cython.bint
    missing: cython.bint
    wins: cython.bint
    bounded: cython.bint = monotone.shape[0] > 0
    parent: cython.double = _parent_score(sums, criterion, l2, bounded, low, high)
    count: cython.longlong
    value: cython.longlong
    for f in range(columns.shape[0]):
        column = columns[f]
        if categorical[column]:
            continue
        j = f if drawn else column
        missing = False
        for k in range(n_channels):
            left[k] = 0
            right[k] = sums[k]
            if hist[j, MISSING, k] != 0:
                missing = True
        # Rows that weigh nothing count all the same.
        if min_count > 1 and counts[j, MISSING] > 0:
            missing = True
        count = 0
        # With missing values present, the last threshold parts them from all others.
        last = n_bins[column] if missing else n_bins[column] - 1
        for t in range(last):
            seen = False
            for k in range(n_channels):
                value = hist[j, t, k]
                if value != 0:
                    seen = True
                    left[k] += value
                    right[k] -= value
            if min_count > 1:
                count += counts[j, t]
                seen = seen or counts[j, t] > 0
            if not seen:
                continue
            for side in range(2 if missing and t < n_bins[column] - 1 else 1):
                if side == 1:
                    for k in range(n_channels):
                        left[k] += hist[j, MISSING, k]
                        right[k] -= hist[j, MISSING, k]
                wins = False
                if min_count <= 1 or (
                    count + (counts[j, MISSING] if side == 1 else 0) >= min_count
                    and n_rows - count - (counts[j, MISSING] if side == 1 else 0) >= min_count
                ):
                    if bounded:
                        wins = _bounded_gains(
                            left,
                            right,
                            parent,
                            criterion,
                            l2,
                            min_weight,
                            low,
                            high,
                            monotone[column],
                            best,
                        )
                    else:
                        wins = _gains(left, right, parent, criterion, l2, min_weight, best)
                if wins:
                    best[1] = f
                    best[2] = t
                    best[3] = side
                    for k in range(n_channels):
                        best_sums[k] = left[k]
                if side == 1:
                    for k in range(n_channels):
                        left[k] -= hist[j, MISSING, k]
                        right[k] += hist[j, MISSING, k]
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _pair_score(
    first: cython.longlong, second: cython.longlong, newton: cython.bint, l2: cython.double
) -> cython.double:
    """Score two sums; as `_score` does."""
    a: cython.double = cython.cast(cython.double, first)
    b: cython.double = cython.cast(cython.double, second)
    total: cython.double = b + l2 if newton else a + b
    value: cython.double = a * a if newton else a * a + b * b
    return value / total if total > 0.0 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _pair_weight(
    first: cython.longlong, second: cython.longlong, newton: cython.bint
) -> cython.double:
    """Weigh two sums; as `weigh` does."""
    if newton:
        return cython.cast(cython.double, second)
    return cython.cast(cython.double, first) + cython.cast(cython.double, second)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bar(
    score: cython.double, whole: cython.double, second: cython.double, newton: cython.bint
) -> cython.double:
    """Return what a cut is measured against by `_may_score`: the score that it should reach.

    Of two classes, both sides score (A^2 + B^2) / S + 2 (a B - b A)^2 / (s (S - s) S), S and s the
    sums of the whole's weights A, B and the left side's a, b: (a B - b A)^2 tells, over s (S - s).
    """
    if newton:
        return score
    return 0.5 * (score * (whole + second) - whole * whole - second * second)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_score(
    first: cython.longlong,
    second: cython.longlong,
    whole: cython.longlong,
    whole_second: cython.longlong,
    newton: cython.bint,
    l2: cython.double,
    bar: cython.double,
) -> cython.bint:
    """Whether both sides of a cut together may reach the bar, but for rounding: no division."""
    a: cython.double = cython.cast(cython.double, first)
    b: cython.double = cython.cast(cython.double, second)
    c: cython.double
    d: cython.double
    if newton:
        c = cython.cast(cython.double, whole - first)
        d = cython.cast(cython.double, whole_second - second)
        return a * a * (d + l2) + c * c * (b + l2) > bar * (b + l2) * (d + l2)
    # What this is wrong by is 1e-15 of the whole, and the bar lies 1e-9 of it below the score.
    c = cython.cast(cython.double, whole)
    d = cython.cast(cython.double, whole_second)
    return (a * d - b * c) * (a * d - b * c) > bar * ((a + b) * (c + d - (a + b)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_score_between(
    lowest: cython.longlong,
    highest: cython.longlong,
    second: cython.longlong,
    far_second: cython.longlong,
    whole: cython.longlong,
    whole_second: cython.longlong,
    newton: cython.bint,
    l2: cython.double,
    bar: cython.double,
) -> cython.bint:
    """Whether a cut may reach the bar whose left sums lie between these.

    Scores are convex, and so largest in a corner of what lies between.
    """
    return (
        _may_score(highest, far_second, whole, whole_second, newton, l2, bar)
        or _may_score(lowest, far_second, whole, whole_second, newton, l2, bar)
        or _may_score(highest, second, whole, whole_second, newton, l2, bar)
        or _may_score(lowest, second, whole, whole_second, newton, l2, bar)
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_pairs(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    n_bins: cython.const[cython.longlong][::1],
    categorical: cython.const[cython.uchar][::1],
    sums: cython.const[cython.longlong][::1],
    newton: cython.bint,
    l2: cython.double,
    min_weight: cython.double,
    min_count: cython.longlong,
    n_rows: cython.longlong,
    best_sums: cython.longlong[::1],
    best: cython.double[::1],
) -> cython.int:
    """Search as `_search_thresholds` does, for pairs by newton or gini: a fraction of the time.

    Most cuts are dismissed some at a time, and most others without a division.
    """
    f: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    column: cython.Py_ssize_t
    last: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    side: cython.Py_ssize_t
    counting: cython.bint = min_count > 1
    missing: cython.bint
    both: cython.double
    top: cython.double = best[0]
    parent: cython.double = _score(sums, NEWTON if newton else GINI, l2)
    whole: cython.longlong = sums[0]
    whole_second: cython.longlong = sums[1]
    all_first: cython.double = cython.cast(cython.double, whole)
    all_second: cython.double = cython.cast(cython.double, whole_second)
    bar: cython.double = _bar((parent + top) * NEARLY, all_first, all_second, newton)
    left: cython.longlong
    second: cython.longlong
    far: cython.longlong
    far_second: cython.longlong
    lowest: cython.longlong
    highest: cython.longlong
    count: cython.longlong
    absent: cython.longlong
    absent_second: cython.longlong
    absent_count: cython.longlong
    for f in range(columns.shape[0]):
        column = columns[f]
        if categorical[column]:
            continue
        j = f if drawn else column
        absent = hist[j, MISSING, 0]
        absent_second = hist[j, MISSING, 1]
        absent_count = counts[j, MISSING] if counting else 0
        missing = absent != 0 or absent_second != 0 or absent_count > 0
        last = n_bins[column] if missing else n_bins[column] - 1
        left = 0
        second = 0
        start = 0
        while start < last:
            stop = start + BLOCK if start + BLOCK < last else last
            far = left
            far_second = second
            lowest = left
            highest = left
            if newton:
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
            if not (
                _may_score_between(
                    lowest,
                    highest,
                    second,
                    far_second,
                    whole,
                    whole_second,
                    newton,
                    l2,
                    bar,
                )
                or (
                    missing
                    and _may_score_between(
                        lowest + absent,
                        highest + absent,
                        second + absent_second,
                        far_second + absent_second,
                        whole,
                        whole_second,
                        newton,
                        l2,
                        bar,
                    )
                )
            ):
                left = far
                second = far_second
                start = stop
                continue
            for t in range(start, stop):
                left += hist[j, t, 0]
                second += hist[j, t, 1]
                if not (
                    _may_score(left, second, whole, whole_second, newton, l2, bar)
                    or (
                        missing
                        and _may_score(
                            left + absent,
                            second + absent_second,
                            whole,
                            whole_second,
                            newton,
                            l2,
                            bar,
                        )
                    )
                ):
                    continue
                if hist[j, t, 0] | hist[j, t, 1] == 0 and not (counting and counts[j, t] > 0):
                    continue
                for side in range(2 if missing and t < n_bins[column] - 1 else 1):
                    if side == 1:
                        left += absent
                        second += absent_second
                    both = _pair_score(left, second, newton, l2) + _pair_score(
                        whole - left, whole_second - second, newton, l2
                    )
                    if both - parent - top > ROUNDING * both:
                        count = side * absent_count
                        for k in range(t + 1 if counting else 0):
                            count += counts[j, k]
                        if not (
                            counting and (count < min_count or n_rows - count < min_count)
                        ) and not (
                            min_weight > 0.0
                            and (
                                _pair_weight(left, second, newton) < min_weight
                                or _pair_weight(whole - left, whole_second - second, newton)
                                < min_weight
                            )
                        ):
                            top = both - parent
                            bar = _bar((parent + top) * NEARLY, all_first, all_second, newton)
                            best[0] = top
                            best[1] = f
                            best[2] = t
                            best[3] = side
                            best[4] = ROUNDING * both
                            best_sums[0] = left
                            best_sums[1] = second
                    if side == 1:
                        left -= absent
                        second -= absent_second
            start = stop
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(
    hist: cython.const[cython.longlong][:, :, :],
    j: cython.Py_ssize_t,
    code: cython.Py_ssize_t,
    channel: cython.Py_ssize_t,
    criterion: cython.int,
    l2: cython.double,
) -> cython.double:
    """Return the number by which categories are put in order for one channel."""
    k: cython.Py_ssize_t
    total: cython.double = 0.0
    value: cython.double = cython.cast(cython.double, hist[j, code, channel])
    if criterion in (VECTOR, ONE_HOT):
        return value
    if criterion == NEWTON:
        total = hist[j, code, 1]
    elif criterion == SQUARES:
        total = hist[j, code, hist.shape[2] - 1]
    else:
        for k in range(hist.shape[2]):
            total += hist[j, code, k]
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
def _search_subsets(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    categorical: cython.const[cython.uchar][::1],
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    min_count: cython.longlong,
    n_rows: cython.longlong,
    bounded: cython.bint,
    low: cython.double,
    high: cython.double,
    left: cython.longlong[::1],
    right: cython.longlong[::1],
    keys: cython.double[::1],
    codes: cython.longlong[::1],
    held: cython.longlong[::1],
    best_sums: cython.longlong[::1],
    best: cython.double[::1],
    goes_left: cython.uchar[::1],
) -> cython.int:
    """Search the categorical columns for the best subset to send left; see `find_split`.

    The categories present (a missing value is one of them) are ordered by their share of one
    channel and cut in two; for two classes and for gradients the best of all subsets is such
    a cut (Fisher 1958; Breiman et al. 1984, section 9.4), for K classes every class's order is
    tried. `goes_left` becomes 1 (left), 0 (right) or 2 (category absent from this node).
    """
    f: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    channel: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    present: cython.Py_ssize_t
    n_channels: cython.Py_ssize_t = sums.shape[0]
    seen: cython.bint
    wins: cython.bint
    parent: cython.double = _parent_score(sums, criterion, l2, bounded, low, high)
    key: cython.double
    code: cython.longlong
    count: cython.longlong
    stop = n_channels
    if criterion == NEWTON or (n_channels == 2 and criterion <= ERROR):
        stop = 1
    if criterion == SQUARES:
        stop = n_channels - 1
    for f in range(columns.shape[0]):
        if not categorical[columns[f]]:
            continue
        j = f if drawn else columns[f]
        present = 0
        for t in range(256):
            seen = min_count > 1 and counts[j, t] > 0
            for k in range(n_channels):
                seen = seen or hist[j, t, k] != 0
                if seen:
                    break
            if seen:
                held[present] = t
                present += 1
        for channel in range(stop):
            for t in range(present):
                # Insertion sort: equal keys stay in the order of their codes.
                key = _key(hist, j, held[t], channel, criterion, l2)
                i = t
                while i > 0 and _exceeds(keys[i - 1], key):
                    keys[i] = keys[i - 1]
                    codes[i] = codes[i - 1]
                    i -= 1
                keys[i] = key
                codes[i] = held[t]
            for k in range(n_channels):
                left[k] = 0
                right[k] = sums[k]
            count = 0
            for t in range(present - 1):
                code = codes[t]
                for k in range(n_channels):
                    left[k] += hist[j, code, k]
                    right[k] -= hist[j, code, k]
                if min_count > 1:
                    count += counts[j, code]
                    if count < min_count or n_rows - count < min_count:
                        continue
                if bounded:
                    wins = _bounded_gains(
                        left, right, parent, criterion, l2, min_weight, low, high, 0, best
                    )
                else:
                    wins = _gains(left, right, parent, criterion, l2, min_weight, best)
                if wins:
                    best[1] = f
                    best[2] = -1.0
                    best[3] = 0.0
                    for k in range(n_channels):
                        best_sums[k] = left[k]
                    for i in range(256):
                        goes_left[i] = 2
                    for i in range(present):
                        goes_left[codes[i]] = 1 if i <= t else 0
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _send_left(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    min_count: cython.longlong,
    right: cython.longlong[::1],
    best_sums: cython.const[cython.longlong][::1],
    best: cython.const[cython.double][::1],
    goes_left: cython.uchar[::1],
) -> cython.int:
    """Say of every code whether the split that was found sends it left.

    Missing values and categories that the node does not hold follow the heavier child.
    """
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    j: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, best[1])
    threshold: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, best[2])
    seen: cython.bint
    heavier: cython.uchar
    j = j if drawn else columns[j]
    for k in range(sums.shape[0]):
        right[k] = sums[k] - best_sums[k]
    heavier = 1 if weigh(best_sums, criterion) >= weigh(right, criterion) * (1.0 - ROUNDING) else 0
    if threshold < 0:
        for t in range(256):
            if goes_left[t] == 2:
                goes_left[t] = heavier
        return 0
    seen = min_count > 1 and counts[j, MISSING] > 0
    for k in range(sums.shape[0]):
        seen = seen or hist[j, MISSING, k] != 0
    for t in range(255):
        goes_left[t] = 1 if t <= threshold else 0
    goes_left[MISSING] = cython.cast(cython.int, best[3]) if seen else heavier
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def search_node(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    n_bins: cython.const[cython.longlong][::1],
    categorical: cython.const[cython.uchar][::1],
    monotone: cython.const[cython.schar][::1],
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    min_count: cython.longlong,
    n_rows: cython.longlong,
    low: cython.double,
    high: cython.double,
    sides: cython.longlong[:, ::1],
    codes: cython.longlong[:, ::1],
    keys: cython.double[::1],
    best_sums: cython.longlong[::1],
    best: cython.double[::1],
    goes_left: cython.uchar[::1],
) -> cython.bint:
    """Do what `find_split` does."""
    f: cython.Py_ssize_t
    bounded: cython.bint = monotone.shape[0] > 0
    newton: cython.bint = criterion == NEWTON
    best[0] = 0.0
    best[1] = -1.0
    best[4] = 0.0
    if not bounded and (newton or (criterion == GINI and sums.shape[0] == 2)):
        _search_pairs(
            hist,
            counts,
            columns,
            drawn,
            n_bins,
            categorical,
            sums,
            newton,
            l2,
            min_weight,
            min_count,
            n_rows,
            best_sums,
            best,
        )
    else:
        _search_thresholds(
            hist,
            counts,
            columns,
            drawn,
            n_bins,
            categorical,
            sums,
            criterion,
            l2,
            min_weight,
            min_count,
            n_rows,
            monotone,
            low,
            high,
            sides[0],
            sides[1],
            best_sums,
            best,
        )
    for f in range(columns.shape[0]):
        if categorical[columns[f]]:
            _search_subsets(
                hist,
                counts,
                columns,
                drawn,
                categorical,
                sums,
                criterion,
                l2,
                min_weight,
                min_count,
                n_rows,
                bounded,
                low,
                high,
                sides[0],
                sides[1],
                keys,
                codes[0],
                codes[1],
                best_sums,
                best,
                goes_left,
            )
            break
    if best[1] < 0.0:
        return False
    _send_left(
        hist,
        counts,
        columns,
        drawn,
        sums,
        criterion,
        min_count,
        sides[1],
        best_sums,
        best,
        goes_left,
    )
    best[1] = columns[cython.cast(cython.Py_ssize_t, best[1])]
    return True


def find_split(
    hist: cython.const[cython.longlong][:, :, :],
    counts: cython.const[cython.longlong][:, ::1],
    columns: cython.const[cython.longlong][::1],
    drawn: cython.bint,
    n_bins: cython.const[cython.longlong][::1],
    categorical: cython.const[cython.uchar][::1],
    monotone: cython.const[cython.schar][::1],
    sums: cython.const[cython.longlong][::1],
    criterion: cython.int,
    l2: cython.double,
    min_weight: cython.double,
    min_count: cython.longlong,
    n_rows: cython.longlong,
    low: cython.double,
    high: cython.double,
    sides: cython.longlong[:, ::1],
    codes: cython.longlong[:, ::1],
    keys: cython.double[::1],
    best_sums: cython.longlong[::1],
    best: cython.double[::1],
    goes_left: cython.uchar[::1],
) -> bool:
    """Search columns for the best split of a node; whether there is one.

    `hist` is seen as (d, 256, C) whatever its memory order, `drawn` says that it has no columns but
    those searched; `counts` is read where `min_count` > 1. `monotone` has one of -1, 0, 1 for every
    column or is empty: with it the values of leaves (newton steps, or the second of two classes'
    share) stay within `low` and `high` and in order. `sides` (2, C), `codes` (2, 256) and `keys`
    (256,) are scratch space.

    Writes best = (gain, column, threshold, missing goes left, how much of the gain is rounding),
    threshold -1 for a subset of categories; the sums of the left child; and for every code whether
    it goes left.
    """
    found: cython.bint
    with cython.nogil:
        found = search_node(
            hist,
            counts,
            columns,
            drawn,
            n_bins,
            categorical,
            monotone,
            sums,
            criterion,
            l2,
            min_weight,
            min_count,
            n_rows,
            low,
            high,
            sides,
            codes,
            keys,
            best_sums,
            best,
            goes_left,
        )
    return found
