"""A classifier after Quinlan's C4.5, the weak learner of two of the papers (one by Weka's J48)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.inputs.arrays import read_weights
from papers.c45_splits import Floats, Ints, Table, Test, best_test


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A tree by gain ratio, pruned by pessimistic errors, with missing values by fractions.

    Numeric columns are cut in two, categorical ones give a branch for each category. Rows with a
    missing value go down every branch with a share of their weight, in training and in prediction.
    Written from Quinlan's descriptions, with release 8's price of a threshold; without its
    grouping of categories and its windows, which are off by default there too.

    Parameters
    ----------
    confidence : float or None, default=0.25
        Of the pessimistic pruning, by a leaf or by the largest branch; None: no pruning.
    min_objects : float, default=2.0
        The least weight in two branches of a test, where the mean weight of a row is 1.
    categorical_features : array-like of bool of shape (n_features,) or None, default=None
        Columns of codes 0, 1, 2 ... (as `Dataset.to_numpy` makes them), NaN where missing.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    tree_ : papers.Node
    n_features_in_ : int

    References
    ----------
    Quinlan 1993, "C4.5: Programs for machine learning".

    Examples
    --------
    The tree that Weka's J48 is known for has five leaves on the iris data.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = C45Classifier().fit(X, y)
    >>> [int(leaf.counts.sum()) for leaf in model.tree_.leaves()]
    [50, 48, 3, 3, 46]
    """

    def __init__(
        self,
        *,
        confidence: float | None = 0.25,
        min_objects: float = 2.0,
        categorical_features: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_objects = min_objects
        self.categorical_features = categorical_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> C45Classifier:
        """Grow a tree, and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Fractional counts; scaled to a mean of 1, as Quinlan (1996) does in boosting.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        w = read_weights(sample_weight, len(X))
        if self.confidence is not None and not 0 < self.confidence <= 1:
            raise ValueError(f"confidence={self.confidence!r}: give a number in (0, 1], or None.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        table = self._table(np.asarray(X), codes)
        rows = np.flatnonzero(w > 0)
        w = w[rows] * (len(rows) / w[rows].sum())
        self.tree_ = grow(table, rows, w, self.min_objects)
        if self.confidence is not None:
            prune(self.tree_, table, rows, w, self.confidence)
        return self

    def _table(self, X: Floats, codes: NDArray[np.int64]) -> Table:
        given = self.categorical_features
        mask = np.zeros(X.shape[1], dtype=bool) if given is None else np.asarray(given, dtype=bool)
        if mask.shape != (X.shape[1],):
            raise ValueError(
                f"categorical_features has shape {mask.shape}: give one True or False for each of "
                f"the {X.shape[1]} columns."
            )
        values = X[:, mask]
        values = values[~np.isnan(values)]
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("Columns of categories must hold codes 0, 1, 2 ... or NaN.")
        return Table.read(X, codes.astype(np.int64), mask)

    def predict_proba(self, X: Any) -> Floats:
        """Return the class shares of the leaves that each row reaches, (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        out = np.zeros((len(X), len(self.classes_)))
        spread(self.tree_, X, np.arange(len(X)), np.ones(len(X)), out)
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of every row."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])


# ------------------------------------------------------------ the tree
# A `Node` knows the class weights of the rows that reached it and, unless it is a leaf, its test,
# its children and the shares of the known rows that went to each, by which rows with a missing
# value are divided. Pruning puts a leaf, or the largest branch, in place of a subtree wherever that
# does not raise the errors it must expect: the upper limit of a binomial confidence interval
# (Quinlan 1993, chapter 4; the normal limit and its table of deviations are release 8's).


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
