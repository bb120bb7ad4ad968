"""The compiled loops of gradient boosting that read derivatives: grids, and sums by leaf.

    read     `Derivatives` of one output, written a block of rows at a time
    leaves   (m,) uint16      the leaf of the tree grown last that each row reached
    keep     (m,) or (0,)     1 for rows that the round learns from; none: for all

Sums of real terms are exact: see `costboost.boosting.exact`. Compiled by Cython in pure-Python
mode; interpreted, the same loops run slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.boosting.exact import add
    from cython.cimports.costboost.boosting.gradient._gradient_kernels import (
        Derivatives,
        write_block,
    )
    from cython.cimports.libc.math import rint
else:
    from costboost.boosting.exact import add
    from costboost.boosting.gradient._gradient_kernels import Derivatives, write_block

    rint = round  # to even, as libm's


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _on_grid(value: cython.double, scale: cython.double) -> cython.longlong:
    """Round to the grid: a conversion cuts towards zero, half a unit more on either side."""
    return cython.cast(cython.longlong, value * scale + (0.5 if value > 0.0 else -0.5))


def pack_pairs(
    read: Derivatives,
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    shift: cython.int,
    packed: cython.longlong[::1],
    totals: cython.longlong[::1],
):
    """Write gradient * 2**shift + hessian of every row, both rounded to the grid, in one word.

    Adds to totals = (sum of |gradient|, sum of gradient, sum of hessian, number of rows with a
    hessian), in grid units.
    """
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = read.cores.shape[0]
    block: cython.double[:, ::1] = read.block
    gradient: cython.longlong
    hessian: cython.longlong
    unit: cython.longlong = cython.cast(cython.longlong, 1) << shift
    gradient_total: cython.longlong = 0
    size_total: cython.longlong = 0
    hessian_total: cython.longlong = 0
    alive: cython.longlong = 0
    with cython.nogil:
        while begin < rows:
            count = write_block(read, begin)
            for j in range(count):
                gradient = _on_grid(block[0, j], gradient_scale)
                hessian = cython.cast(cython.longlong, block[1, j] * hessian_scale + 0.5)
                # A hessian is not negative and below 2**shift: the lower bits of the word are its
                # alone.
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
    read: Derivatives,
    gradient_scale: cython.double,
    hessian_scale: cython.double,
    pairs: cython.longlong[:, ::1],
) -> int:
    """Round both derivatives of every row to the grid, a word each; return the hessians' sum."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = read.cores.shape[0]
    block: cython.double[:, ::1] = read.block
    total: cython.longlong = 0
    with cython.nogil:
        while begin < rows:
            count = write_block(read, begin)
            for j in range(count):
                i = begin + j
                pairs[i, 0] = _on_grid(block[0, j], gradient_scale)
                pairs[i, 1] = cython.cast(cython.longlong, block[1, j] * hessian_scale + 0.5)
                # In integers: the sum is the same whatever the blocks and the shards.
                total += pairs[i, 1]
            begin += count
    return total


def put_vectors(
    read: Derivatives,
    scale: cython.double,
    column: cython.Py_ssize_t,
    vectors: cython.int[:, ::1],
):
    """Round the gradient of every row to the grid, into a column of `vectors`."""
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    rows: cython.Py_ssize_t = read.cores.shape[0]
    block: cython.double[:, ::1] = read.block
    with cython.nogil:
        while begin < rows:
            count = write_block(read, begin)
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
    read: Derivatives,
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
    rows: cython.Py_ssize_t = read.cores.shape[0]
    block: cython.double[:, ::1] = read.block
    leaf: cython.Py_ssize_t
    step: cython.Py_ssize_t = 1 if leaves.shape[0] > 1 else 0
    with cython.nogil:
        while begin < rows:
            count = write_block(read, begin)
            # Rows outside the sample add nothing, and take the same way as the others.
            _leave_out(keep, begin, count, block)
            for j in range(count):
                i = begin + j
                leaf = leaves[i * step]
                add(out, leaf, 0, block[0, j] * gradient_scale)
                add(out, leaf, 2, block[1, j] * hessian_scale)
            begin += count


def sum_along(
    read: Derivatives,
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
    rows: cython.Py_ssize_t = read.cores.shape[0]
    block: cython.double[:, ::1] = read.block
    step: cython.double
    with cython.nogil:
        while begin < rows:
            count = write_block(read, begin)
            _leave_out(keep, begin, count, block)
            for j in range(count):
                i = begin + j
                # Of L(F + lambda s): dL = gradient s, d2L = hessian s^2.
                step = steps[i, column]
                add(out, 0, 0, block[0, j] * step * gradient_scale)
                add(out, 0, 2, block[1, j] * step * step * hessian_scale)
            begin += count
