"""The compiled loops of gradient boosting over rows: derivatives, grids, sums by leaf.

    margins     (m, J) float64   F of every row and output
    leaves      (m,) uint16      the leaf of the tree grown last that each row reached
    cores       (m,) float64     one number of every row from which both derivatives of an output
                                 follow by a few products: what takes time (`exp`) is in it
    terms       a, b, w0 ...     per-row numbers of a loss: one entry for every row, or one for
                                 every class (then row i reads the entry of its label), or one

Derivatives are those of the loss, times the row's weight: the gradient dL/dF, and the hessian, what
stands for d2L/dF2. They are written a block of rows at a time (`_unfold`) and used there; no array
of either lies beside the rows. What the core is:

    SQUARED, HUBER   F - y                        PINBALL, EXPECTED   the gradient
    LOG              the other class's share      SOFTMAX             the output's share
    EXPONENTIAL      w0 exp(-(a F + b total))     HELD                the gradient; a, the hessian

Sums of real terms are exact and so independent of their order: a term is cut into a whole number
of grid units and a remainder, and both are added as int64. `exp` is libm's, whose result does not
depend on a row's place. Compiled by Cython in pure-Python mode; interpreted, the same loops run
slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.boosting.exact import add
    from cython.cimports.libc.math import exp, fabs, rint
else:
    from math import exp, fabs

    from costboost.boosting.exact import add

    rint = round  # to even, as libm's

SQUARED = cython.declare(cython.int, 0)
PINBALL = cython.declare(cython.int, 1)
HUBER = cython.declare(cython.int, 2)
LOG = cython.declare(cython.int, 3)
EXPONENTIAL = cython.declare(cython.int, 4)
EXPECTED = cython.declare(cython.int, 5)
SOFTMAX = cython.declare(cython.int, 6)
HELD = cython.declare(cython.int, 7)

STEEP = cython.declare(cython.double, 500.0)  # exponents are cut here, far from overflow


# --- cores


def error_cores(
    kind: cython.int,
    margins: cython.const[cython.double][:, ::1],
    targets: cython.const[cython.double][::1],
    over: cython.const[cython.double][::1],
    under: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    cores: cython.double[::1],
    largest: cython.double[:, ::1],
):
    """Write the core of a loss of F - y for every row.

    SQUARED has neither prices; PINBALL is `over` per unit above y and `under` per unit below it;
    HUBER is quadratic up to over[0] and linear beyond, with its true curvature. No weights means
    that all are 1. Raises largest[0] = (|gradient|, hessian).
    """
    i: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if over.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    gap: cython.double
    gradient: cython.double
    hessian: cython.double
    top: cython.double = largest[0, 0]
    most: cython.double = largest[0, 1]
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weighted:
                weight = weights[i]
            gap = margins[i, 0] - targets[i]
            hessian = 1.0
            if kind == PINBALL:
                gap = over[i * step] if gap > 0.0 else (-under[i * step] if gap < 0.0 else 0.0)
            cores[i] = gap
            gradient = fabs(gap)
            if kind == HUBER and gradient > over[0]:
                gradient = over[0]
                hessian = 0.0
            gradient *= weight
            hessian *= weight
            top = gradient if gradient > top else top
            most = hessian if hessian > most else most
        largest[0, 0] = top
        largest[0, 1] = most


def regression_values(
    kind: cython.int,
    margins: cython.const[cython.double][:, ::1],
    targets: cython.const[cython.double][::1],
    over: cython.const[cython.double][::1],
    under: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    values: cython.double[::1],
) -> float:
    """Write every row's weighted loss, as `error_cores` reads it; return the largest."""
    i: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if over.shape[0] > 1 else 0
    gap: cython.double
    value: cython.double
    largest: cython.double = 0.0
    with cython.nogil:
        for i in range(margins.shape[0]):
            gap = margins[i, 0] - targets[i]
            if kind == PINBALL:
                value = over[i * step] * gap if gap > 0.0 else -under[i * step] * gap
            else:
                gap = gap if gap > 0.0 else -gap
                value = 0.5 * gap * gap
                if kind == HUBER and gap > over[0]:
                    value = over[0] * (gap - 0.5 * over[0])
            if weights.shape[0] > 0:
                value *= weights[i]
            values[i] = value
            largest = value if value > largest else largest
    return largest


