"""Messages that bin a table in parts: sums of weights, ranks of probes, and few values.

A part is some consecutive rows; it answers for them alone, and its answers are put together by
adding and merging, whatever their order and number:

    Describe      rows, columns, types, weights        what the driver must know before it asks
    Glance        a column's distinct values if few, else some of them, evenly spread ("probes")
    Ranks         the weight of the rows below each probe, and of those up to it
    Windows       the distinct values between neighbouring probes, with their weights

`counting` asks for the weights of categories in the same way.

A part sorts a column at the first question about it; `keep` says whether to hold it until `Forget`.
What is held is only ever faster, never another answer, so none of this changes a part.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.binning.cutting import distinct_values, sorted_with_sums
from costboost.binning.feature_tables import FeatureTable, Grid, RowWeights, grid_of
from costboost.binning.table_reading import read_table
from costboost.inputs.arrays import read_weights
from costboost.runtime.messages import Command, Message, TupleSumMessage, totals
from costboost.typing import Floats, Int64

__all__ = [
    "Describe",
    "Description",
    "Forget",
    "Glance",
    "Glimpse",
    "HoldsAnything",
    "PartRows",
    "Ranks",
    "RawTable",
    "Windows",
    "sort_columns",
    "weights_of",
]

Distinct = tuple[Floats, Int64]

_A_FEW = 4096


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


@dataclass(frozen=True)
class Describe(Message):
    """Describe the columns, kinds and weights of a part."""

    by_type: bool  # whether types decide which columns hold categories

    def answer(self, part: PartRows) -> Description:
        """Describe one part."""
        table = read_table(part.raw.X)
        n_rows, weights = table.n_rows, part.raw.weights
        categorical = np.zeros(table.n_columns, dtype=np.bool_)
        if self.by_type and n_rows:
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

    def reduce(self, answers: Sequence[Description]) -> Description:
        """Describe all of them."""
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


@dataclass(frozen=True)
class HoldsAnything(TupleSumMessage):
    """Whether columns hold categories, and numbers, in any part; missing values are neither."""

    columns: tuple[int, ...]

    def answer(self, part: PartRows) -> tuple[Int64, Int64]:
        """Return 1 for each column that holds categories here, and for each that holds numbers."""
        table = read_table(part.raw.X)
        found = np.array([_holds(table, j) for j in self.columns], dtype=np.int64)
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


@dataclass(frozen=True)
class _OfColumns(Message):
    """A question about columns of numbers.

    Attributes
    ----------
    columns : tuple of int
    grid : Grid or None
        Of the weights of all parts; None where rows have none.
    keep : bool
        Whether the sorted columns are held for the next question.
    """

    columns: tuple[int, ...]
    grid: Grid | None
    keep: bool

    def _sorted(self, part: PartRows) -> Iterable[Sorted]:
        held: dict[int, Sorted] = part.__dict__.setdefault("sorted_columns", {})
        absent = [j for j in self.columns if j not in held]
        fresh = zip(absent, sort_columns(part, absent, self.grid), strict=True)
        for j in self.columns:
            column = held[j] if j in held else next(fresh)[1]
            if self.keep:
                held[j] = column
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


@dataclass(frozen=True)
class Glance(_OfColumns):
    """Distinct values of columns, if they are at most `few`; else probes."""

    few: int
    n_probes: int

    def answer(self, part: PartRows) -> list[Glimpse]:
        """Return a glimpse of every column."""
        return [self._glimpse(column) for column in self._sorted(part)]

    def _glimpse(self, column: Sorted) -> Glimpse:
        n_rows = len(column.values)
        n_values = n_rows and 1 + int(np.count_nonzero(column.values[1:] != column.values[:-1]))
        # Where most rows of a part differ, all parts together have too many values.
        if n_values <= self.few and (n_values <= _A_FEW or 2 * n_values <= n_rows):
            return Glimpse(*distinct_values(column.values, column.sums), True, column.missing)
        return self._probes(column.values, column.sums, column.missing)

    def _probes(self, values: NDArray[Any], sums: Int64, missing: bool) -> Glimpse:
        """Choose the ends and some values between them, at even steps of weight.

        Parts of the same distribution must not all choose the same values: where the first step
        begins depends on what the values are.
        """
        n = len(values)
        begin = zlib.crc32(values[:: n // 16 + 1].tobytes()) / 2**32
        steps = (np.arange(self.n_probes) + begin) / self.n_probes
        places = (steps * n).astype(np.int64)
        if len(sums):
            places = np.searchsorted(sums, steps * float(sums[-1]), "right") - 1
        places = np.concatenate([[0], np.minimum(places, n - 1), [n - 1]])
        chosen = np.unique(values[places].astype(np.float64) + 0.0)
        return Glimpse(chosen, np.empty(0, dtype=np.int64), False, missing)

    def _thinned(self, found: Glimpse) -> Glimpse:
        if not found.complete:
            return found
        if len(found.values) <= self.n_probes:
            return found._replace(weights=np.empty(0, dtype=np.int64), complete=False)
        return self._probes(found.values, np.append(0, np.cumsum(found.weights)), found.missing)

    def reduce(self, answers: Sequence[list[Glimpse]]) -> list[Glimpse]:
        """Merge the glimpses of each column."""
        return [self._merged(column) for column in zip(*answers, strict=True)]

    def _merged(self, found: Sequence[Glimpse]) -> Glimpse:
        missing = any(part.missing for part in found)
        complete = all(part.complete for part in found)
        if not complete:
            probes = np.concatenate([self._thinned(part).values for part in found])
            return Glimpse(np.unique(probes), np.empty(0, dtype=np.int64), False, missing)
        values, weights = merge_distinct([(part.values, part.weights) for part in found])
        merged = Glimpse(values, weights, True, missing)
        return self._thinned(merged) if len(values) > self.few else merged


def merge_distinct(parts: Sequence[Distinct]) -> Distinct:
    """Return the distinct values of all parts, and the sums of their weights."""
    if len(parts) == 1:
        return parts[0]
    values, places = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    weights = np.zeros(len(values), dtype=np.int64)
    np.add.at(weights, places, np.concatenate([part[1] for part in parts]))
    return values, weights


@dataclass(frozen=True)
class Ranks(_OfColumns):
    """Weight of the rows below each probe, and of the rows up to it."""

    probes: tuple[Floats, ...]

    def answer(self, part: PartRows) -> tuple[Int64, ...]:
        """Return one array of shape (2, n_probes) for every column."""
        asked = zip(self._sorted(part), self.probes, strict=True)
        return tuple(_ranks(column, probes) for column, probes in asked)

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Add the ranks up."""
        return totals(answers)


