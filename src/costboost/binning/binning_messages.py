"""Messages that bin a table in parts: sums of weights, ranks of probes, and few values.

A part is some consecutive rows; it answers for its own rows, and answers are reduced by adding and
merging, whatever their order and number:

    describe_part       rows, columns, types, weights; `kinds_held` where types differ
    glance_at_columns   a column's distinct values if few, else some, evenly spread ("probes")
    rank_probes         the weight of the rows below each probe, and of those up to it
    values_between      the distinct values between neighbouring probes, with their weights
    count_keys          the weights of categories
    sum_part_levels     the weights of categories by class and bucket, see `target_codes`

A part sorts a column when it first needs it; `keep` says whether to cache it until
`forget_columns`. The cache changes no answer, so none of this changes the state of a part.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import Key
from costboost.binning.column_bins import (
    distinct_values,
    key_totals,
    number_totals,
    sorted_with_sums,
)
from costboost.binning.table_reading import FeatureTable, Grid, RowWeights, grid_of, read_table
from costboost.binning.target_codes import LevelSums, TargetRows, merge_sums, sum_levels
from costboost.inputs.arrays import read_weights
from costboost.runtime.messages import message, totals
from costboost.typing import Floats, Int64

__all__ = [
    "MANY",
    "Description",
    "Glimpse",
    "KeyTotals",
    "PartRows",
    "RawTable",
    "count_keys",
    "describe_part",
    "forget_columns",
    "glance_at_columns",
    "kinds_held",
    "rank_probes",
    "sort_columns",
    "sum_part_levels",
    "values_between",
    "weights_of",
]

Distinct = tuple[Floats, Int64]

_A_FEW = 4096
MANY = 1 << 20  # categories that a part returns at once


class RawTable(Protocol):
    """The rows of a part as they were given; what is read late may be a property."""

    @property
    def X(self) -> Any:  # noqa: N802
        """The features: anything that `fit_binner` takes, or a `FeatureTable` of its own."""

    @property
    def weights(self) -> Any:
        """One weight for each row, or None."""


class PartRows(Protocol):
    """A part that answers these messages; its sorted columns are cached in its `__dict__`."""

    @property
    def raw(self) -> RawTable:
        """The rows."""

    @property
    def data(self) -> Any:
        """The `RowData` of the rows, whose `y` are class numbers once these are known."""


# What the table is.


class Description(NamedTuple):
    """Columns, kinds and weights of some parts, merged.

    Attributes
    ----------
    n_parts, n_rows : int
    headings : frozenset
        The number of columns and their names, (d, names), of each part.
    categorical, plain : bool arrays of shape (d,)
        Whether a part with rows has categories there by its type, and whether one has not.
    itemsize : int
        Bytes of a sorted number, at most.
    grid : Grid or None
        Of the weights, where there are any.
    weighted : frozenset of bool
        Whether parts with rows have weights.
    """

    n_parts: int
    n_rows: int
    headings: frozenset[tuple[int, tuple[str, ...] | None]]
    categorical: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    itemsize: int
    grid: Grid | None
    weighted: frozenset[bool]


def _merge_descriptions(answers: Sequence[Description]) -> Description:
    headings: frozenset[Any] = frozenset().union(*(part.headings for part in answers))
    alike = len({d for d, _ in headings}) == 1  # if not, the headings are refused
    grids = [part.grid for part in answers if part.grid is not None]
    return Description(
        sum(part.n_parts for part in answers),
        sum(part.n_rows for part in answers),
        headings,
        _any(part.categorical for part in answers) if alike else answers[0].categorical,
        _any(part.plain for part in answers) if alike else answers[0].plain,
        max(part.itemsize for part in answers),
        Grid(max(g.largest for g in grids), min(g.smallest for g in grids)) if grids else None,
        frozenset().union(*(part.weighted for part in answers)),
    )


def _any(flags: Iterable[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    merged: NDArray[np.bool_] = np.logical_or.reduce(list(flags))
    return merged


@message(reduce=_merge_descriptions)
def describe_part(part: PartRows, *, by_type: bool) -> Description:
    """Describe the columns, kinds and weights of a part."""
    table = read_table(part.raw.X)
    n_rows, weights = table.n_rows, part.raw.weights
    categorical = np.zeros(table.n_columns, dtype=np.bool_)
    if by_type and n_rows:
        categorical[:] = [table.is_categorical(j) for j in range(table.n_columns)]
    return Description(
        1,
        n_rows,
        frozenset([(table.n_columns, table.names)]),
        categorical,
        ~categorical if n_rows else categorical.copy(),
        table.itemsize(),
        None if weights is None else grid_of(read_weights(weights, n_rows, some=False)),
        frozenset([weights is not None] if n_rows else []),
    )


@message(reduce=totals)
def kinds_held(part: PartRows, *, columns: tuple[int, ...]) -> tuple[Int64, Int64]:
    """Count the parts in which columns hold categories, and numbers; missing values are neither."""
    table = read_table(part.raw.X)
    found = np.array([_holds(table, j) for j in columns], dtype=np.int64)
    return found[:, 0], found[:, 1]


def _holds(table: FeatureTable, j: int) -> tuple[bool, bool]:
    if table.has_keys(j):
        codes, _ = table.keys(j, 0, table.n_rows)
        filled = bool((codes >= 0).any())
    else:
        filled = not np.isnan(table.numbers(j, 0, table.n_rows)).all()
    categorical = filled and table.is_categorical(j)
    return categorical, filled and not categorical


# Columns of numbers.


class Glimpse(NamedTuple):
    """Distinct values of a column.

    Attributes
    ----------
    values : float64 array
        Increasing.
    weights : int64 array
        What the rows of each value weigh; empty unless `complete`.
    complete : bool
        Whether these are all values.
    missing : bool
        Whether a row of positive weight has none.
    """

    values: Floats
    weights: Int64
    complete: bool
    missing: bool


class Sorted(NamedTuple):
    """A column's numbers in their order, and the sums of their weights (empty: all weigh 1)."""

    values: NDArray[Any]
    sums: Int64
    missing: bool

    def weight(self, places: Int64) -> Int64:
        """Return the weight of the rows before places."""
        return self.sums[places] if len(self.sums) else places

    def search(self, values: Floats, side: Any) -> Int64:
        """Return the places of values, without another copy of float32 unless they need one."""
        narrow = values.astype(self.values.dtype) if self.values.dtype != values.dtype else values
        exact = np.array_equal(narrow, values)
        return np.searchsorted(self.values, narrow if exact else values, side)