def sum_values(
    values: cython.const[cython.double][::1], scale: cython.double, out: cython.longlong[:, ::1]
):
    """Add up values exactly, in grid units, into out[0]."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(values.shape[0]):
            add(out, 0, 0, values[i] * scale)


def binary_cores(
    kind: cython.int,
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    w0: cython.const[cython.double][::1],
    total: cython.double,
    weights: cython.const[cython.double][::1],
    cores: cython.double[::1],
    largest: cython.double[:, ::1],
):
    """Write the core of a loss of two classes for every row; raise `largest` as above.

    LOG reads no terms. EXPONENTIAL is w0 exp(-(a F + b total)). EXPECTED is a / (1 + exp(-F)),
    a the cost of answering 1 rather than 0; its hessian is |gradient|, which bounds |d2L/dF2|.
    A single entry of `b` or `w0` is that of all rows.
    """
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    b_step: cython.Py_ssize_t = 1 if b.shape[0] > 1 else 0
    w0_step: cython.Py_ssize_t = 1 if w0.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    z: cython.double
    p: cython.double
    core: cython.double
    gradient: cython.double
    hessian: cython.double
    top: cython.double = largest[0, 0]
    most: cython.double = largest[0, 1]
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weighted:
                weight = weights[i]
            at = cython.cast(cython.Py_ssize_t, labels[i]) if by_class else i
            if kind == LOG:
                # The probability of the other class: nothing cancels where rows are certain.
                z = (2.0 * cython.cast(cython.double, labels[i]) - 1.0) * margins[i, 0]
                core = 1.0 / (1.0 + exp(z if z < STEEP else STEEP))
                gradient = core
                hessian = core * (1.0 - core)
            elif kind == EXPONENTIAL:
                z = -(a[at] * margins[i, 0] + b[at * b_step] * total)
                core = w0[at * w0_step] * exp(z if z < STEEP else STEEP)
                gradient = fabs(a[at] * core)
                hessian = a[at] * a[at] * core
            else:
                z = fabs(margins[i, 0])
                p = 1.0 / (1.0 + exp(z if z < STEEP else STEEP))
                core = a[at] * p * (1.0 - p)
                gradient = fabs(core)
                hessian = gradient
            cores[i] = core
            gradient *= weight
            hessian *= weight
            top = gradient if gradient > top else top
            most = hessian if hessian > most else most
        largest[0, 0] = top
        largest[0, 1] = most


def softmax_cores(
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    weights: cython.const[cython.double][::1],
    cores: cython.double[:, ::1],
    largest: cython.double[:, ::1],
):
    """Write the softmax of every row's F, (K, m): log loss's cores; raise largest, (K, 2)."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    y: cython.Py_ssize_t
    n_classes: cython.Py_ssize_t = margins.shape[1]
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    shift: cython.double
    p: cython.double
    total: cython.double
    gradient: cython.double
    hessian: cython.double
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weighted:
                weight = weights[i]
            y = cython.cast(cython.Py_ssize_t, labels[i])
            shift = margins[i, 0]
            for k in range(1, n_classes):
                shift = margins[i, k] if margins[i, k] > shift else shift
            total = 0.0
            for k in range(n_classes):
                p = exp(margins[i, k] - shift)
                cores[k, i] = p
                total += p
            for k in range(n_classes):
                p = cores[k, i] / total
                cores[k, i] = p
                gradient = fabs(weight * (p - 1.0 if k == y else p))
                hessian = weight * p * (1.0 - p)
                if gradient > largest[k, 0]:
                    largest[k, 0] = gradient
                if hessian > largest[k, 1]:
                    largest[k, 1] = hessian


