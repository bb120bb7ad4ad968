"""Cutting: the bin edges or the categories of each column.

Columns are sorted a few at a time, by as many threads as fit into 32 bytes a row. Weights are
integers (see `weighing`), so every share of weight is exact, and weight k equals k copies of a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning import _binning_kernels as kernels
from costboost.binning.codes import Key
from costboost.binning.feature_tables import FeatureTable, RowWeights
from costboost.runtime.machine import run, worthwhile
from costboost.typing import Codes, Floats, Int64

__all__ = [
    "ColumnBins",
    "LeftOut",
    "cut_ordered",
    "cut_table",
    "distinct_values",
    "halfway",
    "heaviest",
    "keep_categories",
    "key_order",
    "key_totals",
    "number_totals",
    "sorted_with_sums",
]


_KEY_ROWS = 262_144
_LOW_BITS = np.int32(0x7FFFFFFF)
_NO_INTEGERS = np.empty(0, dtype=np.int64)
_NAMED = 3  # categories left out that are named


class LeftOut(NamedTuple):
    """The categories of a column for which there are no codes.

    Attributes
    ----------
    n_keys : int
        How many they are.
    first : tuple
        The heaviest of them, at most three.
    share : float
        What their rows weigh, of the weight of all rows.
    """

    n_keys: int
    first: tuple[Key, ...]
    share: float


class ColumnBins(NamedTuple):
    """The bins of one column: edges or categories; see `binner.Binner`."""

    edges: Floats
    categories: tuple[Key, ...] | None
    has_missing: bool
    left_out: LeftOut | None = None
    level_codes: Codes | None = None

    @property
    def n_levels(self) -> int:
        """How many categories the column has, kept or not."""
        left = 0 if self.left_out is None else self.left_out.n_keys
        return len(self.categories or ()) + left


def cut_table(
    table: FeatureTable,
    weights: RowWeights,
    is_categorical: NDArray[np.bool_],
    max_bins: int,
    n_threads: int,
) -> list[ColumnBins]:
    """Cut every column of a table into at most `max_bins` bins; see `binning.fit_binner`."""
    cut = partial(_cut_group, table, weights, is_categorical, max_bins)
    workers, groups = _column_groups(table, weights, n_threads)
    return [bins for group in run(cut, groups, workers) for bins in group]


def _column_groups(
    table: FeatureTable, weights: RowWeights, n_threads: int
) -> tuple[int, list[range]]:
    """How many threads may work at once on how many columns each, within 32 bytes a row + 64 MB."""
    # Sorting needs a copy; sorting with weights also the pairs, the sorted copy, the sums.
    per_row = table.itemsize() if weights.kept is None else 24
    slots = (32 * table.n_rows + (1 << 26)) // (per_row * table.n_rows)
    threads = n_threads if worthwhile(table.n_rows * table.n_columns) else 1
    workers = max(1, min(threads, slots))
    width = max(1, min(4, slots // workers, -(-table.n_columns // workers)))
    starts = range(0, table.n_columns, width)
    return workers, [range(j, min(j + width, table.n_columns)) for j in starts]


def _cut_group(
    table: FeatureTable,
    weights: RowWeights,
    is_categorical: NDArray[np.bool_],
    max_bins: int,
    columns: range,
) -> list[ColumnBins]:
    by_keys = [j for j in columns if is_categorical[j] and table.has_keys(j)]
    by_numbers = [j for j in columns if j not in by_keys]
    bins = {j: _keep_keys(table, weights, max_bins, j) for j in by_keys}
    samples = table.samples(by_numbers, weights)
    for j, (values, units) in zip(by_numbers, samples, strict=True):
        cut = _keep_numbers if is_categorical[j] else _cut_numbers
        bins[j] = cut(values, units, max_bins)
    return [bins[j] for j in columns]


def _cut_numbers(values: NDArray[Any], units: Int64 | None, max_bins: int) -> ColumnBins:
    ordered, sums = sorted_with_sums(values, units)
    return ColumnBins(cut_ordered(ordered, sums, max_bins), None, len(ordered) < len(values))


def cut_ordered(ordered: NDArray[Any], sums: Int64, max_bins: int) -> Floats:
    """Return the edges of sorted values and the sums of their weights, as `sorted_with_sums`."""
    lower, upper = np.empty(max_bins - 1), np.empty(max_bins - 1)
    n_cuts = kernels.cut_sorted(ordered, sums, max_bins, lower, upper)
    return halfway(lower[:n_cuts], upper[:n_cuts])


def sorted_with_sums(values: NDArray[Any], units: Int64 | None) -> tuple[NDArray[Any], Int64]:
    """Sort the values but NaN, and sum up their weights (an empty array if all weigh 1)."""
    if units is None:
        values.sort()
        return values[: _count_numbers(values)], _NO_INTEGERS
    values, units = _sorted_pairs(values, units)
    n = _count_numbers(values)
    sums = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(units[:n], out=sums[1:])
    return values[:n], sums


def _sorted_pairs(values: NDArray[Any], units: Int64) -> tuple[NDArray[Any], Int64]:
    """Sort values with their weights, in no particular order among equal values."""
    if values.dtype == np.float32 and int(units.max(initial=0)) < 1 << 32:
        return _sorted_words(values, units)
    order = np.argsort(values)
    return values[order], units[order]


def _sorted_words(values: NDArray[np.float32], units: Int64) -> tuple[NDArray[np.float32], Int64]:
    """Sort pairs as one integer each, `key << 32 | unit`: twice as fast as by argsort."""
    keys = _flipped(values.view(np.int32))
    keys[np.isnan(values)] = _LOW_BITS  # whatever their sign, last; they are NaN when flipped back
    words = np.left_shift(keys, 32, dtype=np.int64)
    words |= units
    words.sort()
    keys = np.right_shift(words, 32).astype(np.int32)
    words &= 0xFFFFFFFF
    return _flipped(keys).view(np.float32), words


def _flipped(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Flip all bits of negative floats but the sign: integers in the order of floats, and back."""
    flipped: NDArray[np.int32] = bits ^ ((bits >> 31) & _LOW_BITS)
    return flipped