def _ranks(column: Sorted, probes: Floats) -> Int64:
    sides = [column.weight(column.search(probes, side)) for side in ("left", "right")]
    return np.array(sides, dtype=np.int64)


@dataclass(frozen=True)
class Windows(_OfColumns):
    """Distinct values strictly between pairs of values."""

    above: tuple[Floats, ...]
    below: tuple[Floats, ...]

    def answer(self, part: PartRows) -> list[Distinct]:
        """Return the values of all windows of every column, and their weights."""
        asked = zip(self._sorted(part), self.above, self.below, strict=True)
        return [_inside(column, above, below) for column, above, below in asked]

    def reduce(self, answers: Sequence[list[Distinct]]) -> list[Distinct]:
        """Merge the values of each column."""
        return [merge_distinct(column) for column in zip(*answers, strict=True)]


def _inside(column: Sorted, above: Floats, below: Floats) -> Distinct:
    begins, ends = column.search(above, "right"), column.search(below, "left")
    sizes = np.maximum(ends - begins, 0)
    # Windows do not overlap, so one behind the other they are sorted still.
    places = np.arange(int(sizes.sum())) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
    sums = column.sums
    if len(sums):
        sums = np.append(0, np.cumsum(sums[places + 1] - sums[places]))
    return distinct_values(column.values[places], sums)


@dataclass(frozen=True)
class Forget(Command):
    """Free the sorted columns."""

    changes = False

    def answer(self, part: PartRows) -> None:
        """Forget them."""
        part.__dict__.pop("sorted_columns", None)
