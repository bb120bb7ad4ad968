"""Target statistics row by row: slow, and with whole rows in place of weights."""

import math

import numpy as np


def shares_of(levels, labels, buckets, n_classes, strength, *, level, bucket=None):
    """Return the shares of the classes among rows of a level outside a bucket, drawn to all."""
    prior = [labels.count(k) / len(labels) for k in range(n_classes)]
    if math.isinf(strength):
        return prior
    counts = [0] * n_classes
    for row, label in enumerate(labels):
        if levels[row] == level and buckets[row] != bucket:
            counts[label] += 1
    total = sum(counts) + strength
    return [(counts[k] + strength * prior[k]) / total for k in range(n_classes)]


def log_loss(levels, labels, buckets, n_classes, strength):
    """Return the log loss of rows by the shares among rows of other buckets."""
    loss = 0.0
    for level, label, bucket in zip(levels, labels, buckets, strict=True):
        shares = shares_of(levels, labels, buckets, n_classes, strength, level=level, bucket=bucket)
        loss -= math.log(shares[label])
    return loss


def best_strength(levels, labels, buckets, n_classes, strengths):
    """Return the strength of the least loss, the largest of equals."""
    losses = [log_loss(levels, labels, buckets, n_classes, a) for a in strengths]
    return max(a for a, loss in zip(strengths, losses, strict=True) if loss <= min(losses) + 1e-9)


def price_of_codes(codes, labels, n_classes):
    """Return Schwarz's criterion of codes: the log loss of their own shares, and their price."""
    loss, used = 0.0, sorted(set(codes))
    for code in used:
        own = [label for label, c in zip(labels, codes, strict=True) if c == code]
        for k in range(n_classes):
            if own.count(k):
                loss -= own.count(k) * math.log(own.count(k) / len(own))
    return loss + len(used) * (n_classes - 1) / 2 * np.log(len(labels))
