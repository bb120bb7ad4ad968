"""Trees again, by loops over rows: histograms, scores, splits, growth, prediction.

    codes      list or array of n rows of d codes; 255 is a missing value
    channels   list or array of n rows of C integers: what a row adds to a node's sums

A node is a list of row numbers here, and a split is tried by dealing them out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

MISSING = 255
ROUNDING = 1e-12
CRITERIA = ("gini", "entropy", "error", "newton", "vector", "one-hot", "squares")


@dataclass(frozen=True)
class Rules:
    """All that steers the growth of a tree; weights in units of the grid."""

    criterion: str
    l2: float = 0.0
    min_weight: float = 0.0
    min_samples_leaf: int = 1
    max_depth: int | None = None
    max_leaf_nodes: int | None = None


@dataclass
class Table:
    """What a tree learns from."""

    codes: np.ndarray
    channels: np.ndarray
    n_bins: Sequence[int]
    is_categorical: Sequence[bool]

    def sums(self, rows):
        """Sum the rows' channels, as Python integers."""
        totals = [0] * self.channels.shape[1]
        for i in rows:
            for c in range(len(totals)):
                totals[c] += int(self.channels[i, c])
        return totals


def class_channels(labels, weights, scale, n_classes):
    """Put each row's weight, on the grid, into its class's channel."""
    channels = np.zeros((len(labels), n_classes), dtype=np.int64)
    for i, (label, weight) in enumerate(zip(labels, weights, strict=True)):
        channels[i, label] = int(weight * scale + 0.5)
    return channels


def histogram(codes, rows, channels):
    """Add up channels by column and code, (d, 256, C)."""
    hist = np.zeros((codes.shape[1], 256, channels.shape[1]), dtype=np.int64)
    for i in rows:
        for j in range(codes.shape[1]):
            for c in range(channels.shape[1]):
                hist[j, int(codes[i, j]), c] += int(channels[i, c])
    return hist


def count_histogram(codes, rows):
    """Count rows by column and code, (d, 256)."""
    return histogram(codes, rows, np.ones((len(codes), 1), dtype=np.int64))[:, :, 0]


def score(sums, criterion, l2=0.0):
    """Score a node's sums, as floats."""
    total = sum(sums)
    if criterion == "newton":
        return float(sums[0]) * float(sums[0]) / (sums[1] + l2) if sums[1] + l2 > 0 else 0.0
    if criterion == "squares":
        *gradients, whole = sums
        return sum(float(s) * float(s) for s in gradients) / (whole + l2) if whole + l2 > 0 else 0.0
    if criterion == "vector":
        return float(sum(s for s in sums if s > 0))
    if criterion in ("error", "one-hot"):
        return float(max(sums))
    if criterion == "gini":
        squares = total = 0.0
        for s in sums:
            squares += float(s) * float(s)
            total += float(s)
        return squares / total if total > 0 else 0.0
    result = 0.0
    for s in sums:
        if float(s) > 0.9375 * float(total):
            result += s * math.log1p(-float(total - s) / float(total))
        elif s > 0:
            result += s * math.log(float(s) / float(total))
    return result


def exact_score(sums, criterion, l2=0):
    """Score a node's sums, as a fraction; all criteria but entropy."""
    if criterion == "newton":
        return Fraction(sums[0] ** 2) / Fraction(sums[1] + l2) if sums[1] + l2 > 0 else Fraction(0)
    if criterion == "squares":
        squares, whole = Fraction(sum(s * s for s in sums[:-1])), Fraction(sums[-1] + l2)
        return squares / whole if whole > 0 else Fraction(0)
    if criterion == "gini":
        return Fraction(sum(s * s for s in sums), sum(sums)) if sum(sums) > 0 else Fraction(0)
    if criterion == "vector":
        return Fraction(sum(max(s, 0) for s in sums))
    return Fraction(max(sums))


def weight(sums, criterion):
    """Weigh a node: the hessian, the weight behind gradients, or the size of all sums."""
    if criterion in ("newton", "squares"):
        return float(sums[1 if criterion == "newton" else -1])
    return float(sum(abs(s) for s in sums))


def gain(left, right, rules):
    """Return what a split gains and how much of that is rounding; None when it may not be made."""
    if min(weight(left, rules.criterion), weight(right, rules.criterion)) < rules.min_weight:
        return None
    parent = [a + b for a, b in zip(left, right, strict=True)]
    both = score(left, rules.criterion, rules.l2) + score(right, rules.criterion, rules.l2)
    gained = both - score(parent, rules.criterion, rules.l2)
    rounding = ROUNDING * abs(both)
    return (gained, rounding) if gained > rounding else None


