"""Kernels of links: exponentials and logarithms of libm, one number after the other.

numpy's own are chosen by the processor at run time and differ in the last bit from machine to
machine. Probabilities shall not, and exported C code, which calls libm too, agrees bit for bit.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.libc.math import exp, log, log1p
else:
    from math import exp, log, log1p


def softmax_rows(
    logits: cython.const[cython.double][:, ::1],
    out: cython.double[:, ::1],
):
    """Write exp(x_k - max x) over its sum, added up from the first class to the last."""
    row: cython.Py_ssize_t
    k: cython.Py_ssize_t
    top: cython.double
    total: cython.double
    with cython.nogil:
        for row in range(logits.shape[0]):
            # Relative to the largest, so that no exponential overflows.
            top = logits[row, 0]
            for k in range(1, logits.shape[1]):
                if logits[row, k] > top:
                    top = logits[row, k]
            total = 0.0
            for k in range(logits.shape[1]):
                out[row, k] = exp(logits[row, k] - top)
                total += out[row, k]
            for k in range(logits.shape[1]):
                out[row, k] /= total


def log_sides(
    shares: cython.const[cython.double][::1],
    out: cython.double[:, ::1],
):
    """Write ln s and -ln(1 - s) of every s strictly between 0 and 1."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(shares.shape[0]):
            out[i, 0] = log(shares[i])
            # 1 - s would lose the last digits of a small s.
            out[i, 1] = -log1p(-shares[i])
