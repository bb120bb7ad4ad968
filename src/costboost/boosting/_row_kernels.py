"""The compiled loops over rows: weights, votes, sums. Used by `sums.py` and `rounds.py`.

    leaves   (m,) uint16     the leaf of this round's tree that each row reached
    starts   (K + 1,) int64  rows of class k are starts[k] <= i < starts[k + 1]
    votes    (L,) int64      the class that each leaf votes for
    sizes    (L,) float64    how strongly, 1 for a discrete vote
    e_right, e_wrong, f_right, f_wrong  (m, K)
                             the rule's exponents and factors, when row i gets answer k; broadcast
                             views where they do not vary

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
STEEP = cython.declare(cython.double, 500.0)  # exponents are cut here, far from overflow


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
    decisions: cython.uchar[::1],
    confusion: cython.longlong[:, ::1],
):
    """Add each leaf's value to its rows' margin; decide 1 where the margin exceeds the limit.

    `limits` has one entry, or one per row; `weights` none (every row counts 1), or one per row;
    `decisions` is written unless it is empty. Adds to confusion[class, decision].
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if limits.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    keep: cython.bint = decisions.shape[0] > 0
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
                if keep:
                    decisions[i] = positive
                total += unit
                ones += unit * positive
            confusion[k, 1] += ones
            confusion[k, 0] += total - ones


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


def balance_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    e_right: cython.const_double[:, :],
    e_wrong: cython.const_double[:, :],
    f_right: cython.const_double[:, :],
    f_wrong: cython.const_double[:, :],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up q (1 + u) and q (1 - u), q = weight * factor, u the effective margin, exactly."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    q: cython.double
    u: cython.double
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                vote = votes[leaves[i]]
                q = weights[i] * scale
                if vote == k:
                    q *= f_right[i, vote]
                    u = sizes[leaves[i]] * e_right[i, vote]
                else:
                    q *= f_wrong[i, vote]
                    u = -sizes[leaves[i]] * e_wrong[i, vote]
                _add(out, 0, q * (1.0 + u))
                _add(out, 1, q * (1.0 - u))


def normalizer_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    e_right: cython.const_double[:, :],
    e_wrong: cython.const_double[:, :],
    f_right: cython.const_double[:, :],
    f_wrong: cython.const_double[:, :],
    alpha: cython.double,
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up z = q exp(-alpha u), u z and u^2 z exactly: Z, -Z' and Z'' at alpha."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    z: cython.double
    u: cython.double
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                vote = votes[leaves[i]]
                if vote == k:
                    u = sizes[leaves[i]] * e_right[i, vote]
                    z = weights[i] * scale * f_right[i, vote] * exp(min(-alpha * u, STEEP))
                else:
                    u = -sizes[leaves[i]] * e_wrong[i, vote]
                    z = weights[i] * scale * f_wrong[i, vote] * exp(min(-alpha * u, STEEP))
                _add(out, 0, z)
                _add(out, 1, u * z)
                _add(out, 2, u * u * z)


def multiply_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    votes: cython.longlong[::1],
    sizes: cython.double[::1],
    e_right: cython.const_double[:, :],
    e_wrong: cython.const_double[:, :],
    f_right: cython.const_double[:, :],
    f_wrong: cython.const_double[:, :],
    alpha: cython.double,
    divisor: cython.double,
) -> float:
    """Multiply every weight by factor * exp(-alpha u) / divisor; return the largest weight."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    vote: cython.Py_ssize_t
    u: cython.double
    weight: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                vote = votes[leaves[i]]
                if vote == k:
                    u = sizes[leaves[i]] * e_right[i, vote]
                    weight = weights[i] * (f_right[i, vote] * exp(min(-alpha * u, STEEP)) / divisor)
                else:
                    u = -sizes[leaves[i]] * e_wrong[i, vote]
                    weight = weights[i] * (f_wrong[i, vote] * exp(min(-alpha * u, STEEP)) / divisor)
                weight = weight if weight > TINY else TINY
                largest = weight if weight > largest else largest
                weights[i] = weight
    return largest


def log_loss_pairs(
    margins: cython.double[::1],
    targets: cython.uchar[::1],
    weights: cython.double[::1],
    scale: cython.double,
    pairs: cython.longlong[:, ::1],
):
    """Put weight * (p - y) and weight * p (1 - p) on the grid; no weights means all are 1."""
    i: cython.Py_ssize_t
    p: cython.double
    weight: cython.double = scale
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weights.shape[0] > 0:
                weight = weights[i] * scale
            p = 1.0 / (1.0 + exp(-margins[i]))
            # A conversion cuts towards zero: half a unit rounds on either side of it.
            if targets[i]:
                pairs[i, 0] = -cython.cast(cython.longlong, (1.0 - p) * weight + 0.5)
            else:
                pairs[i, 0] = cython.cast(cython.longlong, p * weight + 0.5)
            pairs[i, 1] = cython.cast(cython.longlong, p * (1.0 - p) * weight + 0.5)


def add_by_leaf(
    margins: cython.double[:, ::1],
    leaves: cython.ushort[::1],
    values: cython.double[:, ::1],
):
    """Add the values of its leaf to every row's margins."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for i in range(margins.shape[0]):
            for k in range(margins.shape[1]):
                margins[i, k] += values[leaves[i], k]
