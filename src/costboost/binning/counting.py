"""What the rows of each category weigh, in all parts of a table; see `binning_messages`."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from costboost.binning.binning_messages import PartRows, weights_of
from costboost.binning.codes import Key
from costboost.binning.cutting import key_totals, number_totals
from costboost.binning.feature_tables import FeatureTable, Grid
from costboost.binning.table_reading import read_table
from costboost.runtime.messages import message
from costboost.typing import Floats, Int64

__all__ = ["count_keys", "KeyTotals", "Known", "Walk", "walk"]

MANY = 1 << 20


class KeyTotals(NamedTuple):
    """Total weight of the rows of each category.

    Attributes
    ----------
    totals : dict or None
        The weight of each; None where there are too many of them.
    missing : int
        The weight of the rows without a category.
    n_keys : int
        How many categories the parts have, added up.
    """

    totals: dict[Key, int] | None
    missing: int
    n_keys: int


def _merge_keys(
    answers: Sequence[KeyTotals], *, n_slices: int = 1, many: int = MANY, **_: Any
) -> KeyTotals:
    merged: dict[Key, int] | None = {}
    for part in answers:
        merged = None if merged is None or part.totals is None else _added(merged, part.totals)
    missing, n_keys = sum(p.missing for p in answers), sum(p.n_keys for p in answers)
    return _bounded(KeyTotals(merged, missing, n_keys), n_slices, many)


@message(reduce_with=_merge_keys)
def count_keys(
    part: PartRows,
    *,
    column: int,
    grid: Grid | None,
    n_slices: int = 1,
    at: int = 0,
    many: int = MANY,
) -> KeyTotals:
    """Add up the weights of a column's categories: of all, or of one of several slices.

    A part that has more than `many` answers how many there are, unless it was asked for a slice.
    """
    table = read_table(part.raw.X)
    found, missing = _key_totals(part, table, column, grid)
    if n_slices > 1:
        found = {key: w for key, w in found.items() if _slice(key, n_slices) == at}
    return _bounded(KeyTotals(found, missing, len(found)), n_slices, many)


def _bounded(found: KeyTotals, n_slices: int, many: int) -> KeyTotals:
    too_many = n_slices == 1 and found.totals is not None and len(found.totals) > many
    return found._replace(totals=None) if too_many else found


def _added(merged: dict[Key, int], more: dict[Key, int]) -> dict[Key, int]:
    for key, weight in more.items():
        merged[key] = merged.get(key, 0) + weight
    return merged


def _slice(key: Key, n_slices: int) -> int:
    text = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else repr(key).encode()
    return zlib.crc32(text) % n_slices


def _key_totals(
    part: PartRows, table: FeatureTable, j: int, grid: Grid | None
) -> tuple[dict[Key, int], int]:
    weights = weights_of(part, table.n_rows, grid)
    if table.has_keys(j):
        return key_totals(table, weights, j)
    ((values, units),) = table.samples([j], weights)
    return number_totals(values, units)


# Cuts of a column of which only some values are known.


class Known(NamedTuple):
    """Values of a column, increasing, the smallest and the largest of all among them.

    Attributes
    ----------
    values : float64 array of shape (m,)
    below : int64 array of shape (m,)
        The weight of the rows below each value.
    upto : int64 array of shape (m,)
        The weight of the rows below it or equal to it.
    """

    values: Floats
    below: Int64
    upto: Int64

    def gaps(self, wanted: list[int]) -> tuple[Floats, Floats]:
        """Return the values on both sides of gaps; gap i is that after value i."""
        places = np.array(wanted, dtype=np.int64)
        return self.values[places], self.values[places + 1]

    def filled(self, values: Floats, weights: Int64) -> Known:
        """Add all values of some gaps."""
        gaps = np.searchsorted(self.values, values) - 1
        sums = np.cumsum(weights)
        before = sums - weights
        first = np.searchsorted(gaps, gaps)  # the first new value in the same gap
        upto = self.upto[gaps] + sums - before[first]
        merged = np.concatenate([self.values, values])
        order = np.argsort(merged, kind="stable")
        return Known(
            merged[order],
            np.concatenate([self.below, upto - weights])[order],
            np.concatenate([self.upto, upto])[order],
        )


class Walk(NamedTuple):
    """Cuts, each between two neighbouring values; none of it counts unless nothing is wanted.

    Attributes
    ----------
    lower, upper : float64 arrays
    wanted : list of int
        The gaps that must be known first, increasing.
    """

    lower: Floats
    upper: Floats
    wanted: list[int]


def walk(known: Known, max_bins: int) -> Walk:
    """Cut a column of more than `max_bins` values as `kernels.cut_sorted` does.

    Examples
    --------
    >>> few = Known(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 2]), np.array([1, 2, 3]))
    >>> walk(few, 2).lower.tolist()
    [2.0]
    >>> walk(Known(np.array([1.0, 3.0]), np.array([0, 5]), np.array([1, 6])), 2).wanted
    [0]
    """
    cuts: list[int] = []
    wanted: set[int] = set()
    total, start = int(known.upto[-1]), 0
    for bins_left in range(max_bins, 1, -1):
        if start >= total:
            break
        share = -((start - total) // bins_left)  # rounded up
        i = int(np.searchsorted(known.upto, start + share))
        first, stop = int(known.below[i]), int(known.upto[i])
        if start + share <= first:  # the share ends in the gap before value i
            wanted |= _around(known, i - 1)
            start = _guess(known, i - 1, start + share)
            continue
        own_bin = stop - first >= share and first > start
        cut = i - 1 if own_bin else i
        start = first if own_bin else stop
        if start < total:
            cuts.append(cut)
            if known.upto[cut] < known.below[cut + 1]:
                wanted.add(cut)
    places = np.array(cuts, dtype=np.int64)
    return Walk(known.values[places], known.values[places + 1], sorted(wanted))


def _runs(known: Known, i: int) -> int:
    """Return the weights of the two values around gap i."""
    return int((known.upto - known.below)[i : i + 2].sum())


def _guess(known: Known, i: int, reached: int) -> int:
    """Guess where the run of equal values ends in which a share does: half a run further on."""
    return min(reached + _runs(known, i) // 4, int(known.below[i + 1]))


def _around(known: Known, i: int) -> set[int]:
    """Return gap i, and where values repeat, so that guesses drift, those beside it too."""
    width = 1 if _runs(known, i) > 2 else 0
    near = range(max(i - width, 0), min(i + width + 1, len(known.values) - 1))
    return {g for g in near if known.upto[g] < known.below[g + 1]}
