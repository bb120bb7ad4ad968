"""The compiled loops over margins: votes, and what the decisions by them cost.

For `train_cost`, and for the messages of AdaBoost and gradient boosting that it is paid by.

    vote_binary, vote_at_prices, vote_classes     move margins, decide by them, count or pay
    count_binary, price_binary, count_classes     decide by margins as they are, count or pay
    price_decisions                               pays for decisions that were made

    margins    (m, 1) or (m, K)    F of every row, or of its every class
    labels     (m,) uint8          the class of each row
    starts     (K + 1,) int64      or rows of class k are starts[k] <= i < starts[k + 1]
    leaves     (m,) uint16         the leaf of this round's tree that each row reached
    values     (L,) float64        what each leaf adds to the margin, or to that of its class
    strengths  (0,) or (m,)        what multiplies it for each row; none: 1
    limits     (1,) or (m,)        a row is decided 1 where its margin exceeds limit * total
    weights    (0,) or (m,)        how much each row counts; none: 1
    prices     (m, A) float64      what each decision costs the row; or (K, A) each class; or none

Sums of real terms are exact and so independent of their order: a term is cut into a whole number
of grid units and a remainder, and both are added as int64. Compiled by Cython in pure-Python
mode; interpreted the same loops run slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython
if cython.compiled:
    from cython.cimports.costboost.boosting.exact import add
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from costboost.boosting.exact import add


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _largest(
    margins: cython.const[cython.double][:, ::1], i: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the class of a row's largest margin, of equal ones the first."""
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    for k in range(1, margins.shape[1]):
        best = k if margins[i, k] > margins[i, best] else best
    return best


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _cheapest(
    shares: cython.const[cython.double][:, ::1],
    i: cython.Py_ssize_t,
    prices: cython.const[cython.double][:, ::1],
) -> cython.Py_ssize_t:
    """Return the action of least sum_k shares[i, k] prices[k, action], of equal ones the first."""
    a: cython.Py_ssize_t
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    cost: cython.double
    least: cython.double = 0.0
    for a in range(prices.shape[1]):
        cost = 0.0
        for k in range(prices.shape[0]):
            cost += shares[i, k] * prices[k, a]
        if a == 0 or cost < least:
            best = a
            least = cost
    return best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _vote_alike(
    margins: cython.double[:, ::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    leaves: cython.const[cython.ushort][::1],
    values: cython.const[cython.double][::1],
    bar: cython.double,
) -> cython.longlong:
    """Add each leaf's value to the margin of rows; return how many are above the bar.

    Most fits come here, and a loop that asks nothing of a row takes half the time.
    """
    i: cython.Py_ssize_t
    margin: cython.double
    ones: cython.longlong = 0
    for i in range(begin, end):
        margin = margins[i, 0] + values[leaves[i]]
        margins[i, 0] = margin
        ones += margin > bar
    return ones


def vote_binary(
    margins: cython.double[:, ::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    values: cython.double[::1],
    strengths: cython.const_double[::1],
    limits: cython.const_double[::1],
    total: cython.double,
    weights: cython.const_double[::1],
    scale: cython.double,
    confusion: cython.longlong[:, ::1],
):
    """Add each leaf's value to its rows' margin, decide, and add to confusion[class, decision]."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    personal: cython.bint = strengths.shape[0] > 0
    weighted: cython.bint = weights.shape[0] > 0
    alike: cython.bint = step == 0 and not personal and not weighted
    margin: cython.double
    bar: cython.double
    unit: cython.longlong = 1
    all_of: cython.longlong
    ones: cython.longlong
    positive: cython.longlong
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            if alike:
                # A share of the votes is compared without a division: the margin with the limit
                # times the total.
                bar = limits[0] * total
                ones = _vote_alike(margins, starts[k], starts[k + 1], leaves, values, bar)
                confusion[k, 1] += ones
                confusion[k, 0] += starts[k + 1] - starts[k] - ones
                continue
            all_of = 0
            ones = 0
            for i in range(starts[k], starts[k + 1]):
                margin = values[leaves[i]]
                if personal:
                    margin *= strengths[i]
                margin += margins[i, 0]
                margins[i, 0] = margin
                positive = margin > limits[i * step] * total
                if weighted:
                    unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
                # Counts of weights on the grid: integers, the same in any order.
                all_of += unit
                ones += unit * positive
            confusion[k, 1] += ones
            confusion[k, 0] += all_of - ones


def vote_at_prices(
    margins: cython.double[:, ::1],
    leaves: cython.ushort[::1],
    values: cython.double[::1],
    strengths: cython.const_double[::1],
    limits: cython.const_double[::1],
    before: cython.double,
    total: cython.double,
    weights: cython.const_double[::1],
    extra: cython.const_double[::1],
    scale: cython.double,
    turned: cython.ushort[::1],
    out: cython.longlong[:, ::1],
):
    """Add each leaf's value to its rows' margin; add to out[0] by how much their price changes.

    `before` is the last round's total, `extra` (m,) what a row pays for decision 1 above what it
    pays for 0. A decision seldom changes: `turned` has room for the rows of a block whose decision
    did, and one more; only they are priced.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    found: cython.Py_ssize_t
    n_rows: cython.Py_ssize_t = leaves.shape[0]
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    personal: cython.bint = strengths.shape[0] > 0
    weighted: cython.bint = weights.shape[0] > 0
    old: cython.double
    new: cython.double
    unit: cython.double
    term: cython.double
    with cython.nogil:
        while begin < n_rows:
            end = begin + turned.shape[0] - 1
            end = end if end < n_rows else n_rows
            found = 0
            for i in range(begin, end):
                old = margins[i, 0]
                new = values[leaves[i]]
                if personal:
                    new *= strengths[i]
                new += old
                margins[i, 0] = new
                turned[found] = i - begin
                # Without a branch: the row is written in any case, and counted if its decision
                # changed.
                found += (old > limits[i * step] * before) ^ (new > limits[i * step] * total)
            for j in range(found):
                i = begin + turned[j]
                unit = weights[i] * scale if weighted else scale
                # A change to decision 1 adds the extra price, one back to 0 takes it away again,
                # exactly.
                term = extra[i] * unit
                add(out, 0, 0, term if margins[i, 0] > limits[i * step] * total else -term)
            begin = end


def vote_classes(
    margins: cython.double[:, ::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    values: cython.double[::1],
    prices: cython.const_double[:, ::1],
    weights: cython.double[::1],
    scale: cython.double,
    decisions: cython.uchar[::1],
    confusion: cython.longlong[:, ::1],
):
    """Add each leaf's value to the margin of the class it votes for; decide by the largest.

    With prices the action of least sum_k margin_k prices[k, action] is taken instead.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t
    plain: cython.bint = prices.shape[0] == 0
    weighted: cython.bint = weights.shape[0] > 0
    keep: cython.bint = decisions.shape[0] > 0
    unit: cython.longlong = 1
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                margins[i, votes[leaves[i]]] += values[leaves[i]]
                # Ties go to the first class, as everywhere else.
                best = _largest(margins, i) if plain else _cheapest(margins, i, prices)
                if weighted:
                    unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
                if keep:
                    decisions[i] = best
                confusion[k, best] += unit


def count_binary(
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    limits: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    scale: cython.double,
    confusion: cython.longlong[:, ::1],
):
    """Decide 1 where the margin exceeds its limit, else 0; add to confusion[class, decision]."""
    i: cython.Py_ssize_t
    label: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    answer: cython.Py_ssize_t
    unit: cython.longlong = 1
    with cython.nogil:
        for i in range(margins.shape[0]):
            answer = 1 if margins[i, 0] > limits[i * step] else 0
            label = cython.cast(cython.Py_ssize_t, labels[i])
            if weighted:
                unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
            confusion[label, answer] += unit


def price_binary(
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    limits: cython.const[cython.double][::1],
    false_first: cython.const[cython.double][:],
    false_second: cython.const[cython.double][:],
    true_first: cython.const[cython.double][:],
    true_second: cython.const[cython.double][:],
    unit: cython.double,
    weights: cython.const[cython.double][::1],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Decide as `count_binary` does; add up exactly what the decisions cost, over `unit`.

    `false_first` and `false_second` are what both decisions cost rows of class 0, by row, and
    `true_first` and `true_second` rows of class 1.
    """
    i: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    price: cython.double
    with cython.nogil:
        for i in range(margins.shape[0]):
            if margins[i, 0] > limits[i * step]:
                price = true_second[i] if labels[i] else false_second[i]
            else:
                price = true_first[i] if labels[i] else false_first[i]
            if weighted:
                weight = weights[i]
            # The price over a power of two near the largest, the weight on the grid: neither
            # overflows.
            add(out, 0, 0, price / unit * (weight * scale))


def count_classes(
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    odds: cython.double,
    prices: cython.const[cython.double][:, ::1],
    weights: cython.const[cython.double][::1],
    scale: cython.double,
    scratch: cython.double[:, ::1],
    decisions: cython.uchar[::1],
    confusion: cython.longlong[:, ::1],
):
    """Decide by the least of sum_k p_k prices[k, decision], p the softmax of odds * F.

    Without prices, by the largest F. Adds to confusion[class, decision]. `scratch` is (1, K).
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    label: cython.Py_ssize_t
    best: cython.Py_ssize_t
    weighted: cython.bint = weights.shape[0] > 0
    keep: cython.bint = decisions.shape[0] > 0
    unit: cython.longlong = 1
    top: cython.double
    with cython.nogil:
        for i in range(margins.shape[0]):
            best = _largest(margins, i)
            if prices.shape[0] > 0:
                top = margins[i, best]
                for k in range(margins.shape[1]):
                    # Relative to the largest: the softmax's denominator is the same for all
                    # actions.
                    scratch[0, k] = exp(odds * (margins[i, k] - top))
                best = _cheapest(scratch, 0, prices)
            if weighted:
                unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
            if keep:
                decisions[i] = best
            label = cython.cast(cython.Py_ssize_t, labels[i])
            confusion[label, best] += unit


def price_decisions(
    decisions: cython.uchar[::1],
    prices: cython.const_double[:, :],
    weights: cython.double[::1],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up weight * prices[i, decision] exactly, in grid units, into out[0]."""
    i: cython.Py_ssize_t
    weight: cython.double = 1.0
    with cython.nogil:
        for i in range(decisions.shape[0]):
            if weights.shape[0] > 0:
                weight = weights[i]
            # Prices may span many powers of ten: they add up exactly, in units and remainders.
            add(out, 0, 0, prices[i, decisions[i]] * (weight * scale))