def sort_cached(
    part: PartRows, columns: Sequence[int], grid: Grid | None, *, keep: bool
) -> Iterable[Sorted]:
    """Yield sorted columns of a part; with `keep` they are cached there for the next call."""
    cached: dict[int, Sorted] = part.__dict__.setdefault("sorted_columns", {})
    absent = [j for j in columns if j not in cached]
    fresh = zip(absent, sort_columns(part, absent, grid), strict=True)
    for j in columns:
        column = cached[j] if j in cached else next(fresh)[1]
        if keep:
            cached[j] = column
        yield column


def sort_columns(part: PartRows, columns: Sequence[int], grid: Grid | None) -> Iterable[Sorted]:
    """Sort columns of numbers; rows of weight 0 are left out."""
    table = read_table(part.raw.X)
    for values, units in table.samples(columns, weights_of(part, table.n_rows, grid)):
        ordered, sums = sorted_with_sums(values, units)
        yield Sorted(ordered, sums, len(ordered) < len(values))


def weights_of(part: PartRows, n_rows: int, grid: Grid | None) -> RowWeights:
    """Return the weights of a part's rows on the grid of all parts."""
    if grid is None or part.raw.weights is None:  # None: a part without rows
        return RowWeights(None, None, None, n_rows)
    return grid.weigh(read_weights(part.raw.weights, n_rows, some=False))


def _merge_glimpses(
    answers: Sequence[list[Glimpse]], *, few: int, n_probes: int, **_: Any
) -> list[Glimpse]:
    return [_merge_column(column, few, n_probes) for column in zip(*answers, strict=True)]


def _merge_column(found: Sequence[Glimpse], few: int, n_probes: int) -> Glimpse:
    missing = any(part.missing for part in found)
    if not all(part.complete for part in found):
        probes = np.concatenate([_thinned(part, n_probes).values for part in found])
        return Glimpse(np.unique(probes), np.empty(0, dtype=np.int64), False, missing)
    values, weights = merge_distinct([(part.values, part.weights) for part in found])
    merged = Glimpse(values, weights, True, missing)
    return _thinned(merged, n_probes) if len(values) > few else merged


def _thinned(found: Glimpse, n_probes: int) -> Glimpse:
    """Return only probes of the values, if these are all."""
    if not found.complete:
        return found
    if len(found.values) <= n_probes:
        return found._replace(weights=np.empty(0, dtype=np.int64), complete=False)
    sums = np.append(0, np.cumsum(found.weights))
    return _probes(found.values, sums, n_probes, missing=found.missing)


