"""The compiled loops over rows: weights, votes, sums. Used by `sums.py` and `rounds.py`.

    leaves   (m,) uint16     the leaf of this round's tree that each row reached
    starts   (K + 1,) int64  rows of class k are starts[k] <= i < starts[k + 1]
    votes    (L,) int64      the class that each leaf votes for
    sizes    (L,) float64    how strongly, 1 for a discrete vote
    u, f     (m, K) float64  the rule's effective margin (positive at the row's own class) and its
                             factor, when row i gets answer k; f a broadcast view if all are 1

Which answer a row gets is as good as random to a processor: it picks an entry, never a branch.

Sums of real terms are exact and so independent of their order: a term is cut into a whole number
of grid units and a remainder, and both are added as int64. Compiled by Cython in pure-Python
mode; interpreted the same loops run slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.trees import _interpreted as cython

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

# Weights, at most 1 at first, are held above this: no denormals, and a way back.
TINY = cython.declare(cython.double, 1e-280)
REMAINDER = cython.declare(cython.double, 1099511627776.0)  # 2**40


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add(out: cython.longlong[:, ::1], k: cython.Py_ssize_t, term: cython.double) -> cython.int:
    """Add a term, in grid units, to the exact sum out[k] = (units, remainders)."""
    units: cython.longlong = cython.cast(cython.longlong, term)
    out[k, 0] += units
    out[k, 1] += cython.cast(cython.longlong, (term - units) * REMAINDER)
    return 0


def tabulate_exp(table: cython.double[::1]):
    """Fill in exp(k / 1024), k = -middle ... middle: an odd number of entries."""
    k: cython.Py_ssize_t
    middle: cython.Py_ssize_t = table.shape[0] // 2
    with cython.nogil:
        for k in range(table.shape[0]):
            table[k] = exp((k - middle) * 0.0009765625)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exp(
    x: cython.double, table: cython.const_double[::1], middle: cython.Py_ssize_t
) -> cython.double:
    """Return exp(k / 1024) exp(r), |r| <= 1/2048, the latter by four terms of its series.

    Right to 3e-15 of its value; |x| must be within the table.
    """
    k: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, x * 1024.0 + (middle + 0.5))
    r: cython.double = x - (k - middle) * 0.0009765625
    # Two short chains of operations rather than a long one: they run side by side.
    return table[k] * ((1.0 + r) + r * r * (0.5 + r * (1.0 / 6.0)))


def sum_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up weights on the grid by leaf and class, (L, K)."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                out[leaves[i], k] += cython.cast(cython.longlong, weights[i] * scale + 0.5)


def multiply_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    factors: cython.double[:, ::1],
) -> float:
    """Multiply every weight by the factor of its leaf and class; return the largest weight."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    weight: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                weight = weights[i] * factors[leaves[i], k]
                weight = weight if weight > TINY else TINY
                largest = weight if weight > largest else largest
                weights[i] = weight
    return largest