def class_gradients(
    kind: cython.int,
    margins: cython.const[cython.double][:, ::1],
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][:, ::1],
    b: cython.const[cython.double][:, ::1],
    w0: cython.const[cython.double][:, ::1],
    total: cython.double,
    weights: cython.const[cython.double][::1],
    gradients: cython.double[:, ::1],
    hessians: cython.double[:, ::1],
    largest: cython.double[:, ::1],
):
    """Write the weighted gradients and hessians of a loss of K classes for every row.

    EXPONENTIAL: sum over k != y of w0_k exp(-(a_k (F_y - F_k) + b_k total)). EXPECTED:
    sum_k p_k a_k, p the softmax of F, a_k the cost of answer k; hessian
    p_k (|a_k - E| + sum_j p_j |a_j - E|), E the expected cost: twice that bounds the curvature (by
    diagonal dominance), whatever its sign. Raises largest, (K, 2).
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    y: cython.Py_ssize_t
    n_classes: cython.Py_ssize_t = margins.shape[1]
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    shift: cython.double
    p: cython.double
    z: cython.double
    mean: cython.double
    spread: cython.double
    gradient: cython.double
    hessian: cython.double
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weighted:
                weight = weights[i]
            y = cython.cast(cython.Py_ssize_t, labels[i])
            at = y if by_class else i
            if kind == EXPONENTIAL:
                mean = 0.0
                spread = 0.0
                for k in range(n_classes):
                    if k == y:
                        continue
                    z = -(a[at, k] * (margins[i, y] - margins[i, k]) + b[at, k] * total)
                    z = weight * w0[at, k] * exp(z if z < STEEP else STEEP)
                    gradients[k, i] = a[at, k] * z
                    hessians[k, i] = a[at, k] * a[at, k] * z
                    mean += gradients[k, i]
                    spread += hessians[k, i]
                gradients[y, i] = -mean
                hessians[y, i] = spread
            else:
                shift = margins[i, 0]
                for k in range(1, n_classes):
                    shift = margins[i, k] if margins[i, k] > shift else shift
                z = 0.0
                for k in range(n_classes):
                    p = exp(margins[i, k] - shift)
                    gradients[k, i] = p
                    z += p
                mean = 0.0
                for k in range(n_classes):
                    p = gradients[k, i] / z
                    gradients[k, i] = p
                    mean += p * a[at, k]
                spread = 0.0
                for k in range(n_classes):
                    spread += gradients[k, i] * fabs(a[at, k] - mean)
                for k in range(n_classes):
                    p = gradients[k, i]
                    z = a[at, k] - mean
                    gradients[k, i] = weight * p * z
                    hessians[k, i] = weight * p * (fabs(z) + spread)
            for k in range(n_classes):
                gradient = fabs(gradients[k, i])
                hessian = hessians[k, i]
                if gradient > largest[k, 0]:
                    largest[k, 0] = gradient
                if hessian > largest[k, 1]:
                    largest[k, 1] = hessian


# --- derivatives of one output, from its cores


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _unfold(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    begin: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    block: cython.double[:, ::1],
) -> cython.int:
    """Write gradients (0) and hessians (1) of a block of rows.

    `output` is SOFTMAX's class; `by_weight` takes weights in place of hessians.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if a.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    core: cython.double
    if kind == HELD:
        for j in range(count):
            block[0, j] = cores[begin + j]
            block[1, j] = a[(begin + j) * step]
    elif kind == LOG:
        for j in range(count):
            core = cores[begin + j]
            block[0, j] = (1.0 - 2.0 * cython.cast(cython.double, labels[begin + j])) * core
            block[1, j] = core * (1.0 - core)
    elif kind == SOFTMAX:
        for j in range(count):
            i = begin + j
            core = cores[i]
            if weighted:
                weight = weights[i]
            block[0, j] = weight * (core - 1.0 if labels[i] == output else core)
            block[1, j] = weight * core * (1.0 - core)
    elif kind == EXPONENTIAL:
        for j in range(count):
            i = begin + j
            at = cython.cast(cython.Py_ssize_t, labels[i]) if by_class else i
            block[0, j] = -a[at] * cores[i]
            block[1, j] = a[at] * a[at] * cores[i]
    elif kind == EXPECTED:
        for j in range(count):
            block[0, j] = cores[begin + j]
            block[1, j] = fabs(cores[begin + j])
    elif kind == HUBER:
        for j in range(count):
            core = cores[begin + j]
            block[1, j] = 0.0 if fabs(core) > a[0] else 1.0
            core = core if core < a[0] else a[0]
            block[0, j] = core if core > -a[0] else -a[0]
    else:
        for j in range(count):
            block[0, j] = cores[begin + j]
            block[1, j] = 1.0
    if weighted and kind != HELD and kind != SOFTMAX:
        for j in range(count):
            block[0, j] *= weights[begin + j]
            block[1, j] *= weights[begin + j]
    if by_weight:
        for j in range(count):
            block[1, j] = weights[begin + j] if weighted else 1.0
    return 0


