"""The compiled loops over weights: sums of them, and their new values. For `sums`, `weights`.

    leaves   (m,) uint16     the leaf of this round's tree that each row reached
    starts   (K + 1,) int64  rows of class k are starts[k] <= i < starts[k + 1]
    u, f     (m, W) float64  the rule's effective margins and its factors, as `RowTerms` keeps
                             them; f a broadcast view if all are 1
    columns  (L,) int64      which of the W a row in each leaf has
    sizes    (L, K) float64  what multiplies its margin
    block    (B,) float64    scratch of a block of rows: short loops, one after the other, let a
                             processor work on several rows at a time

Which answer a row gets is as good as random to a processor: it picks an entry, never a branch.
For the same reason sums and maxima alternate between places: one need not wait for the other.

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
    from cython.cimports.costboost.boosting.exact import add, rest
    from cython.cimports.libc.math import exp, log
else:
    from math import exp, log

    from costboost.boosting.exact import add, rest

# Weights, at most 1 at first, are held above this: no denormals, and a way back.
TINY = cython.declare(cython.double, 1e-280)
STEEP = cython.declare(cython.double, 500.0)  # exponents are cut here, far from overflow
DEEP = cython.declare(cython.double, -700.0)  # exp of less is as good as 0
# Of the series of exp.
C3 = cython.declare(cython.double, 1.0 / 6.0)
C4 = cython.declare(cython.double, 1.0 / 24.0)
C5 = cython.declare(cython.double, 1.0 / 120.0)
C6 = cython.declare(cython.double, 1.0 / 720.0)
C7 = cython.declare(cython.double, 1.0 / 5040.0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exponentials(
    x: cython.double[::1], count: cython.Py_ssize_t, halvings: cython.int
) -> cython.int:
    """Replace the first `count` entries of x by exp(x): exp(x / 2**h) by its series, squared.

    |x| / 2**h must be at most 1/32: eight terms are then as good as all. Squaring h times makes
    the error 2**h roundings. 14 halvings serve up to 512: there |x| is cut at 500.
    """
    j: cython.Py_ssize_t
    _h: cython.int
    y: cython.double
    shrink: cython.double = 1.0 / (1 << halvings)
    # Up to 13 halvings |x| is below 256, and needs no cut.
    if halvings > 13:
        for j in range(count):
            y = x[j]
            y = y if y < STEEP else STEEP
            x[j] = y if y > -STEEP else -STEEP
    for j in range(count):
        y = x[j] * shrink
        # By Horner's scheme, without a branch or a call: a compiler takes several rows at once.
        x[j] = 1.0 + y * (1.0 + y * (0.5 + y * (C3 + y * (C4 + y * (C5 + y * (C6 + y * C7))))))
    for _h in range(halvings):
        for j in range(count):
            x[j] *= x[j]
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _margins(
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    sizes: cython.const_double[:, ::1],
    u: cython.const_double[:, ::1],
    k: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    block: cython.double[::1],
) -> cython.int:
    """Write the margins of a block of rows of class k, for the answers that they got."""
    j: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    if u.shape[1] == 1:
        for j in range(count):
            block[j] = sizes[leaves[begin + j], k] * u[begin + j, 0]
    else:
        for j in range(count):
            leaf = leaves[begin + j]
            block[j] = sizes[leaf, k] * u[begin + j, columns[leaf]]
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _larger(
    x: cython.double[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    a: cython.double,
) -> cython.double:
    """Return the largest of `a` and the entries from `begin` to `end`."""
    i: cython.Py_ssize_t
    b: cython.double = a
    c: cython.double = a
    d: cython.double = a
    # Four maxima side by side: no comparison waits for the one before it.
    for i in range(begin, end - 3, 4):
        a = x[i] if x[i] > a else a
        b = x[i + 1] if x[i + 1] > b else b
        c = x[i + 2] if x[i + 2] > c else c
        d = x[i + 3] if x[i + 3] > d else d
    for i in range(end - (end - begin) % 4, end):
        a = x[i] if x[i] > a else a
    a = a if a > b else b
    c = c if c > d else d
    return a if a > c else c


def sum_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    scale: cython.double,
    out: cython.longlong[:, :, ::1],
):
    """Add up weights on the grid by leaf and class; even rows in out[0], odd ones in out[1]."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                out[i & 1, leaves[i], k] += cython.cast(cython.longlong, weights[i] * scale + 0.5)


