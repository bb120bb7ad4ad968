"""Target statistics: codes of categorical columns that have too many levels to be told apart.

A row of such a column is described by the labels of *other* rows of its level: their share of each
class, shrunk to that of all rows. Training rows lie in a few buckets, and a row's own bucket never
counts; a new row counts all. The column stays one column of codes::

    sums (L, B, C) --exclude--> sums over other buckets --shrink--> shares --cut--> codes (L, B)
         |                                                            |
         +---------------- of all rows ------------------> shares --cut--> codes (L + 1,)

All of it follows from one table of exact sums, by level, bucket and class: how far shares are
drawn to the prior (`STRENGTHS`, infinity among them, by the log loss of rows whose bucket is left
out), and how many codes pay by that loss, each for the price that Schwarz's criterion (1978) sets.
So a column of identifiers has one code, and no tree looks at it. Levels never seen have the prior.

With two classes codes rise with the share of the second, and trees cut them as they cut numbers.
More classes have no order: levels of similar shares then make up one category, and those of many
rows are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING, Key
from costboost.binning.column_bins import ColumnBins, cut_ordered, key_order, sorted_with_sums
from costboost.binning.table_reading import FeatureTable, Grid, RowWeights
from costboost.typing import Codes, Floats, Int64

__all__ = [
    "BUCKETS",
    "MANY_LEVELS",
    "LevelBins",
    "LevelSums",
    "OwnCodes",
    "TargetRows",
    "code_levels",
    "codes_of_rows",
    "cut_targets",
    "merge_sums",
    "rows_in_unit",
    "sum_levels",
]

BUCKETS = 5
MANY_LEVELS = 32  # levels, from above which a column is coded by its target
STRENGTHS = (*(2.0**power for power in range(13)), np.inf)  # rows that the prior counts for
LEAST_OWN = 30.0  # rows of a level that has a code of its own
CERTAIN = 2.0  # ... times those that the prior counts for
MOST_OWN = 0.8  # ... of all codes
NEARLY_ALL = 0.97  # of the rows
QUARTERS = 4  # classes that numbers to predict are cut into
FINER = 2  # times that the number of codes is doubled at most, of two classes
N_CODES = (2, 4, 8, 16, 32, 64, 128)  # codes of values that a column may have, but for max_bins


class TargetRows(NamedTuple):
    """What target statistics read of rows beside their levels.

    Attributes
    ----------
    labels : array of shape (n,)
        Class numbers; or numbers to predict, which `edges` make classes.
    n_classes : int
    buckets : uint8 array of shape (n,)
    edges : float64 array or None
        Where numbers to predict are cut.
    """

    labels: NDArray[Any]
    n_classes: int
    buckets: NDArray[np.uint8]
    edges: Floats | None = None

    @property
    def classes(self) -> Int64:
        """The class numbers, (n,)."""
        if self.edges is not None:
            return np.searchsorted(self.edges, self.labels)
        return self.labels.astype(np.int64)


class LevelSums(NamedTuple):
    """Exact sums of the rows of some levels.

    Attributes
    ----------
    keys : tuple
        The levels of positive weight.
    sums : int64 array of shape (L, BUCKETS, C)
        Their weights by bucket and class.
    missing : int
        The weight of rows without a level.
    """

    keys: tuple[Key, ...]
    sums: Int64
    missing: int


class LevelBins(NamedTuple):
    """The bins of a column, and what its training rows have in place of the codes of new rows.

    Attributes
    ----------
    bins : ColumnBins
    own : uint8 array of shape (L, BUCKETS)
        The code of the rows of each level and bucket.
    """

    bins: ColumnBins
    own: Codes


class OwnCodes(NamedTuple):
    """The codes of training rows in columns that are coded by their target.

    Attributes
    ----------
    codes : dict of int to uint8 array of shape (L, BUCKETS)
        By column, level and bucket.
    buckets : uint8 array of shape (n,)
        Of the rows.
    """

    codes: dict[int, Codes]
    buckets: NDArray[np.uint8]


# --- sums of rows


def rows_in_unit(grid: Grid | None, total: int, n_rows: int) -> float:
    """Return how many rows a unit of the weights' grid is.

    A row of weight 3 is three rows. Weights some of which are below 1 have another unit: their mean
    is a row.

    Parameters
    ----------
    grid : Grid or None
        Of the weights of all rows; None where each is 1.
    total : int
        The sum of all units.
    n_rows : int
        The rows of positive weight.
    """
    if grid is None:
        return 1.0
    units = int(grid.weigh(np.array([grid.largest])).total)
    return grid.largest / units if grid.smallest >= 1.0 else n_rows / total


def sum_levels(table: FeatureTable, j: int, weights: RowWeights, target: TargetRows) -> LevelSums:
    """Return the sums of the levels of column j, in their order."""
    places, keys = _levels(table, j)
    units = np.ones(table.n_rows, np.int64) if weights.every is None else weights.every
    # The last line is of missing levels, whose place is -1.
    sums = np.zeros((len(keys) + 1, BUCKETS, target.n_classes), dtype=np.int64)
    np.add.at(sums, (places, target.buckets, target.classes), units)
    found = np.flatnonzero(sums[:-1].sum(axis=(1, 2)))
    kept = sorted(found.tolist(), key=lambda i: key_order(keys[i]))
    return LevelSums(tuple(keys[i] for i in kept), sums[kept], int(sums[-1].sum()))


def _levels(table: FeatureTable, j: int) -> tuple[Int64, list[Key]]:
    """Return the place of every row's level, -1 where it is missing, and the levels."""
    if table.has_keys(j):
        return table.keys(j, 0, table.n_rows)
    values = np.asarray(table.numbers(j, 0, table.n_rows), dtype=np.float64) + 0.0
    found, places = np.unique(values, return_inverse=True)  # NaN last, and once
    places = places.reshape(-1).astype(np.int64)
    if len(found) and np.isnan(found[-1]):
        places[places == len(found) - 1] = -1
        found = found[:-1]
    return places, found.tolist()


