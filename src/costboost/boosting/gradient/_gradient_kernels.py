"""The compiled loops of gradient boosting over rows: derivatives, and margins that move.

    margins     (m, J) float64   F of every row and output
    leaves      (m,) uint16      the leaf of the tree grown last that each row reached
    cores       (m,) float64     one number of every row from which both derivatives of an output
                                 follow by a few products: what takes time (`exp`) is in it
    terms       a, b, w0 ...     per-row numbers of a loss: one entry for every row, or one for
                                 every class (then row i reads the entry of its label), or one

Derivatives are those of the loss, times the row's weight: the gradient dL/dF, and the hessian, what
stands for d2L/dF2. They are written a block of rows at a time (`write_block`) and used there, by
`_leaf_kernels`; no array of either lies beside the rows. What the core is:

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
    from cython.cimports.libc.math import exp, fabs
else:
    from math import exp, fabs

    from costboost.boosting.exact import add

SQUARED = cython.declare(cython.int, 0)
PINBALL = cython.declare(cython.int, 1)
HUBER = cython.declare(cython.int, 2)
LOG = cython.declare(cython.int, 3)
EXPONENTIAL = cython.declare(cython.int, 4)
EXPECTED = cython.declare(cython.int, 5)
SOFTMAX = cython.declare(cython.int, 6)
HELD = cython.declare(cython.int, 7)

STEEP = cython.declare(cython.double, 500.0)  # exponents are cut here, far from overflow


# Cores.


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _steep_exp(z: cython.double) -> cython.double:
    """Return exp(z), of a z that is too large the largest."""
    return exp(z if z < STEEP else STEEP)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exponentials(
    margins: cython.const[cython.double][:, ::1], i: cython.Py_ssize_t, out: cython.double[:, ::1]
) -> cython.double:
    """Write exp(F - largest F) of every class of a row in out[:, i]; return their sum."""
    k: cython.Py_ssize_t
    shift: cython.double = margins[i, 0]
    total: cython.double = 0.0
    for k in range(1, margins.shape[1]):
        shift = margins[i, k] if margins[i, k] > shift else shift
    for k in range(margins.shape[1]):
        out[k, i] = exp(margins[i, k] - shift)
        total += out[k, i]
    return total


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
                # At y itself any price between the two is a subgradient; 0 moves nothing.
                gap = over[i * step] if gap > 0.0 else (-under[i * step] if gap < 0.0 else 0.0)
            cores[i] = gap
            gradient = fabs(gap)
            # Beyond the bend the loss is a straight line, without curvature.
            if kind == HUBER and gradient > over[0]:
                gradient = over[0]
                hessian = 0.0
            gradient *= weight
            hessian *= weight
            # The largest of all rows say how fine a grid their sums can be taken on.
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
                core = 1.0 / (1.0 + _steep_exp(z))
                gradient = core
                hessian = core * (1.0 - core)
            elif kind == EXPONENTIAL:
                z = -(a[at] * margins[i, 0] + b[at * b_step] * total)
                core = w0[at * w0_step] * _steep_exp(z)
                gradient = fabs(a[at] * core)
                hessian = a[at] * a[at] * core
            else:
                # p (1 - p) is even in F; for |F| its small factor is computed without cancellation.
                z = fabs(margins[i, 0])
                p = 1.0 / (1.0 + _steep_exp(z))
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
    p: cython.double
    total: cython.double
    gradient: cython.double
    hessian: cython.double
    with cython.nogil:
        for i in range(margins.shape[0]):
            if weighted:
                weight = weights[i]
            y = cython.cast(cython.Py_ssize_t, labels[i])
            # The cores are exponentials first, then shares: no other array is needed.
            total = _exponentials(margins, i, cores)
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
                    z = weight * w0[at, k] * _steep_exp(z)
                    gradients[k, i] = a[at, k] * z
                    hessians[k, i] = a[at, k] * a[at, k] * z
                    mean += gradients[k, i]
                    spread += hessians[k, i]
                # F of the true class is in every term, with the opposite sign.
                gradients[y, i] = -mean
                hessians[y, i] = spread
            else:
                # Until the last loop `gradients` holds the probabilities of the row.
                z = _exponentials(margins, i, gradients)
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


# Derivatives of one output, from its cores.


@cython.final
@cython.cclass
class Derivatives:
    """Both derivatives of one output, as they are read from its cores.

    Attributes
    ----------
    kind : the loss's number
    cores, labels, a, weights : of the rows; see the head of this module
    output : SOFTMAX's class
    by_class : whether the entries of `a` are those of classes
    by_weight : whether weights are read in place of hessians
    block : (2, B), buffer of the gradients (0) and hessians (1) of a block of rows
    """

    kind: cython.int
    cores: cython.const[cython.double][::1]
    output: cython.int
    labels: cython.const[cython.uchar][::1]
    by_class: cython.bint
    a: cython.const[cython.double][::1]
    weights: cython.const[cython.double][::1]
    by_weight: cython.bint
    block: cython.double[:, ::1]

    def __init__(
        self,
        kind: cython.int,
        cores: cython.const[cython.double][::1],
        output: cython.int,
        labels: cython.const[cython.uchar][::1],
        by_class: cython.bint,
        a: cython.const[cython.double][::1],
        weights: cython.const[cython.double][::1],
        by_weight: cython.bint,
        block: cython.double[:, ::1],
    ):
        self.kind = kind
        self.cores = cores
        self.output = output
        self.labels = labels
        self.by_class = by_class
        self.a = a
        self.weights = weights
        self.by_weight = by_weight
        self.block = block


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_block(read: Derivatives, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Write the derivatives of the next block of rows; return how many there are."""
    kind: cython.int = read.kind
    cores: cython.const[cython.double][::1] = read.cores
    labels: cython.const[cython.uchar][::1] = read.labels
    a: cython.const[cython.double][::1] = read.a
    weights: cython.const[cython.double][::1] = read.weights
    block: cython.double[:, ::1] = read.block
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if a.shape[0] > 1 else 0
    weighted: cython.bint = weights.shape[0] > 0
    weight: cython.double = 1.0
    core: cython.double
    count: cython.Py_ssize_t = cores.shape[0] - begin
    count = count if count < block.shape[1] else block.shape[1]
    # A kind is chosen once a block: inside it the loops have no branches and are vectorised.
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
            block[0, j] = weight * (core - 1.0 if labels[i] == read.output else core)
            block[1, j] = weight * core * (1.0 - core)
    elif kind == EXPONENTIAL:
        for j in range(count):
            i = begin + j
            at = cython.cast(cython.Py_ssize_t, labels[i]) if read.by_class else i
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
    # HELD derivatives are weighted already, and SOFTMAX weighs in its own loop.
    if weighted and kind != HELD and kind != SOFTMAX:
        for j in range(count):
            block[0, j] *= weights[begin + j]
            block[1, j] *= weights[begin + j]
    # For leaves whose second sum is the weight of rows, not the curvature.
    if read.by_weight:
        for j in range(count):
            block[1, j] = weights[begin + j] if weighted else 1.0
    return count


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
    read: Derivatives = Derivatives(
        kind, cores, output, labels, by_class, a, weights, by_weight, out
    )
    with cython.nogil:
        write_block(read, 0)


# Margins.


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