def _probes(values: NDArray[Any], sums: Int64, n_probes: int, *, missing: bool) -> Glimpse:
    """Return the least and the largest value and some between them, at even steps of weight."""
    n = len(values)
    # Parts of the same distribution must not all choose the same values: where the first step
    # begins depends on what the values are.
    begin = zlib.crc32(values[:: n // 16 + 1].tobytes()) / 2**32
    steps = (np.arange(n_probes) + begin) / n_probes
    places = (steps * n).astype(np.int64)
    if len(sums):
        places = np.searchsorted(sums, steps * float(sums[-1]), "right") - 1
    places = np.concatenate([[0], np.minimum(places, n - 1), [n - 1]])
    chosen = np.unique(values[places].astype(np.float64) + 0.0)
    return Glimpse(chosen, np.empty(0, dtype=np.int64), False, missing)


@message(reduce_with=_merge_glimpses)
def glance_at_columns(
    part: PartRows,
    *,
    columns: tuple[int, ...],
    grid: Grid | None,
    keep: bool,
    few: int,
    n_probes: int,
) -> list[Glimpse]:
    """Return the distinct values of columns, where they are at most `few`; else probes.

    Parameters
    ----------
    part : PartRows
    columns : tuple of int
        Columns of numbers.
    grid : Grid or None
        Of the weights of all parts; None where rows have none.
    keep : bool
        Whether the sorted columns are kept for the next call.
    few, n_probes : int
    """
    return [_glimpse(c, few, n_probes) for c in sort_cached(part, columns, grid, keep=keep)]


def _glimpse(column: Sorted, few: int, n_probes: int) -> Glimpse:
    n_rows = len(column.values)
    n_values = n_rows and 1 + int(np.count_nonzero(column.values[1:] != column.values[:-1]))
    # Where most rows of a part differ, all parts together have too many values.
    if n_values <= few and (n_values <= _A_FEW or 2 * n_values <= n_rows):
        return Glimpse(*distinct_values(column.values, column.sums), True, column.missing)
    return _probes(column.values, column.sums, n_probes, missing=column.missing)


def merge_distinct(parts: Sequence[Distinct]) -> Distinct:
    """Return the distinct values of all parts, and the sums of their weights."""
    if len(parts) == 1:
        return parts[0]
    values, places = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    weights = np.zeros(len(values), dtype=np.int64)
    np.add.at(weights, places, np.concatenate([part[1] for part in parts]))
    return values, weights


@message(reduce=totals)
def rank_probes(
    part: PartRows,
    *,
    columns: tuple[int, ...],
    grid: Grid | None,
    keep: bool,
    probes: tuple[Floats, ...],
) -> tuple[Int64, ...]:
    """Return the weight of the rows below each probe, and up to it, (2, n_probes) a column."""
    sorted_columns = sort_cached(part, columns, grid, keep=keep)
    pairs = zip(sorted_columns, probes, strict=True)
    return tuple(_ranks(column, own) for column, own in pairs)


def _ranks(column: Sorted, probes: Floats) -> Int64:
    sides = [column.weight(column.search(probes, side)) for side in ("left", "right")]
    return np.array(sides, dtype=np.int64)


def _merge_windows(answers: Sequence[list[Distinct]]) -> list[Distinct]:
    return [merge_distinct(column) for column in zip(*answers, strict=True)]


@message(reduce=_merge_windows)
def values_between(
    part: PartRows,
    *,
    columns: tuple[int, ...],
    grid: Grid | None,
    keep: bool,
    above: tuple[Floats, ...],
    below: tuple[Floats, ...],
) -> list[Distinct]:
    """Return the distinct values strictly between pairs of values, and their weights, by column."""
    sorted_columns = sort_cached(part, columns, grid, keep=keep)
    triples = zip(sorted_columns, above, below, strict=True)
    return [_inside(column, low, high) for column, low, high in triples]


def _inside(column: Sorted, above: Floats, below: Floats) -> Distinct:
    begins, ends = column.search(above, "right"), column.search(below, "left")
    sizes = np.maximum(ends - begins, 0)
    # Windows do not overlap, so one behind the other they are sorted still.
    places = np.arange(int(sizes.sum())) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
    sums = column.sums
    if len(sums):
        sums = np.append(0, np.cumsum(sums[places + 1] - sums[places]))
    return distinct_values(column.values[places], sums)


@message(reduce=None)
def forget_columns(part: PartRows) -> None:
    """Free the sorted columns."""
    part.__dict__.pop("sorted_columns", None)


# Columns of categories.


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


@message(reduce=merge_sums)
def sum_part_levels(
    part: PartRows,
    *,
    column: int,
    grid: Grid | None,
    n_classes: int,
    buckets: NDArray[np.uint8],
    edges: Floats | None = None,
) -> LevelSums:
    """Add up the weights of a column's categories by bucket and class; buckets are of the part."""
    table = read_table(part.raw.X)
    target = TargetRows(part.data.y if table.n_rows else buckets, n_classes, buckets, edges)
    return sum_levels(table, column, weights_of(part, table.n_rows, grid), target)


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