def cut_targets(y: Floats, weights: RowWeights) -> Floats:
    """Return the edges that cut numbers to predict into at most four classes of equal weight."""
    values = y if weights.rows is None else y[weights.rows]
    return cut_ordered(*sorted_with_sums(values.copy(), weights.kept), QUARTERS)


def merge_sums(parts: Sequence[LevelSums]) -> LevelSums:
    """Add up the sums of the rows of several parts."""
    keys = sorted({key for part in parts for key in part.keys}, key=key_order)
    place = {key: i for i, key in enumerate(keys)}
    sums = np.zeros((len(keys), *parts[0].sums.shape[1:]), dtype=np.int64)
    for part in parts:
        sums[[place[key] for key in part.keys]] += part.sums
    return LevelSums(tuple(keys), sums, sum(part.missing for part in parts))


def codes_of_rows(
    table: FeatureTable, j: int, keys: Sequence[Key], own: Codes, buckets: NDArray[np.uint8]
) -> Codes:
    """Return the codes of training rows in column j, (n,), given those of levels and buckets."""
    places, levels = _levels(table, j)
    known = {key: i for i, key in enumerate(keys)}
    # Rows of weight 0 alone may have a level that has none: they are as good as absent.
    lines = np.vstack([own, np.full((1, own.shape[1]), MISSING, dtype=np.uint8)])
    at = np.array([*(known.get(key, len(own)) for key in levels), len(own)], dtype=np.int64)
    return np.asarray(lines[at[places], buckets])


# --- from sums to codes


def code_levels(found: LevelSums, rows_in_unit: float, max_bins: int) -> LevelBins:
    """Return the bins of a column's levels: as many as pay, of shares shrunk as far as pays.

    Parameters
    ----------
    found : LevelSums
        Of all rows.
    rows_in_unit : float
        How many rows a unit of the weights' grid is.
    max_bins : int
    """
    every = found.sums * rows_in_unit
    others = (found.sums.sum(axis=1, keepdims=True) - found.sums) * rows_in_unit
    totals = every.sum(axis=(0, 1))
    prior = totals / totals.sum()
    best, strength = np.inf, np.inf
    for a in STRENGTHS[::-1]:  # the strongest of equals
        shares = np.where(every > 0, shrunk(others, prior, a), 1.0)
        loss = -float(np.sum(every * np.log(shares)))
        if loss < best:
            best, strength = loss, a
    light = np.flatnonzero(~_told_apart(every.sum(axis=1), strength, max_bins))
    apart = shrunk(others[light], prior, strength).reshape(-1, len(prior))
    n_heavy = len(found.keys) - len(light)
    cut = _best_cut(apart, found.sums[light].reshape(apart.shape), rows_in_unit, max_bins - n_heavy)
    whole = np.vstack([every.sum(axis=1), np.zeros((1, len(prior)))])  # unseen: nothing is known
    new, own = cut.codes(shrunk(whole, prior, strength)), cut.codes(apart)
    if n_heavy or not len(cut.edges):
        # Codes without an order: the last cell is that of levels not seen, so that each code below
        # it may be met; levels that are told apart come behind.
        last = int(max(new.max(), own.max(initial=0)))
        places = np.arange(last + 1, dtype=np.uint8)
        places[[last, new[-1]]] = places[[new[-1], last]]
        new, own = places[new], places[own]
        heavy = np.setdiff1d(np.arange(len(found.keys)), light)
        new[heavy] = last + 1 + np.arange(n_heavy)
    each = np.repeat(new[:-1, None], found.sums.shape[1], axis=1)
    each[light] = own.reshape(len(light), found.sums.shape[1])
    edges = np.empty(0) if n_heavy else cut.edges
    bins = ColumnBins(edges, found.keys, found.missing > 0, level_codes=new)
    return LevelBins(bins, each)