@dataclass(frozen=True)
class Split:
    """The twin of `costboost.trees.tree.Split`; goes_left is a list of 256 booleans."""

    gain: float
    feature: int
    threshold: int
    goes_left: list[bool]
    left_sums: list[int]
    rounding: float = 0.0


def thresholds(codes) -> Iterator[tuple[int, list[bool]]]:
    """All ways to cut a numeric column at these codes; missing values to the right first."""
    for t in codes:
        for missing_left in (False, True):
            yield t, [code <= t for code in range(MISSING)] + [missing_left]


def present_codes(table, rows, j, rules):
    """List the codes that weigh something in a node, or count if rows are counted."""
    codes = sorted({int(table.codes[i, j]) for i in rows})
    if rules.min_samples_leaf > 1:
        return codes
    return [c for c in codes if any(table.sums([i for i in rows if table.codes[i, j] == c]))]


def all_subsets(present) -> Iterator[tuple[int, list[bool]]]:
    """All ways to send some categories, but not all of them, to the left."""
    for size in range(1, len(present)):
        for chosen in itertools.combinations(present, size):
            yield -1, [code in chosen for code in range(256)]


def channel_key(sums, channel, criterion):
    """Return the number by which categories are put in order for one channel, exactly."""
    if criterion in ("vector", "one-hot"):
        return Fraction(sums[channel])
    total = sums[1] if criterion == "newton" else sum(sums)
    total = sums[-1] if criterion == "squares" else total
    return Fraction(sums[channel], total) if total else sums[channel] * Fraction(10) ** 300


def exceeds(a, b):
    """Whether a is larger than b by more than rounding."""
    return a - b > ROUNDING * abs(a)


def in_order(present, keys):
    """Sort categories by their keys, by insertion: keys equal but for rounding stay as they are."""
    order = []
    for c in present:
        place = len(order)
        while place > 0 and keys[order[place - 1]] - keys[c] > ROUNDING * abs(
            keys[order[place - 1]]
        ):
            place -= 1
        order.insert(place, c)
    return order


def ordered_subsets(table, rows, j, rules, channels=None) -> Iterator[tuple[int, list[bool]]]:
    """All cuts of the categories in the order of each channel."""
    present = present_codes(table, rows, j, rules)
    sums = {c: table.sums([i for i in rows if table.codes[i, j] == c]) for c in present}
    n_channels = table.channels.shape[1]
    if channels is None:
        one_is_enough = rules.criterion == "newton" or (
            n_channels == 2 and rules.criterion in ("gini", "entropy", "error")
        )
        channels = range(1 if one_is_enough else n_channels - (rules.criterion == "squares"))
    for channel in channels:
        keys = {c: channel_key(sums[c], channel, rules.criterion) for c in present}
        order = in_order(present, keys)
        for size in range(1, len(order)):
            yield -1, [code in order[:size] for code in range(256)]


def best_split(table, rows, rules, features=None, subsets=ordered_subsets):
    """Try every split of every column; the first of the best wins.

    Thresholds lie at codes that the node holds; numeric columns come before categorical ones.
    """
    features = range(table.codes.shape[1]) if features is None else features
    best = None
    for j in sorted(features, key=lambda j: (bool(table.is_categorical[j]), j)):
        if table.is_categorical[j]:
            ways = subsets(table, rows, j, rules)
        else:
            present = present_codes(table, rows, j, rules)
            ways = thresholds([code for code in present if code != MISSING])
        for threshold, goes_left in ways:
            found = try_split(table, rows, rules, j, threshold, goes_left)
            if found is not None and (best is None or found.gain - best.gain > found.rounding):
                best = found
    return None if best is None else with_defaults(table, rows, rules, best)


def try_split(table, rows, rules, j, threshold, goes_left):
    """Deal the rows out and see what it brings."""
    left = [i for i in rows if goes_left[table.codes[i, j]]]
    right = [i for i in rows if not goes_left[table.codes[i, j]]]
    if min(len(left), len(right)) < max(rules.min_samples_leaf, 1):
        return None
    left_sums = table.sums(left)
    gained = gain(left_sums, table.sums(right), rules)
    if gained is None:
        return None
    return Split(gained[0], j, threshold, goes_left, left_sums, gained[1])


