"""The L_p family in plain NumPy: one relational example after the other, from the formulas alone.

``C`` (n, K) is what each answer costs over the cheapest, ``label`` (n,) the cheapest answer, ``H``
(n, K) the mixture, ``h`` (n, K) a hypothesis, ``s`` (n,) the weights of rows. Relational examples
are a list of (row, class, l, w). Section numbers are those of docs/algorithms.md.
"""

import math

import numpy as np
from scipy.optimize import minimize_scalar

RELATIONAL = {"lp-csb", "gbse", "gbse-t", "adaboost.m2"}
STOCHASTIC = {"gbse", "gbse-t", "lp-csb-pa"}


def weights(H, C, p):
    """w_{x,y} = H(y|x)^(p-1) C_{x,y} (Eq. 5)."""
    w = np.zeros_like(C)
    for i, y in np.ndindex(*C.shape):
        w[i, y] = (1.0 if p == 1 else H[i, y] ** (p - 1)) * C[i, y]
    return w


def adjusted(w, label):
    """w~ = w - (1/K) sum_{y' != y*} w for y != y* (Proposition 3.1)."""
    K = w.shape[1]
    out = np.zeros_like(w)
    for i, y in np.ndindex(*w.shape):
        if y != label[i]:
            out[i, y] = w[i, y] - sum(w[i, j] for j in range(K) if j != label[i]) / K
    return out


def pseudo_loss_set(w, label):
    """S_2: (x, y) with label 0 and w/2, (x, y*) with label 1 and half of their sum (3.3.1)."""
    examples = []
    for i in range(len(w)):
        wrong = [y for y in range(w.shape[1]) if y != label[i]]
        examples += [(i, y, 0, w[i, y] / 2) for y in wrong]
        examples.append((i, int(label[i]), 1, sum(w[i, y] for y in wrong) / 2))
    return examples


def turned(examples):
    """A negative weight turns the label round."""
    return [(i, y, one, w) if w >= 0 else (i, y, 1 - one, -w) for i, y, one, w in examples]


def examples_of(method, H, C, label, p, D=None):
    """The relational examples of one round."""
    n, K = C.shape
    w = weights(H, C, p)
    if method == "adaboost.m2":
        return pseudo_loss_set(D, label)
    if method == "lp-csb":
        return pseudo_loss_set(w, label)
    if method == "lp-csb-pa":
        return turned(pseudo_loss_set(adjusted(w, label), label))
    if method == "lp-csb-a":  # a cost of answering y is a reward for not answering it
        return [(i, y, 0, w[i, y]) for i, y in np.ndindex(n, K)]
    if method == "dse":
        return [(i, y, 1, max(w[i]) - w[i, y]) for i, y in np.ndindex(n, K)]
    if method in ("gbse", "gbse-t"):
        share = K if method == "gbse-t" else 1
        mean = [sum(H[i, y] * C[i, y] for y in range(K)) / share for i in range(n)]
        return turned([(i, y, 1, mean[i] - C[i, y]) for i, y in np.ndindex(n, K)])
    assert method == "average-cost"
    return [(i, int(label[i]), 1, sum(C[i]) / (K - 1)) for i in range(n)]


def signed(examples, shape, s=None):
    """+w for label 1, -w for label 0, (n, K)."""
    v = np.zeros(shape)
    for i, y, one, w in examples:
        v[i, y] += (1 if one == 1 else -1) * w * (1.0 if s is None else s[i])
    return v


def weighted_error(examples, h, s=None):
    """sum w |h(x, y) - l|."""
    return sum(w * abs(h[i, y] - one) * (1.0 if s is None else s[i]) for i, y, one, w in examples)


def plain_loss(w, h):
    """l_w(h) = sum w h."""
    return float(np.sum(w * h))


def pseudo_loss(w, h, label):
    """l~_w(h) = sum_{y != y*} w (1 - h(x, y*) + h(x, y)), without the factor 1/2 (3.3.2)."""
    total = 0.0
    for i, y in np.ndindex(*w.shape):
        if y != label[i]:
            total += w[i, y] * (1 - h[i, label[i]] + h[i, y])
    return total


