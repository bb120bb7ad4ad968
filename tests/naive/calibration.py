"""Calibration again, slow and obvious: one loop per sum, general-purpose minimisers."""

import math

import numpy as np
from scipy.optimize import minimize, minimize_scalar


def row_counts(w):
    """Weights as numbers of rows: in their own unit, or in the one that has Kish's sum."""
    total, squares = math.fsum(w), math.fsum(x * x for x in w)
    return np.array([x * max(1.0, total / squares) for x in w])


def platt_targets(y, w):
    """Platt 1999, section 2.2, for labels in {0, 1}."""
    w = row_counts(w)
    n_pos = sum(w[i] for i in range(len(y)) if y[i] == 1)
    n_neg = sum(w[i] for i in range(len(y)) if y[i] == 0)
    return np.array([(n_pos + 1) / (n_pos + 2) if k == 1 else 1 / (n_neg + 2) for k in y])


def sigmoid(scores, A, B):
    return 1 / (1 + np.exp(A * np.asarray(scores) + B))


def cross_entropy(p, t, w):
    return -np.sum(w * (t * np.log(p) + (1 - t) * np.log(1 - p)))


def platt(scores, y, w):
    """A and B by cross-entropy."""
    t = platt_targets(y, w)
    best = minimize(
        lambda at: cross_entropy(sigmoid(scores, *at), t, w),
        [0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 5000},
    )
    return best.x


def beta(scores, y, w):
    """a, b, c of Kull et al. 2017 under a, b >= 0."""

    def loss(at):
        f = at[0] * np.log(scores) - at[1] * np.log(1 - scores) + at[2]
        return np.sum(w * (np.log1p(np.exp(-np.abs(f))) + np.maximum(f, 0) - y * f)) / np.sum(w)

    bounds = [(0, None), (0, None), (None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000}
    return minimize(loss, [1.0, 1.0, 0.0], bounds=bounds, method="L-BFGS-B", options=options).x


def temperature(logits, codes, w):
    """The inverse temperature of Guo et al. 2017."""

    def loss(beta):
        p = np.exp(beta * logits)
        p = p / p.sum(axis=1, keepdims=True)
        return -sum(w[i] * np.log(p[i, codes[i]]) for i in range(len(codes)))

    return minimize_scalar(loss, bounds=(0, 50), method="bounded", options={"xatol": 1e-10}).x


def pav(scores, y, w):
    """Pool adjacent violators; ties are pooled first. Returns one value per row."""
    blocks = []  # each: [sum of w y, sum of w, scores]
    for s in sorted(set(scores)):
        rows = [i for i in range(len(scores)) if scores[i] == s]
        blocks.append([sum(w[i] * y[i] for i in rows), sum(w[i] for i in rows), [s]])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    value = {s: block[0] / block[1] for block in blocks for s in block[2]}
    return np.array([value[s] for s in scores])


def best_stump(X, y, w):
    """(feature, threshold, sign) of the stump with the least weighted error, labels in {-1, 1}."""
    best, least = None, np.inf
    for j in range(X.shape[1]):
        for threshold in np.unique(X[:, j]):
            for sign in (-1, 1):
                h = np.where(X[:, j] > threshold, sign, -sign)
                error = w[h != y].sum()
                if error < least:
                    best, least = (j, threshold, sign), error
    return best, least


def stump_votes(stump, X):
    j, threshold, sign = stump
    return np.where(X[:, j] > threshold, sign, -sign)


def adaboost(X, y, rounds):
    """Freund and Schapire 1997 with stumps: [(alpha, stump)]."""
    w = np.full(len(y), 1 / len(y))
    ensemble = []
    for _ in range(rounds):
        stump, error = best_stump(X, y, w)
        alpha = 0.5 * np.log((1 - error) / error)
        w = w * np.exp(-alpha * y * stump_votes(stump, X))
        w = w / w.sum()
        ensemble.append((alpha, stump))
    return ensemble


def vote_fraction(ensemble, X):
    """s(x), the share of alpha that votes positive."""
    positive = sum(alpha * (stump_votes(stump, X) == 1) for alpha, stump in ensemble)
    return positive / sum(alpha for alpha, _ in ensemble)


def least_squares_sigmoid(s, t, start=(1.0, 1.0)):
    """A, B by Levenberg and Marquardt, from the start of the authors' own program."""
    at, damping = np.array(start), 1e-2
    for _ in range(3000):
        p = sigmoid(s, *at)
        jacobian = np.column_stack([-s * p * (1 - p), -p * (1 - p)])
        normal = jacobian.T @ jacobian
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), jacobian.T @ (t - p))
        if np.sum((sigmoid(s, *(at + step)) - t) ** 2) <= np.sum((p - t) ** 2):
            at, damping = at + step, damping / 10
        else:
            damping *= 10
    return at


def calibrated_adamec(X, y, c_fp, c_fn, rounds, train, calibrate, X_new):
    """The poster of Nikolaou et al. 2016, "Calibrated AdaMEC", by its own numbers; y in {-1, 1}."""
    # 1. Split data into training and calibration set: `train`, `calibrate`.
    # 2.1. On D_tr: train AdaBoost ensemble.
    ensemble = adaboost(X[train], y[train], rounds)
    # 3.1. On D_cal: calculate scores.
    s, labels = vote_fraction(ensemble, X[calibrate]), y[calibrate]
    # 3.2. Calculate the number of positives and negatives in D_cal.
    n_pos, n_neg = np.sum(labels == 1), np.sum(labels == -1)
    # 3.3. Find A, B such that the squared error to the smoothed targets is minimised.
    targets = np.where(labels == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    A, B = least_squares_sigmoid(s, targets)
    # 4.1. Calculate the score of the new examples.
    s_new = vote_fraction(ensemble, X_new)
    # 4.2. Obtain the probability estimate.
    p = sigmoid(s_new, A, B)
    # 4.3. Predict class.
    H = np.where(p > c_fp / (c_fp + c_fn), 1, -1)
    return {"ensemble": ensemble, "s": s, "targets": targets, "A": A, "B": B, "p": p, "H": H}