def with_defaults(table, rows, rules, split):
    """Send what the node does not hold (categories, missing values) to the heavier child."""
    present = present_codes(table, rows, split.feature, rules)
    all_sums = table.sums(rows)
    right_sums = [a - b for a, b in zip(all_sums, split.left_sums, strict=True)]
    left_weight, right_weight = (weight(s, rules.criterion) for s in (split.left_sums, right_sums))
    heavier = left_weight >= right_weight * (1 - ROUNDING)
    goes_left = list(split.goes_left)
    for code in range(256):
        if code not in present and (split.threshold < 0 or code == MISSING):
            goes_left[code] = heavier
    return replace(split, goes_left=goes_left)


@dataclass
class Node:
    """A node and its rows."""

    rows: list[int]
    sums: list[int]
    depth: int
    split: Split | None = None
    left: int = -1


@dataclass
class Tree:
    """A list of nodes; the right child follows the left one."""

    nodes: list[Node] = field(default_factory=list)

    @property
    def leaves(self):
        """The nodes that are leaves."""
        return [number for number, node in enumerate(self.nodes) if node.left < 0]


def grow(table, rules, rows=None, features: Callable[[], Sequence[int]] | None = None):
    """Grow a tree, always splitting the node that gains most; ties: the oldest."""
    rows = list(range(len(table.codes))) if rows is None else list(rows)
    tree = Tree([Node(rows, table.sums(rows), 0)])
    waiting: list[int] = []

    def consider(number):
        node = tree.nodes[number]
        if rules.max_depth is None or node.depth < rules.max_depth:
            node.split = best_split(table, node.rows, rules, features and features())
            if node.split is not None:
                waiting.append(number)

    consider(0)
    while waiting and (rules.max_leaf_nodes is None or len(tree.leaves) < rules.max_leaf_nodes):
        most = max((tree.nodes[number].split for number in waiting), key=lambda split: split.gain)
        number = min(n for n in waiting if most.gain - tree.nodes[n].split.gain <= most.rounding)
        waiting.remove(number)
        node = tree.nodes[number]
        node.left = len(tree.nodes)
        goes = [node.split.goes_left[table.codes[i, node.split.feature]] for i in node.rows]
        for side in (True, False):
            part = [i for i, left in zip(node.rows, goes, strict=True) if left == side]
            sums = node.split.left_sums
            if not side:
                sums = [a - b for a, b in zip(node.sums, sums, strict=True)]
            tree.nodes.append(Node(part, sums, node.depth + 1))
        consider(node.left)
        consider(node.left + 1)
    return tree


def walk(tree, row):
    """Return the node that a row of codes reaches in a `costboost.trees.tree.Tree`."""
    node = 0
    while tree.left[node] >= 0:
        code = int(row[tree.feature[node]])
        if node in tree.subsets:
            left = bool(tree.subsets[node][code])
        elif code == MISSING:
            left = bool(tree.missing_left[node])
        else:
            left = code <= tree.threshold[node]
        node = int(tree.left[node]) + (0 if left else 1)
    return node


def staged_margins(trees, leaf_values, codes, base):
    """Margins after each tree, by walking."""
    margins = np.array([list(base) for _ in codes], dtype=float).reshape(len(codes), len(base))
    stages = []
    for tree, values in zip(trees, leaf_values, strict=True):
        number_of = {int(node): number for number, node in enumerate(tree.leaves)}
        for i, row in enumerate(codes):
            margins[i] += values[number_of[walk(tree, row)]]
        stages.append(margins.copy())
    return stages


def stump_tables(stumps, leaf_values, n_features):
    """Return the tables (d, 256, n_outputs) and the constant that stumps add up to."""
    n_outputs = leaf_values[0].shape[1]
    tables = np.zeros((n_features, 256, n_outputs))
    constant = np.zeros(n_outputs)
    for stump, values in zip(stumps, leaf_values, strict=True):
        if stump.left[0] < 0:
            constant += values[0]
            continue
        for code in range(256):
            row = [code] * n_features
            tables[stump.feature[0], code] += values[walk(stump, row) - 1]
    return tables, constant


def walk_raw(nodes, categories, row):
    """Return the node that a row of raw values reaches in a readable `NodeTable`.

    `categories` holds, for each column, the categories kept in training or None.
    """
    node = 0
    while nodes.left[node] >= 0:
        j = int(nodes.feature[node])
        value = row[j]
        if value is None or value != value or (categories[j] and value not in categories[j]):
            left = bool(nodes.missing_left[node])
        elif nodes.subset[node] is not None:
            left = value in nodes.subset[node]
        else:
            left = value <= nodes.threshold[node]
        node = int(nodes.left[node] if left else nodes.right[node])
    return node
