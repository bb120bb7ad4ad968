"""Quinlan's C4.5: growing a tree, and pruning it by pessimistic errors.

A `Node` knows the class weights of the rows that reached it and, unless it is a leaf, its test, its
children and the shares of the known rows that went to each, by which rows with a missing value are
divided. Pruning puts a leaf, or the largest branch, in place of a subtree wherever that does not
raise the errors it must expect: the upper limit of a binomial confidence interval (Quinlan 1993,
chapter 4; the normal limit and its table of deviations are release 8's).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from costboost.papers.c45_splits import Floats, Ints, Table, Test, best_test

# Release 8 interpolates the normal deviate of a confidence between these.
CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
EASE = 0.1  # what a simpler tree may be worse by
ALMOST = 1e-9


@dataclass
class Node:
    """A node: a leaf where `test` is None."""

    counts: Floats
    answer: int  # the class of most weight; the parent's where no weight came
    test: Test | None = None
    children: list[Node] = field(default_factory=list)
    shares: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def errors(self) -> float:
        """The weight of the rows that the leaf gets wrong."""
        return float(self.counts.sum() - self.counts[self.answer])

    def leaves(self) -> Iterator[Node]:
        """Yield the leaves, from left to right."""
        if self.test is None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def turn_into(self, other: Node) -> None:
        """Become another node."""
        self.counts, self.answer, self.test = other.counts, other.answer, other.test
        self.children, self.shares = other.children, other.shares


def divide(
    test: Test, shares: Floats, X: Floats, rows: Ints, w: Floats
) -> Iterator[tuple[Ints, Floats]]:
    """Yield the rows and weights of each branch; missing values go to all, by shares."""
    branch = test.branches(X[rows, test.column])
    missing = branch < 0
    for k, share in enumerate(shares):
        here = branch == k
        if missing.any() and share > 0:
            chosen = here | missing
            yield rows[chosen], np.where(missing, w * share, w)[chosen]
        else:
            yield rows[here], w[here]


def _leaf(table: Table, rows: Ints, w: Floats, otherwise: int) -> Node:
    counts = np.bincount(table.y[rows], w, minlength=table.n_classes).astype(np.float64)
    answer = int(counts.argmax()) if counts.sum() > ALMOST else otherwise
    return Node(counts, answer)


def _shares(test: Test, X: Floats, rows: Ints, w: Floats) -> Floats:
    branch = test.branches(X[rows, test.column])
    weights = np.bincount(branch[branch >= 0], w[branch >= 0], minlength=test.n_branches)
    return np.asarray(weights / weights.sum())


def grow(table: Table, rows: Ints, w: Floats, min_objects: float, otherwise: int = 0) -> Node:
    """Grow a tree; a subtree that is not better on its own rows becomes a leaf."""
    node = _leaf(table, rows, w, otherwise)
    total = float(node.counts.sum())
    if node.errors < ALMOST * max(total, 1) or total < 2 * min_objects:
        return node
    test = best_test(table, rows, w, min_objects)
    if test is None:
        return node
    shares = _shares(test, table.X, rows, w)
    children = [
        grow(table, inside, part, min_objects, node.answer)
        for inside, part in divide(test, shares, table.X, rows, w)
    ]
    below = sum(leaf.errors for child in children for leaf in child.leaves())
    if below < node.errors - ALMOST:
        node.test, node.children, node.shares = test, children, shares
    return node


def extra_errors(n: float, e: float, confidence: float) -> float:
    """Return what must be added to e errors among n rows for the upper limit.

    Examples
    --------
    Quinlan's example: six rows without an error, and sixteen with one.

    >>> round(extra_errors(6, 0, 0.25) / 6, 3), round((1 + extra_errors(16, 1, 0.25)) / 16, 3)
    (0.206, 0.157)
    """
    if n <= 0:
        return 0.0
    if e < 1:
        none = n * (1 - math.exp(math.log(confidence) / n))
        return none if e < 1e-6 else none + e * (extra_errors(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return max(0.67 * (n - e), 0.0)
    z = float(np.interp(confidence, CONFIDENCES, DEVIATES)) ** 2
    root = math.sqrt(z * ((e + 0.5) * (1 - (e + 0.5) / n) + z / 4))
    return n * (e + 0.5 + z / 2 + root) / (n + z) - e


def _expected(node: Node, confidence: float) -> float:
    return node.errors + extra_errors(float(node.counts.sum()), node.errors, confidence)


def prune(node: Node, table: Table, rows: Ints, w: Floats, confidence: float) -> float:
    """Prune a tree in place; return the errors that it must expect.

    Counts are taken anew from the rows, which may be more than those it was grown from.
    """
    leaf = _leaf(table, rows, w, node.answer)
    as_leaf = _expected(leaf, confidence)
    node.counts, node.answer = leaf.counts, leaf.answer
    if node.test is None:
        return as_leaf
    parts = list(divide(node.test, node.shares, table.X, rows, w))
    below = sum(
        prune(child, table, *part, confidence)
        for child, part in zip(node.children, parts, strict=True)
    )
    largest = node.children[int(np.argmax([part.sum() for _, part in parts]))]
    raised = _errors_of(largest, table, rows, w, confidence)
    if as_leaf <= raised + EASE and as_leaf <= below + EASE:
        node.turn_into(leaf)
        return as_leaf
    if raised <= below + EASE:
        node.turn_into(largest)
        return prune(node, table, rows, w, confidence)
    return below


def _errors_of(node: Node, table: Table, rows: Ints, w: Floats, confidence: float) -> float:
    """Return the errors that a subtree must expect of other rows."""
    if node.test is None:
        return _expected(_leaf(table, rows, w, node.answer), confidence)
    parts = divide(node.test, node.shares, table.X, rows, w)
    return sum(
        _errors_of(child, table, *part, confidence)
        for child, part in zip(node.children, parts, strict=True)
    )


def spread(node: Node, X: Floats, rows: Ints, w: Floats, out: NDArray[np.float64]) -> None:
    """Add the class shares of the leaves that rows reach to `out`, (n, K)."""
    if node.test is not None:
        parts = divide(node.test, node.shares, X, rows, w)
        for child, (inside, part) in zip(node.children, parts, strict=True):
            if len(inside):
                spread(child, X, inside, part, out)
        return
    total = node.counts.sum()
    if total > ALMOST:
        out[rows] += w[:, None] * (node.counts / total)
    else:
        out[rows, node.answer] += w
