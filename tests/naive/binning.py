"""Binning again, slow and obvious: loops over values, exact fractions for weights."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction


def distinct(values, weights):
    """The sorted distinct values that are not missing, with their total weights."""
    totals = defaultdict(Fraction)
    for value, weight in zip(values, weights, strict=True):
        if weight > 0 and not (isinstance(value, float) and math.isnan(value)):
            totals[value] += Fraction(weight)
    return sorted(totals.items())


def halfway(a, b):
    middle = a + (b - a) / 2
    if not math.isfinite(middle):
        middle = a / 2 + b / 2
    return middle if math.isfinite(middle) and a <= middle < b else a


def edges(values, weights, max_bins):
    """The edges of a numeric column."""
    pairs = distinct([float(v) for v in values], weights)
    if len(pairs) <= max_bins:
        groups = [[pair] for pair in pairs]
    else:
        groups = quantile_groups(pairs, max_bins)
    return [halfway(left[-1][0], right[0][0]) for left, right in itertools.pairwise(groups)]


def quantile_groups(pairs, max_bins):
    groups = []
    while pairs and len(groups) < max_bins - 1:
        share = sum(weight for _, weight in pairs) / (max_bins - len(groups))
        taken, total = 0, Fraction(0)
        while total < share:
            total += pairs[taken][1]
            taken += 1
        if taken > 1 and pairs[taken - 1][1] >= share:  # a heavy value gets a bin alone
            taken -= 1
        groups.append(pairs[:taken])
        pairs = pairs[taken:]
    return [*groups, pairs] if pairs else groups


def code(value, cuts):
    if math.isnan(value):
        return 255
    return sum(1 for edge in cuts if edge < value)


def categories(values, weights, max_bins):
    """The categories kept: the heaviest, ties in favour of those that sort first."""
    pairs = distinct([v for v in values if v is not None], kept_weights(values, weights))
    heaviest = sorted(pairs, key=lambda pair: -pair[1])[:max_bins]
    return sorted(value for value, _ in heaviest)


def kept_weights(values, weights):
    return [w for v, w in zip(values, weights, strict=True) if v is not None]
