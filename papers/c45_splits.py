"""Quinlan's C4.5: which test to make at a node, by gain ratio.

A node holds rows with weights (a row whose value is missing goes down every branch, with a share of
its weight). Columns are read as codes, the ranks of their values, and searched all at once:

    codes (n, d) -> class weights by value (d, V, K) -> running sums -> entropies of both sides

Sources: Quinlan 1993, chapters 2 and 3; Quinlan 1996, "Improved use of continuous attributes", for
the price of a threshold (release 8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-3  # as in release 8: a test with so little information, or so little less gain


class Table(NamedTuple):
    """The training rows.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Numbers, or codes of categories; NaN where missing.
    y : ndarray of shape (n,)
        Classes, 0 .. K - 1.
    categorical : ndarray of shape (d,)
    n_classes : int
    codes : ndarray of shape (n, d)
        The ranks of numbers among those of their column, or the codes; -1 where missing.
    levels : tuple of ndarrays
        The values of each column in order.
    """

    X: Floats
    y: Ints
    categorical: NDArray[np.bool_]
    n_classes: int
    codes: Ints
    levels: tuple[Floats, ...]

    @classmethod
    def read(cls, X: Floats, y: Ints, categorical: NDArray[np.bool_]) -> Table:
        """Rank the values of every column."""
        levels = []
        codes = np.full(X.shape, -1, dtype=np.int64)
        for j, x in enumerate(X.T):
            known = ~np.isnan(x)
            found = np.unique(x[known])
            levels.append(np.arange(found.max(initial=0) + 1) if categorical[j] else found)
            codes[known, j] = np.searchsorted(levels[j], x[known])
        return cls(X, y, categorical, int(y.max()) + 1, codes, tuple(levels))


class Test(NamedTuple):
    """A test: ``x <= threshold``, or one branch for each category (threshold None)."""

    column: int
    threshold: float | None
    n_branches: int

    def branches(self, x: Floats) -> Ints:
        """Return the branch of every value; -1 where it is missing, or a category never seen."""
        missing = np.isnan(x)
        if self.threshold is not None:
            return np.where(missing, -1, (x > self.threshold).astype(np.int64))
        codes = np.where(missing, -1, x).astype(np.int64)
        return np.where(codes >= self.n_branches, -1, codes)


class Candidates(NamedTuple):
    """The best test on each column: gain and split information, in bits; gain -inf for none.

    `cuts` are the ranks of the last value on the left, and of the first on the right.
    """

    columns: Ints
    gains: Floats
    informations: Floats
    cuts: Ints


def best_test(table: Table, rows: Ints, w: Floats, min_objects: float) -> Test | None:
    """Return the test of the highest gain ratio among those of at least average gain."""
    parts = [
        search(table, rows, w, min_objects)
        for search, columns in (
            (numeric_candidates, ~table.categorical),
            (categorical_candidates, table.categorical),
        )
        if columns.any()
    ]
    columns, gains, informations, cuts = (np.concatenate(p) for p in zip(*parts, strict=True))
    useful = gains > 0
    if not useful.any():
        return None
    worth = useful & (gains >= gains[useful].mean() - TINY) & (informations > TINY)
    if not worth.any():
        return None
    ratios = np.where(worth, gains, -np.inf) / np.where(worth, informations, 1.0)
    # Of equal ratios the first column, whatever its kind.
    best = int(min(np.flatnonzero(ratios == ratios.max()), key=lambda k: columns[k]))
    return _test(table, int(columns[best]), cuts[best])


def _test(table: Table, column: int, cut: Ints) -> Test:
    """Return the test; a threshold is the largest training value below the middle of the gap."""
    levels = table.levels[column]
    if table.categorical[column]:
        return Test(column, None, len(levels))
    middle = 0.5 * (levels[cut[0]] + levels[cut[1]])
    return Test(column, float(levels[np.searchsorted(levels, middle, side="right") - 1]), 2)


def bits(weights: Floats) -> Floats:
    """Return the sum of -w log2(w) over the last axis: entropies, not yet normalised."""
    return np.asarray(-xlogy(weights, weights).sum(axis=-1) / np.log(2))


def information(weights: Floats) -> Floats:
    """Return total * entropy of class weights, over the last axis.

    Examples
    --------
    >>> round(float(information(np.array([9.0, 5.0])) / 14), 3)  # Quinlan's golf
    0.94
    """
    return np.asarray(bits(weights) - bits(weights.sum(axis=-1, keepdims=True)))


def _among_themselves(codes: Ints) -> tuple[Ints, Ints]:
    """Rank the codes of some rows among themselves; return also the code of each rank, (d, V).

    Examples
    --------
    >>> ranks, seen = _among_themselves(np.array([[70], [-1], [12], [70]]))
    >>> ranks.T.tolist(), seen.tolist()
    ([[1, -1, 0, 1]], [[12, 70]])
    """
    order = np.argsort(codes, axis=0, kind="stable")
    in_order = np.take_along_axis(codes, order, axis=0)
    new = np.diff(in_order, axis=0, prepend=-1) != 0  # what is missing comes first, and is not
    ranks_in_order = new.cumsum(axis=0) - 1
    seen = np.zeros((codes.shape[1], max(int(ranks_in_order.max()) + 1, 1)), dtype=np.int64)
    at, columns = np.nonzero(new)
    seen[columns, ranks_in_order[at, columns]] = in_order[at, columns]
    ranks = np.empty_like(codes)
    np.put_along_axis(ranks, order, ranks_in_order, axis=0)
    return ranks, seen


def _histogram(
    table: Table, rows: Ints, w: Floats, columns: Ints, codes: Ints, n_values: int
) -> Floats:
    """Return class weights by column and value, (d, V, K); missing values have none."""
    cells = (np.arange(len(columns)) * n_values + np.maximum(codes, 0)) * table.n_classes
    cells += table.y[rows][:, None]
    weights = np.where(codes >= 0, w[:, None], 0.0)
    shape = (len(columns), n_values, table.n_classes)
    counts = np.bincount(cells.ravel(), weights.ravel(), minlength=int(np.prod(shape)))
    return counts.astype(np.float64).reshape(shape)


def numeric_candidates(table: Table, rows: Ints, w: Floats, min_objects: float) -> Candidates:
    """Return the best threshold of each numeric column: that of the highest gain."""
    columns = np.flatnonzero(~table.categorical)
    codes = table.codes[np.ix_(rows, columns)]
    n_values = max(len(table.levels[j]) for j in columns)
    seen = None
    if len(rows) < n_values:  # then few of the values are there, and most cells would be empty
        codes, seen = _among_themselves(codes)
        n_values = seen.shape[1]
    counts = _histogram(table, rows, w, columns, codes, n_values)
    left = counts.cumsum(axis=1)
    totals = left[:, -1]
    known, total = totals.sum(axis=-1), float(w.sum())
    least = np.clip(0.1 * known / table.n_classes, min_objects, 25.0)[:, None] - 1e-9
    present, on_left = counts.sum(axis=-1) > 0, left.sum(axis=-1)
    allowed = present & (on_left >= least) & (known[:, None] - on_left >= least)
    gains = np.full(allowed.shape, -np.inf)
    at, values = np.nonzero(allowed)
    inside = left[at, values]
    outside = np.maximum(totals[at] - inside, 0.0)  # rounding may leave less than nothing
    gains[at, values] = information(totals)[at] - information(inside) - information(outside)
    cut, each = gains.argmax(axis=1), np.arange(len(columns))
    tries = np.maximum(allowed.sum(axis=1), 1)
    gain = (gains[each, cut] - np.log2(tries)) / total
    side = on_left[each, cut]
    shares = np.maximum(np.stack([side, known - side, total - known], axis=-1), 0.0) / total
    after = (present & (np.arange(present.shape[1]) > cut[:, None])).argmax(axis=1)
    cuts = np.stack([cut, after], axis=-1)
    if seen is not None:
        cuts = np.take_along_axis(seen, cuts, axis=1)
    return Candidates(columns, gain, bits(shares), cuts)


def categorical_candidates(table: Table, rows: Ints, w: Floats, min_objects: float) -> Candidates:
    """Return the test on each categorical column: a branch for each category."""
    columns = np.flatnonzero(table.categorical)
    n_values = max(len(table.levels[j]) for j in columns)
    codes = table.codes[np.ix_(rows, columns)]
    counts = _histogram(table, rows, w, columns, codes, n_values)
    branches, total = counts.sum(axis=-1), float(w.sum())
    gains = information(counts.sum(axis=1)) - information(counts).sum(axis=-1)
    allowed = (branches >= min_objects - 1e-9).sum(axis=-1) >= 2
    missing = np.maximum(total - branches.sum(axis=-1, keepdims=True), 0)
    shares = np.concatenate([branches, missing], axis=-1) / total
    gains = np.where(allowed, gains / total, -np.inf)
    return Candidates(columns, gains, bits(shares), np.zeros((len(columns), 2), dtype=np.int64))