def _count_numbers(ordered: NDArray[Any]) -> int:
    # NaN of the same type, or numpy would convert the column.
    return int(np.searchsorted(ordered, ordered.dtype.type(np.nan)))


def halfway(lower: Floats, upper: Floats) -> Floats:
    """Midpoints, at least `lower` and below `upper`; `lower` itself where there is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = lower + (upper - lower) / 2
        middle = np.where(np.isfinite(middle), middle, lower / 2 + upper / 2)
        good = np.isfinite(middle) & (lower <= middle) & (middle < upper)
    return np.where(good, middle, lower) + 0.0  # -0.0 becomes 0.0


def _keep_numbers(values: NDArray[Any], units: Int64 | None, max_bins: int) -> ColumnBins:
    """Keep the heaviest of numbers that are categories."""
    totals, missing = number_totals(values, units)
    return keep_categories([totals], missing, max_bins)


def number_totals(values: NDArray[Any], units: Int64 | None) -> tuple[dict[Key, int], int]:
    """Return (sorted distinct values, weight of each, weight of NaN)."""
    weight = len(values) if units is None else int(units.sum())
    distinct, totals = distinct_values(*sorted_with_sums(values, units))
    missing = weight - int(totals.sum())
    return dict(zip(distinct.tolist(), totals.tolist(), strict=True)), missing


def distinct_values(ordered: NDArray[Any], sums: Int64) -> tuple[Floats, Int64]:
    """Return each of the sorted values once, never -0.0, and what its rows weigh."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    ends = np.append(starts[1:], len(ordered))
    totals = sums[ends] - sums[starts] if len(sums) else ends - starts
    return ordered[starts].astype(np.float64) + 0.0, totals


def _keep_keys(table: FeatureTable, weights: RowWeights, max_bins: int, j: int) -> ColumnBins:
    totals, missing = key_totals(table, weights, j)
    return keep_categories([totals], missing, max_bins)


def keep_categories(slices: Iterable[dict[Key, int]], missing: int, max_bins: int) -> ColumnBins:
    """Return the bins of the heaviest categories of a column, with the dropped ones as `LeftOut`.

    Parameters
    ----------
    slices : iterable of dict
        What the rows of each category weigh; every category is in one of them.
    missing : int
        The weight of the rows without a category.
    max_bins : int
    """
    best: dict[Key, int] = {}
    n_keys = weight = 0
    for totals in slices:
        n_keys += len(totals)
        weight += sum(totals.values())
        best |= totals
        best = {key: best[key] for key in heaviest(best, max_bins + _NAMED)}
    kept = heaviest(best, max_bins)
    if len(kept) == n_keys:
        return ColumnBins(np.empty(0), kept, missing > 0)
    left = weight - sum(best[key] for key in kept)
    names = sorted(best.keys() - set(kept), key=lambda key: (-best[key], key_order(key)))
    return ColumnBins(
        np.empty(0),
        kept,
        True,
        LeftOut(n_keys - len(kept), tuple(names), left / (weight + missing)),
    )


def key_totals(table: FeatureTable, weights: RowWeights, j: int) -> tuple[dict[Key, int], int]:
    """Return the weight of each category that has any, and the weight of missing values."""
    totals: dict[Key, int] = {}
    missing = 0
    for start in range(0, table.n_rows, _KEY_ROWS):
        stop = min(start + _KEY_ROWS, table.n_rows)
        codes, keys = table.keys(j, start, stop)
        part = np.zeros(len(keys) + 1, dtype=np.int64)  # the last one is code -1: missing
        np.add.at(part, codes, 1 if weights.every is None else weights.every[start:stop])
        missing += int(part[-1])
        for key, total in zip(keys, part.tolist(), strict=False):
            totals[key] = totals.get(key, 0) + total
    return {key: total for key, total in totals.items() if total > 0}, missing


def heaviest(totals: dict[Key, int], max_bins: int) -> tuple[Key, ...]:
    """Return at most `max_bins` categories in their order: the heaviest, the first of equals."""
    ordered = sorted(totals, key=key_order)
    if len(ordered) > max_bins:
        ordered = sorted(ordered, key=lambda key: -totals[key])[:max_bins]  # ties: stable
        ordered.sort(key=key_order)
    return tuple(ordered)


def key_order(key: Key) -> tuple[bool, Key]:
    """Return what categories are sorted by: numbers before strings, each in their order."""
    return isinstance(key, str), key