def _told_apart(sums: Floats, strength: float, max_bins: int) -> NDArray[np.bool_]:
    """Return which levels have codes of their own, given their rows (L, C).

    They have many, and more than the prior counts for, so that they differ for certain: trees may
    then find out in what else than their shares. With two classes that costs the order of codes,
    which pays only where nearly all rows are of such levels.
    """
    rows, found = sums.sum(axis=1), np.zeros(len(sums), dtype=np.bool_)
    heaviest = np.argsort(-rows, kind="stable")[: int(MOST_OWN * max_bins)]
    found[heaviest] = rows[heaviest] >= max(LEAST_OWN, CERTAIN * strength)
    if sums.shape[1] == 2 and rows[found].sum() < NEARLY_ALL * rows.sum():
        return np.zeros_like(found)
    return found


def shrunk(sums: Floats, prior: Floats, strength: float) -> Floats:
    """Return the shares of classes in sums (..., C) of rows, drawn to the prior.

    Examples
    --------
    >>> shrunk(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([0.5, 0.5]), 4.0).tolist()
    [[0.375, 0.625], [0.5, 0.5]]
    """
    if np.isinf(strength):
        return np.broadcast_to(prior, sums.shape)
    shares: Floats = (sums + strength * prior) / (sums.sum(axis=-1, keepdims=True) + strength)
    return shares


class _Cut(NamedTuple):
    """Cells of shares of classes: every split divides a cell, `edges` if there is an order."""

    edges: Floats
    splits: tuple[tuple[int, int, float], ...] = ()  # cell, class, the most of the first half

    def codes(self, shares: Floats) -> Codes:
        """Return the cell of each row of shares, (m,)."""
        if not self.splits:
            return np.searchsorted(self.edges, shares[:, -1]).astype(np.uint8)
        cells = np.zeros(len(shares), dtype=np.uint8)
        for number, (cell, k, most) in enumerate(self.splits):
            cells[(cells == cell) & (shares[:, k] > most)] = number + 1
        return cells


def _best_cut(shares: Floats, sums: Int64, rows_in_unit: float, max_bins: int) -> _Cut:
    """Return the cut that pays best by Schwarz's criterion; without an edge where none pays."""
    n_classes = shares.shape[1]
    make = _cuts_in_order if n_classes == 2 else _cuts_in_cells
    cuts = [_Cut(np.empty(0)), *make(shares, sums.sum(axis=1), max_bins)]
    price = 0.5 * (n_classes - 1) * np.log(max(float(sums.sum() * rows_in_unit), 1.0))
    costs = []
    for cut in cuts:
        codes = cut.codes(shares)
        cells = np.zeros((int(codes.max(initial=0)) + 1, n_classes), dtype=np.int64)
        np.add.at(cells, codes, sums)
        cells = cells[cells.sum(axis=1) > 0] * rows_in_unit
        within = cells / cells.sum(axis=1, keepdims=True)
        loss = -float(np.sum(cells * np.log(np.where(cells > 0, within, 1.0))))
        costs.append(price * len(cells) + loss)
    at = int(np.argmin(costs))
    # What a column says beside others is finer than what it says alone, if it says much.
    finer = min(at - 1, FINER) if at and n_classes == 2 else 0
    return cuts[min(at + finer, len(cuts) - 1)]


def _cuts_in_order(shares: Floats, weights: Int64, max_bins: int) -> Iterator[_Cut]:
    """Yield cuts into cells that weigh about the same."""
    shares = shares[:, -1]
    order = np.argsort(shares, kind="stable")
    sums = np.append(0, np.cumsum(weights[order]))
    for n_codes in N_CODES:
        edges = cut_ordered(shares[order], sums, min(n_codes, max_bins))
        if len(edges):
            yield _Cut(edges)


def _cuts_in_cells(shares: Floats, weights: Int64, max_bins: int) -> Iterator[_Cut]:
    """Yield cuts into cells of similar shares: the most scattered cell is halved at its mean."""
    cells, splits = np.zeros(len(shares), dtype=np.int64), []
    scatter = [_scatter(shares, weights)]
    while len(scatter) < min(N_CODES[-1], max_bins):
        cell = int(np.argmax([part.max() for part in scatter]))
        k = int(np.argmax(scatter[cell]))
        if not scatter[cell][k] > 0.0:
            return
        inside = cells == cell
        own = np.where(inside, weights, 0).astype(np.float64)
        most = float(np.sum(own * shares[:, k]) / np.sum(own))
        right = inside & (shares[:, k] > most)
        if not weights[right].any():  # the mean was rounded to the largest
            scatter[cell] = np.zeros(shares.shape[1])
            continue
        splits.append((cell, k, most))
        cells[right] = len(scatter)
        parts = (inside & ~right, right)
        scatter[cell], last = (_scatter(shares[part], weights[part]) for part in parts)
        scatter.append(last)
        if len(scatter) in N_CODES:
            yield _Cut(np.empty(0), tuple(splits))


def _scatter(shares: Floats, weights: Int64) -> Floats:
    """Return the weighted sum of squares about the mean, for each class."""
    w = weights.astype(np.float64)[:, None]
    total = w.sum()
    if total == 0.0:
        return np.zeros(shares.shape[1])
    mean = np.sum(w * shares, axis=0) / total
    return np.asarray(np.sum(w * (shares - mean) ** 2, axis=0))