def multiply_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    factors: cython.double[:, ::1],
) -> float:
    """Multiply every weight by the factor of its leaf and class; return the largest weight."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    weight: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            # A block stays in the first cache between its products and the search for the largest.
            for begin in range(starts[k], starts[k + 1], 1024):
                end = begin + 1024 if begin + 1024 < starts[k + 1] else starts[k + 1]
                for i in range(begin, end):
                    weight = weights[i] * factors[leaves[i], k]
                    # No weight becomes 0: no product would ever bring it back.
                    weights[i] = weight if weight > TINY else TINY
                largest = _larger(weights, begin, end, largest)
    return largest


def multiply_by_leaf_and_row(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    factors: cython.double[:, ::1],
    f: cython.const_double[:, :],
) -> float:
    """Multiply every weight by the factor of its leaf and class, and by its own; return the max."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    weight: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for begin in range(starts[k], starts[k + 1], 1024):
                end = begin + 1024 if begin + 1024 < starts[k + 1] else starts[k + 1]
                for i in range(begin, end):
                    leaf = leaves[i]
                    weight = weights[i] * (factors[leaf, k] * f[i, columns[leaf]])
                    weights[i] = weight if weight > TINY else TINY
                largest = _larger(weights, begin, end, largest)
    return largest


def sum_terms_by_leaf(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
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
                term = weights[i] * scale * f[i, columns[leaf]]
                # Factors may span many powers of ten: what is below a unit of the grid is kept as
                # well.
                units = cython.cast(cython.longlong, term)
                out[leaf, k, 0] += units
                out[leaf, k, 1] += rest(term, units)


def balance_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    sizes: cython.const_double[:, ::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up q (1 + u) and q (1 - u), q = weight * factor, u the effective margin, exactly."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    column: cython.Py_ssize_t
    q: cython.double
    margin: cython.double
    # Factors that are all 1 are a view of one number, which has no stride.
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                column = columns[leaves[i]]
                q = weights[i] * scale
                if factored:
                    q *= f[i, column]
                margin = sizes[leaves[i], k] * u[i, column]
                add(out, 0, 0, q * (1.0 + margin))
                add(out, 1, 0, q * (1.0 - margin))


def outline_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    sizes: cython.const_double[:, ::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    reach: cython.double,
    scale: cython.double,
    block: cython.double[::1],
    cells: cython.int[::1],
    moments: cython.longlong[:, ::1],
    sums: cython.longlong[:, ::1],
):
    """Add up q, q d, q d^2, q d^3 on the grid for N even cells of u, and q by leaf and class.

    The cells divide [-reach, reach]; d is u's distance from the middle of its cell, in widths.
    `moments` is (N, 4), `sums` (L, K).
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    count: cython.Py_ssize_t
    cell: cython.int
    unit: cython.longlong
    q: cython.double
    d: cython.double
    last: cython.int = cython.cast(cython.int, moments.shape[0] - 1)
    half: cython.double = 0.5 * moments.shape[0]
    beyond: cython.double = 2.0 * half + 0.5
    per_cell: cython.double = half / reach
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            begin = starts[k]
            while begin < starts[k + 1]:
                count = starts[k + 1] - begin
                count = count if count < block.shape[0] else block.shape[0]
                _margins(leaves, columns, sizes, u, k, begin, count, block)
                for j in range(count):
                    d = block[j] * per_cell + half
                    # Kept in range from both sides, so that no margin leads outside the cells;
                    # NaN fails the first comparison, and goes to the first cell.
                    d = d if d > -0.5 else -0.5
                    d = d if d < beyond else beyond
                    cell = cython.cast(cython.int, d)
                    cell = cell if cell < last else last
                    cells[j] = cell
                    block[j] = d - cell - 0.5
                for j in range(count):
                    i = begin + j
                    cell = cells[j]
                    d = block[j]
                    q = weights[i] * scale
                    if factored:
                        q *= f[i, columns[leaves[i]]]
                    # |d| is 1/2 at most, but for rounding: no moment is larger than the weight
                    # itself, and none overflows the grid.
                    unit = cython.cast(cython.longlong, q + 0.5)
                    sums[leaves[i], k] += unit
                    moments[cell, 0] += unit
                    # A conversion cuts towards zero: terms of either sign even out.
                    q *= d
                    moments[cell, 1] += cython.cast(cython.longlong, q)
                    q *= d
                    moments[cell, 2] += cython.cast(cython.longlong, q + 0.5)
                    q *= d
                    moments[cell, 3] += cython.cast(cython.longlong, q)
                begin += count


def normalizer_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    sizes: cython.const_double[:, ::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    alpha: cython.double,
    halvings: cython.int,
    scale: cython.double,
    block: cython.double[::1],
    out: cython.longlong[:, ::1],
):
    """Add up z = q exp(-alpha u), u z and u^2 z exactly: Z, -Z' and Z'' at alpha."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    count: cython.Py_ssize_t
    column: cython.Py_ssize_t
    z: cython.double
    margin: cython.double
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            begin = starts[k]
            while begin < starts[k + 1]:
                count = starts[k + 1] - begin
                count = count if count < block.shape[0] else block.shape[0]
                _margins(leaves, columns, sizes, u, k, begin, count, block)
                for j in range(count):
                    block[j] *= -alpha
                _exponentials(block, count, halvings)
                for j in range(count):
                    i = begin + j
                    column = columns[leaves[i]]
                    # Computed again: the exponential has taken its place in the block.
                    margin = sizes[leaves[i], k] * u[i, column]
                    z = weights[i] * scale * block[j]
                    if factored:
                        z *= f[i, column]
                    add(out, 0, 0, z)
                    add(out, 1, 0, margin * z)
                    add(out, 2, 0, margin * margin * z)
                begin += count


def multiply_rows(
    weights: cython.double[::1],
    starts: cython.longlong[::1],
    leaves: cython.ushort[::1],
    columns: cython.longlong[::1],
    steps: cython.const_double[:, ::1],
    u: cython.const_double[:, ::1],
    f: cython.const_double[:, :],
    halvings: cython.int,
    shrink: cython.double,
    block: cython.double[::1],
) -> float:
    """Multiply every weight by shrink * factor * exp(step u); return the largest.

    `steps` (L, K) is -alpha * sizes.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    count: cython.Py_ssize_t
    weight: cython.double
    largest: cython.double = 0.0
    factored: cython.bint = f.strides[0] != 0
    with cython.nogil:
        for k in range(starts.shape[0] - 1):
            begin = starts[k]
            while begin < starts[k + 1]:
                count = starts[k + 1] - begin
                count = count if count < block.shape[0] else block.shape[0]
                # `steps` has the sign and alpha in it: what comes back is the exponent.
                _margins(leaves, columns, steps, u, k, begin, count, block)
                _exponentials(block, count, halvings)
                if factored:
                    for j in range(count):
                        i = begin + j
                        block[j] *= f[i, columns[leaves[i]]]
                for j in range(count):
                    weight = weights[begin + j] * (shrink * block[j])
                    weights[begin + j] = weight if weight > TINY else TINY
                largest = _larger(weights, begin, begin + count, largest)
                begin += count
    return largest


def take_logs(values: cython.const_double[::1], out: cython.double[::1]):
    """Write the logarithm of every value: of 0, minus infinity."""
    i: cython.Py_ssize_t
    nothing: cython.double = -float("inf")
    with cython.nogil:
        for i in range(values.shape[0]):
            out[i] = log(values[i]) if values[i] > 0.0 else nothing


def raise_logs(logs: cython.const_double[::1], out: cython.double[::1]):
    """Write exp of every logarithm (at most 0), not below TINY."""
    i: cython.Py_ssize_t
    weight: cython.double
    with cython.nogil:
        for i in range(logs.shape[0]):
            weight = exp(logs[i]) if logs[i] > DEEP else 0.0
            out[i] = weight if weight > TINY else TINY


def largest_log(
    logs: cython.const_double[::1], u: cython.const_double[::1], alpha: cython.double
) -> float:
    """Return the largest of logs - alpha u; minus infinity if there is none."""
    i: cython.Py_ssize_t
    term: cython.double
    largest: cython.double = -float("inf")
    with cython.nogil:
        for i in range(logs.shape[0]):
            term = logs[i] - alpha * u[i]
            largest = term if term > largest else largest
    return largest


def sum_of_logs(
    logs: cython.const_double[::1],
    u: cython.const_double[::1],
    alpha: cython.double,
    largest: cython.double,
    scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up exp(logs - alpha u - largest), at most 1 each, exactly."""
    i: cython.Py_ssize_t
    term: cython.double
    with cython.nogil:
        for i in range(logs.shape[0]):
            term = logs[i] - alpha * u[i] - largest
            if term > DEEP:
                add(out, 0, 0, exp(term) * scale)