def unfold(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    out: cython.double[:, ::1],
):
    """Write gradients and hessians of all rows, (2, m)."""
    rows: cython.Py_ssize_t = cores.shape[0]
    with cython.nogil:
        _unfold(kind, cores, output, labels, by_class, a, weights, by_weight, 0, rows, out)


def pack_pairs(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    block: cython.double[:, ::1],
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    shift: cython.int,
    packed: cython.longlong[::1],
    totals: cython.longlong[::1],
):
    """Put every row's gradient * 2**shift + hessian on the grid, both in one word.

    Adds to totals = (sum of |gradient|, sum of gradient, sum of hessian, number of rows with a
    hessian), in grid units.
    """
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = cores.shape[0]
    gradient: cython.longlong
    hessian: cython.longlong
    unit: cython.longlong = cython.cast(cython.longlong, 1) << shift
    gradient_total: cython.longlong = 0
    size_total: cython.longlong = 0
    hessian_total: cython.longlong = 0
    alive: cython.longlong = 0
    with cython.nogil:
        while begin < rows:
            count = rows - begin if rows - begin < block.shape[1] else block.shape[1]
            _unfold(
                kind, cores, output, labels, by_class, a, weights, by_weight, begin, count, block
            )
            for j in range(count):
                # A conversion cuts towards zero: half a unit rounds on either side of it.
                gradient = cython.cast(
                    cython.longlong,
                    block[0, j] * gradient_scale + (0.5 if block[0, j] > 0.0 else -0.5),
                )
                hessian = cython.cast(cython.longlong, block[1, j] * hessian_scale + 0.5)
                packed[begin + j] = gradient * unit + hessian
                size_total += gradient if gradient > 0 else -gradient
                gradient_total += gradient
                hessian_total += hessian
                alive += block[1, j] > 0.0
            begin += count
        totals[0] += size_total
        totals[1] += gradient_total
        totals[2] += hessian_total
        totals[3] += alive