def objective(H, C, p, s=None):
    """mean_x sum_y H^p C (Eq. 2)."""
    s = np.ones(len(C)) if s is None else np.asarray(s, dtype=float)
    return float(np.sum(s[:, None] * H**p * C) / s.sum())


def stochastic(h):
    """Uniform over the labels with h = 1; over all where there is none."""
    out = np.zeros(h.shape)
    for i, row in enumerate(h):
        out[i] = row / row.sum() if row.sum() > 0 else 1 / len(row)
    return out


def leaf(v, one_label):
    """What a leaf with these signed weights answers."""
    sums = v.sum(axis=0)
    if one_label:
        return (np.arange(len(sums)) == np.argmax(sums)).astype(float)
    return (sums > 0).astype(float)


def best_stump(X, v, one_label):
    """Try every column and every value: the split that answers most weight right."""
    whole = leaf(v, one_label)
    best, chosen = np.sum(v * whole), np.tile(whole, (len(X), 1))
    for j in range(X.shape[1]):
        for t in np.unique(X[:, j])[:-1]:
            left = X[:, j] <= t
            h = np.where(left[:, None], leaf(v[left], one_label), leaf(v[~left], one_label))
            if np.sum(v * h) > best + 1e-9 * abs(v).sum():
                best, chosen = np.sum(v * h), h
    return chosen


def searched(H, f, C, label, p, s, relational):
    """The minimiser over [0, 1] of L, for relational f of L + p sum w (1 - H(y*))."""
    w = weights(H, C, p)
    rows = np.arange(len(C))

    def value(alpha):
        G = (1 - alpha) * H + alpha * f
        total = np.sum(s[:, None] * G**p * C)
        if relational:
            total += p * np.sum(s * w.sum(axis=1) * (1 - G[rows, label]))
        return total

    found = minimize_scalar(value, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    return min((value(0.0), 0.0), (value(1.0), 1.0), (found.fun, found.x))[1]


def bounded(H, f, C, label, p, s, relational):
    """Eq. 10 with means over rows."""
    M = C.max() * p * (p - 1) * 2 ** (p - 2)
    w = weights(H, C, p)
    slope = p * np.sum(s[:, None] * w * (f - H))
    if relational:
        rows = np.arange(len(C))
        slope -= p * np.sum(s * w.sum(axis=1) * (f - H)[rows, label])
    return min(-slope / (M * np.sum(s[:, None] * (f - H) ** 2)), 1.0)


def run(X, C, label, method, p=2.0, step="harmonic", T=5, s=None, learner=None):
    """T rounds with the best stumps; returns one dict per round."""
    n, K = C.shape
    s = np.ones(n) if s is None else np.asarray(s, dtype=float)
    adaptive = method == "adaboost.m2"
    H = np.zeros((n, K)) if adaptive else np.full((n, K), 1 / K)
    D = C * s[:, None] / np.sum(C * s[:, None])
    learner = learner or best_stump
    rounds, total = [], 0.0
    for t in range(1, T + 1):
        examples = examples_of(method, H, C, label, p, D)
        weigh = None if adaptive else s
        v = signed(examples, C.shape, weigh)
        h = learner(X, v, method not in RELATIONAL)
        error = weighted_error(examples, h, weigh) / np.sum(np.abs(v))
        f = stochastic(h) if method in STOCHASTIC else h
        relational = method == "lp-csb"
        if adaptive:
            beta = error / (1 - error)
            alpha = math.log(1 / beta)
            own = h[np.arange(n), label][:, None]
            D = D * beta ** (0.5 * (1 + own - h))
            D = D / D.sum()
        elif step == "harmonic":
            alpha = 1 / (t + 1)
        elif step == "average":
            alpha = 1 / t
        elif step == "bound":
            alpha = bounded(H, f, C, label, p, s, relational)
        else:
            alpha = searched(H, f, C, label, p, s, relational)
        if alpha <= 0:
            break
        total += alpha
        H = (H if adaptive else (1 - alpha) * H) + alpha * f
        share = H / total if adaptive else H
        cost = float(np.sum(s * C[np.arange(n), np.argmax(H, axis=1)]))
        rounds.append(
            {
                "alpha": alpha,
                "error": error,
                "H": H,
                "h": h,
                "objective": objective(share, C, p, s),
                "cost": cost,
            }
        )
    return rounds