def vote_binary(
    margins: cython.double[:, ::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    values: cython.double[::1],
    limits: cython.double[::1],
    weights: cython.double[::1],
    scale: cython.double,
    confusion: cython.longlong[:, ::1],
):
    """Add each leaf's value to its rows' margin; decide 1 where the margin exceeds the limit.

    `limits` has one entry, or one per row; `weights` none (every row counts 1), or one per row.
    Adds to confusion[class, decision].
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    margin: cython.double
    unit: cython.longlong = 1
    total: cython.longlong
    ones: cython.longlong
    positive: cython.longlong
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            total = 0
            ones = 0
            for i in range(starts[k], starts[k + 1]):
                margin = margins[i, 0] + values[leaves[i]]
                margins[i, 0] = margin
                positive = margin > limits[i * step]
                if weighted:
                    unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
                total += unit
                ones += unit * positive
            confusion[k, 1] += ones
            confusion[k, 0] += total - ones


def vote_at_prices(
    margins: cython.double[:, ::1],
    leaves: cython.ushort[::1],
    values: cython.double[::1],
    limits: cython.double[::1],
    weights: cython.double[::1],
    prices: cython.const_double[:, ::1],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Do as `vote_binary` does; add up weight * prices[i, decision] exactly into out[0]."""
    i: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    positive: cython.Py_ssize_t
    margin: cython.double
    term: cython.double
    count: cython.longlong
    units: cython.longlong = 0
    rests: cython.longlong = 0
    with cython.nogil:
        for i in range(leaves.shape[0]):
            margin = margins[i, 0] + values[leaves[i]]
            margins[i, 0] = margin
            positive = 1 if margin > limits[i * step] else 0
            term = prices[i, positive] * scale
            if weighted:
                term *= weights[i]
            count = cython.cast(cython.longlong, term)
            units += count
            rests += cython.cast(cython.longlong, (term - count) * REMAINDER)
    out[0, 0] += units
    out[0, 1] += rests


def vote_classes(
    margins: cython.double[:, ::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    values: cython.double[::1],
    rewards: cython.const_double[:, ::1],
    weights: cython.double[::1],
    scale: cython.double,
    decisions: cython.uchar[::1],
    confusion: cython.longlong[:, ::1],
):
    """Add each leaf's value to the margin of the class it votes for; decide by the largest.

    With `rewards` (K, A) the action of largest sum_k margin_k reward[k, a] is taken instead.
    """
    a: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t
    most: cython.double
    score: cython.double
    n_classes: cython.Py_ssize_t = margins.shape[1]
    n_actions: cython.Py_ssize_t = rewards.shape[1]
    plain: cython.bint = rewards.shape[0] == 0
    weighted: cython.bint = weights.shape[0] > 0
    keep: cython.bint = decisions.shape[0] > 0
    unit: cython.longlong = 1
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                margins[i, votes[leaves[i]]] += values[leaves[i]]
                best = 0
                most = 0.0
                for a in range(n_classes if plain else n_actions):
                    if plain:
                        score = margins[i, a]
                    else:
                        score = 0.0
                        for j in range(n_classes):
                            score += margins[i, j] * rewards[j, a]
                    if a == 0 or score > most:
                        best = a
                        most = score
                if weighted:
                    unit = cython.cast(cython.longlong, weights[i] * scale + 0.5)
                if keep:
                    decisions[i] = best
                confusion[k, best] += unit


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
            _add(out, 0, prices[i, decisions[i]] * weight * scale)


def sum_terms_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    f: cython.const_double[:, :],
    scale: cython.double,
    out: cython.longlong[:, :, ::1],
):
    """Add up weight * factor exactly by leaf and class, (L, K, 2)."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    term: cython.double
    units: cython.longlong
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                leaf = leaves[i]
                term = weights[i] * scale * f[i, votes[leaf]]
                units = cython.cast(cython.longlong, term)
                out[leaf, k, 0] += units
                out[leaf, k, 1] += cython.cast(cython.longlong, (term - units) * REMAINDER)


def multiply_by_leaf_and_row(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    factors: cython.double[:, ::1],
    f: cython.const_double[:, :],
) -> float:
    """Multiply every weight by the factor of its leaf and class, and by its own; return the max."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    weight: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                leaf = leaves[i]
                weight = weights[i] * (factors[leaf, k] * f[i, votes[leaf]])
                weight = weight if weight > TINY else TINY
                largest = weight if weight > largest else largest
                weights[i] = weight
    return largest


def balance_rows(
    weights: cython.double[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up q (1 + u) and q (1 - u), q = weight * factor, u the effective margin, exactly."""
    i: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    q: cython.double
    margin: cython.double
    term: cython.double
    count: cython.longlong
    plus: cython.longlong = 0
    minus: cython.longlong = 0
    plus_rests: cython.longlong = 0
    minus_rests: cython.longlong = 0
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for i in range(leaves.shape[0]):
            vote = votes[leaves[i]]
            q = weights[i] * scale
            if factored:
                q *= f[i, vote]
            margin = sizes[leaves[i]] * u[i, vote]
            term = q * (1.0 + margin)
            count = cython.cast(cython.longlong, term)
            plus += count
            plus_rests += cython.cast(cython.longlong, (term - count) * REMAINDER)
            term = q * (1.0 - margin)
            count = cython.cast(cython.longlong, term)
            minus += count
            minus_rests += cython.cast(cython.longlong, (term - count) * REMAINDER)
    out[0, 0] += plus
    out[0, 1] += plus_rests
    out[1, 0] += minus
    out[1, 1] += minus_rests


def outline_rows(
    weights: cython.double[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    reach: cython.double,
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up q, q d, q d^2, q d^3 on the grid for N even cells of u, out (N, 4).

    The cells divide [-reach, reach]; d is u's distance from the middle of its cell, in widths.
    """
    i: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    q: cython.double
    d: cython.double
    n_cells: cython.Py_ssize_t = out.shape[0]
    half: cython.double = 0.5 * n_cells
    per_cell: cython.double = half / reach
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for i in range(leaves.shape[0]):
            vote = votes[leaves[i]]
            q = weights[i] * scale
            if factored:
                q *= f[i, vote]
            d = sizes[leaves[i]] * u[i, vote] * per_cell + half
            cell = cython.cast(cython.Py_ssize_t, d)
            cell = cell if cell < n_cells else n_cells - 1
            d = d - cell - 0.5
            # A conversion cuts towards zero: terms of either sign need no rounding on average.
            out[cell, 0] += cython.cast(cython.longlong, q + 0.5)
            q *= d
            out[cell, 1] += cython.cast(cython.longlong, q)
            q *= d
            out[cell, 2] += cython.cast(cython.longlong, q + 0.5)
            q *= d
            out[cell, 3] += cython.cast(cython.longlong, q)


def normalizer_rows(
    weights: cython.double[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    alpha: cython.double,
    table: cython.const_double[::1],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up z = q exp(-alpha u), u z and u^2 z exactly: Z, -Z' and Z'' at alpha."""
    i: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    x: cython.double
    z: cython.double
    margin: cython.double
    middle: cython.Py_ssize_t = table.shape[0] // 2
    limit: cython.double = middle / 1024.0
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for i in range(leaves.shape[0]):
            vote = votes[leaves[i]]
            margin = sizes[leaves[i]] * u[i, vote]
            x = -alpha * margin
            if x > limit:
                x = limit
            elif x < -limit:
                x = -limit
            z = weights[i] * scale * _exp(x, table, middle)
            if factored:
                z *= f[i, vote]
            _add(out, 0, z)
            _add(out, 1, margin * z)
            _add(out, 2, margin * margin * z)


def multiply_rows(
    weights: cython.double[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    ahead: cython.const_double[::1],
    alpha: cython.double,
    table: cython.const_double[::1],
    shrink: cython.double,
    scale: cython.double,
    out: cython.longlong[:, ::1],
) -> float:
    """Turn every weight into z = shrink * weight * factor * exp(-alpha u), times its `ahead`.

    Adds up z itself exactly, in out[0], and returns the largest new weight. `ahead` may be empty.
    A block of rows is multiplied, then added up: short loops let a processor work on more rows at
    a time.
    """
    i: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    x: cython.double
    z: cython.double
    term: cython.double
    count: cython.longlong
    units: cython.longlong = 0
    rests: cython.longlong = 0
    largest: cython.double = 0.0
    n_rows: cython.Py_ssize_t = leaves.shape[0]
    middle: cython.Py_ssize_t = table.shape[0] // 2
    limit: cython.double = middle / 1024.0
    factored: cython.bint = f.strides[0] != 0
    prepared: cython.bint = ahead.shape[0] > 0
    with cython.nogil:
        for begin in range(0, n_rows, 512):
            end = begin + 512 if begin + 512 < n_rows else n_rows
            for i in range(begin, end):
                vote = votes[leaves[i]]
                x = -alpha * (sizes[leaves[i]] * u[i, vote])
                if x > limit:
                    x = limit
                elif x < -limit:
                    x = -limit
                z = weights[i] * shrink * _exp(x, table, middle)
                if factored:
                    z *= f[i, vote]
                weights[i] = z
            for i in range(begin, end):
                term = weights[i] * scale
                count = cython.cast(cython.longlong, term)
                units += count
                rests += cython.cast(cython.longlong, (term - count) * REMAINDER)
                z = weights[i]
                if prepared:
                    z *= ahead[i]
                z = z if z > TINY else TINY
                largest = z if z > largest else largest
                weights[i] = z
    out[0, 0] += units
    out[0, 1] += rests
    return largest