def widen_pairs(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    block: cython.double[:, ::1],
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    pairs: cython.longlong[:, ::1],
) -> int:
    """Put both derivatives of every row on the grid, a word each; return the sum of hessians."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = cores.shape[0]
    total: cython.longlong = 0
    with cython.nogil:
        while begin < rows:
            count = rows - begin if rows - begin < block.shape[1] else block.shape[1]
            _unfold(
                kind, cores, output, labels, by_class, a, weights, by_weight, begin, count, block
            )
            for j in range(count):
                i = begin + j
                pairs[i, 0] = cython.cast(
                    cython.longlong,
                    block[0, j] * gradient_scale + (0.5 if block[0, j] > 0.0 else -0.5),
                )
                pairs[i, 1] = cython.cast(cython.longlong, block[1, j] * hessian_scale + 0.5)
                total += pairs[i, 1]
            begin += count
    return total


def put_vectors(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    block: cython.double[:, ::1],
    scale: cython.double,
    column: cython.Py_ssize_t,
    vectors: cython.int[:, ::1],
):
    """Put the gradient of every row on the grid, in a column of `vectors`."""
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = cores.shape[0]
    with cython.nogil:
        while begin < rows:
            count = rows - begin if rows - begin < block.shape[1] else block.shape[1]
            _unfold(
                kind, cores, output, labels, by_class, a, weights, by_weight, begin, count, block
            )
            for j in range(count):
                vectors[begin + j, column] = cython.cast(cython.int, rint(block[0, j] * scale))
            begin += count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leave_out(
    keep: cython.const[cython.uchar][::1],
    begin: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    block: cython.double[:, ::1],
) -> cython.int:
    """Write 0 for rows that are not kept, if some are not: a branch would be as good as random."""
    j: cython.Py_ssize_t
    kept: cython.double
    if keep.shape[0] > 0:
        for j in range(count):
            kept = cython.cast(cython.double, keep[begin + j])
            block[0, j] *= kept
            block[1, j] *= kept
    return 0


def sum_by_leaf(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    block: cython.double[:, ::1],
    leaves: cython.const[cython.ushort][::1],
    keep: cython.const[cython.uchar][::1],
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up both derivatives exactly by leaf, (L, 4); without a `keep` every row counts.

    A single entry of `leaves` is that of all rows.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = cores.shape[0]
    leaf: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if leaves.shape[0] > 1 else 0
    with cython.nogil:
        while begin < rows:
            count = rows - begin if rows - begin < block.shape[1] else block.shape[1]
            _unfold(
                kind, cores, output, labels, by_class, a, weights, by_weight, begin, count, block
            )
            _leave_out(keep, begin, count, block)
            for j in range(count):
                i = begin + j
                leaf = leaves[i * step]
                add(out, leaf, 0, block[0, j] * gradient_scale)
                add(out, leaf, 2, block[1, j] * hessian_scale)
            begin += count


def sum_along(
    kind: cython.int,
    cores: cython.const[cython.double][::1],
    output: cython.int,
    labels: cython.const[cython.uchar][::1],
    by_class: cython.bint,
    a: cython.const[cython.double][::1],
    weights: cython.const[cython.double][::1],
    by_weight: cython.bint,
    block: cython.double[:, ::1],
    steps: cython.const[cython.double][:, ::1],
    column: cython.Py_ssize_t,
    keep: cython.const[cython.uchar][::1],
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    out: cython.longlong[:, ::1],
):
    """Add up gradient * step and hessian * step^2 of a column of `steps` exactly, (1, 4)."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = cores.shape[0]
    step: cython.double
    with cython.nogil:
        while begin < rows:
            count = rows - begin if rows - begin < block.shape[1] else block.shape[1]
            _unfold(
                kind, cores, output, labels, by_class, a, weights, by_weight, begin, count, block
            )
            _leave_out(keep, begin, count, block)
            for j in range(count):
                i = begin + j
                step = steps[i, column]
                add(out, 0, 0, block[0, j] * step * gradient_scale)
                add(out, 0, 2, block[1, j] * step * step * hessian_scale)
            begin += count


# --- margins


def add_by_leaf(
    margins: cython.double[:, ::1],
    output: cython.Py_ssize_t,
    leaves: cython.const[cython.ushort][::1],
    values: cython.const[cython.double][::1],
):
    """Add the value of its leaf to one margin of every row."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(margins.shape[0]):
            margins[i, output] += values[leaves[i]]


def add_scaled(
    margins: cython.const[cython.double][:, ::1],
    steps: cython.const[cython.double][:, ::1],
    factor: cython.double,
    out: cython.double[:, ::1],
):
    """Write margins + factor * steps."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for i in range(margins.shape[0]):
            for k in range(margins.shape[1]):
                out[i, k] = margins[i, k] + factor * steps[i, k]
