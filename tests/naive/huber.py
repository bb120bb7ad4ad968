"""Huber's loss in fractions: no rounding, every kink looked at."""

from fractions import Fraction
from itertools import pairwise


def loss(v, y, weights, delta):
    """Return sum w (r^2 / 2, beyond delta: delta (r - delta / 2)), r = |y - v|."""
    total = Fraction(0)
    for target, weight in zip(y, weights, strict=True):
        r = abs(Fraction(target) - Fraction(v))
        d = Fraction(delta)
        total += Fraction(weight) * (r * r / 2 if r <= d else d * (r - d / 2))
    return total


def least(y, weights, delta):
    """Return the least loss: at a kink y +- delta, or at the vertex of a piece between two."""
    d = Fraction(delta)
    kinks = sorted({Fraction(t) + side for t in y for side in (-d, d)})
    places = list(kinks)
    for low, high in pairwise(kinks):
        middle = (low + high) / 2
        rows = [(Fraction(t), Fraction(w)) for t, w in zip(y, weights, strict=True)]
        near = [(t, w) for t, w in rows if abs(t - middle) <= d]
        bend = sum(w for _, w in near)
        if bend:
            pull = sum(d * w if t > middle else -d * w for t, w in rows if abs(t - middle) > d)
            places.append((sum(t * w for t, w in near) + pull) / bend)
    return min(loss(v, y, weights, delta) for v in places)
