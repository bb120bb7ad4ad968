"""Gradient boosting again, row by row: losses, trees of (gradient, hessian), leaf values, rounds.

A table is a list of rows of codes without missing values; a tree is a list of leaves, and a leaf a
list of row numbers.
"""

from __future__ import annotations

import math


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def softmax(raw):
    top = max(raw)
    parts = [math.exp(r - top) for r in raw]
    return [p / sum(parts) for p in parts]


# --- losses of one row; `raw` is a list of outputs, `price` the cost of every answer -------------


def squared(y, raw, price=None):
    return 0.5 * (y - raw[0]) ** 2


def pinball(over, under):
    def loss(y, raw, price=None):
        gap = raw[0] - y
        return over * gap if gap > 0 else -under * gap

    return loss


def huber(delta):
    def loss(y, raw, price=None):
        gap = abs(raw[0] - y)
        return gap**2 / 2 if gap <= delta else delta * (gap - delta / 2)

    return loss


def log(y, raw, price=None):
    p = softmax([0.0, *raw] if len(raw) == 1 else raw)
    return -math.log(p[y])


def exponential(y, raw, price=None):
    outputs = [-raw[0] / 2, raw[0] / 2] if len(raw) == 1 else raw
    return sum(math.exp(outputs[k] - outputs[y]) for k in range(len(outputs)) if k != y)


def cost_exponential(objective, total=0.0):
    """Cai's (17) with a, b, w0 = objective(cost of the wrong answer), signs left to F."""

    def loss(y, raw, price):
        outputs = [-raw[0] / 2, raw[0] / 2] if len(raw) == 1 else raw
        value = 0.0
        for k in range(len(outputs)):
            if k != y:
                a, b, w0 = objective(price[k] - price[y])
                value += w0 * math.exp(-(a * (outputs[y] - outputs[k]) + b * total))
        return value

    return loss


def expected_cost(y, raw, price):
    p = softmax([0.0, *raw] if len(raw) == 1 else raw)
    return sum(q * c for q, c in zip(p, price, strict=True))


def gradient(loss, y, raw, price, k, eps=1e-5):
    """First derivative of a row's loss in output k, by differences."""
    up, down = list(raw), list(raw)
    up[k] += eps
    down[k] -= eps
    return (loss(y, up, price) - loss(y, down, price)) / (2 * eps)


def hessian(loss, y, raw, price, k, eps=1e-4):
    """Second derivative of a row's loss in output k, by differences."""
    up, down = list(raw), list(raw)
    up[k] += eps
    down[k] -= eps
    middle = loss(y, list(raw), price)
    return (loss(y, up, price) - 2 * middle + loss(y, down, price)) / eps**2


# --- one tree ------------------------------------------------------------------------------------


def score(rows, g, h, l2):
    total = sum(h[i] for i in rows) + l2
    return sum(g[i] for i in rows) ** 2 / total if total > 0 else 0.0


def best_split(codes, rows, g, h, l2, min_samples_leaf):
    """Return (gain, left, right) of the best threshold of any column, or None."""
    best = None
    for j in range(len(codes[0])):
        for t in sorted({codes[i][j] for i in rows})[:-1]:
            left = [i for i in rows if codes[i][j] <= t]
            right = [i for i in rows if codes[i][j] > t]
            if min(len(left), len(right)) < min_samples_leaf:
                continue
            gain = score(left, g, h, l2) + score(right, g, h, l2) - score(rows, g, h, l2)
            if gain > 1e-9 and (best is None or gain > best[0] + 1e-12):
                best = (gain, left, right)
    return best


def grow(codes, g, h, *, max_leaf_nodes, l2=0.0, min_samples_leaf=1):
    """Return the leaves of a tree, grown best gain first."""
    leaves = [list(range(len(codes)))]
    while len(leaves) < max_leaf_nodes:
        splits = [best_split(codes, rows, g, h, l2, min_samples_leaf) for rows in leaves]
        if not any(splits):
            break
        where = max(
            (i for i in range(len(leaves)) if splits[i] is not None), key=lambda i: splits[i][0]
        )
        _, left, right = splits[where]
        leaves[where : where + 1] = [left, right]
    return leaves


# --- minimisers ----------------------------------------------------------------------------------


def least(function, low=-60.0, high=60.0):
    """Minimise a convex function of one variable by thirds."""
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if function(a) <= function(b) else (a, high)
    return (low + high) / 2


def newton(rows, g, h, l2):
    total = sum(h[i] for i in rows) + l2
    return -sum(g[i] for i in rows) / total if total > 0 else 0.0


def boost(codes, pairs, start, n_rounds, *, learning_rate, max_leaf_nodes, l2=0.0, least_rows=1):
    """Boost one output with Newton leaves; pairs(i, F) gives a row's gradient and hessian."""
    margins = [start] * len(codes)
    for _ in range(n_rounds):
        both = [pairs(i, margins[i]) for i in range(len(codes))]
        g, h = [p[0] for p in both], [p[1] for p in both]
        rules = {"max_leaf_nodes": max_leaf_nodes, "l2": l2, "min_samples_leaf": least_rows}
        for rows in grow(codes, g, h, **rules):
            value = newton(rows, g, h, l2)
            for i in rows:
                margins[i] += learning_rate * value
    return margins
