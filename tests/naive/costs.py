"""Costs again, in plain loops over a dense array C[row, true, action]."""

import numpy as np


def expected(C, proba):
    n, K, A = len(proba), C.shape[1], C.shape[2]
    out = np.zeros((n, A))
    for i in range(n):
        for a in range(A):
            for k in range(K):
                out[i, a] += proba[i][k] * C[i, k, a]
    return out


def of_labels(C, codes):
    return np.array([[C[i, k, a] for a in range(C.shape[2])] for i, k in enumerate(codes)])


def of_errors(C, codes, how):
    out = []
    for i, y in enumerate(codes):
        extra = [max(C[i, y, a] - C[i, y, y], 0.0) for a in range(C.shape[2]) if a != y]
        out.append(max(extra) if how == "max" else sum(extra) / len(extra))
    return np.array(out)


def total(C, codes, taken, weights):
    return sum(w * C[i, codes[i], taken[i]] for i, w in enumerate(weights))


def cheapest_constant(C, codes, weights):
    totals = [
        sum(weights[i] * C[i, codes[i], a] for i in range(len(codes))) for a in range(C.shape[2])
    ]
    best = min(range(len(totals)), key=totals.__getitem__)
    return best, totals[best]


def cheapest_labels(C, codes):
    out = []
    for i, y in enumerate(codes):
        best = y
        for a in range(C.shape[2]):
            if C[i, y, a] < C[i, y, best]:
                best = a
        out.append(best)
    return np.array(out)


def is_positive(fp, fn, tp, tn, p):
    """Whether the positive answer is strictly the cheaper one, by comparing both prices."""
    return p * tp + (1 - p) * fp < p * fn + (1 - p) * tn


def threshold(fp, fn, tp, tn):
    a, b = fp - tn, fn - tp
    if a + b > 0:
        return a / (a + b)
    if a >= 0:
        return np.inf
    return -np.inf if b >= 0 else np.nan
