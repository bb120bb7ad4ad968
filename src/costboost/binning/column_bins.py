"""The bins of a column: its edges or categories, cut from data, and the codes that they make.

Columns are sorted a few at a time, by as many threads as fit into 32 bytes a row. Weights are
integers, so every share of weight is exact, and weight k equals k copies of a row. Codes are
searched by an `Encoder` and written where a `Target` says: tables in blocks of rows, sparse ones in
blocks of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning import _binning_kernels as kernels
from costboost.binning.codes import MISSING, Key
from costboost.binning.table_reading import DenseTable, FeatureTable, RowWeights, SparseTable
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
    "key_totals",
    "number_totals",
    "sorted_with_sums",
    "Encoder",
    "Target",
    "encode_table",
    "make_encoder",
    "make_target",
]


# Cutting.

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


# Encoding: every cell gets its code, by the edges or the categories of its column.

_BLOCK_ROWS = 32_768
_BLOCK_CELLS = 1 << 20  # of numbers that must be converted: 8 MB a thread at most
_CELLS_PER_EDGE = 4


class EdgeTables(NamedTuple):
    """The edges of all columns, flat, as `kernels.encode_block` searches them."""

    edges: Floats
    edge_offsets: Int64
    guide: Codes
    guide_offsets: Int64
    origins: Floats
    scales: Floats
    widths: Int64

    def starting_at(self, j: int) -> EdgeTables:
        """Return the same edges, with feature j as the first."""
        return self._replace(
            edge_offsets=self.edge_offsets[j:],
            guide_offsets=self.guide_offsets[j:],
            origins=self.origins[j:],
            scales=self.scales[j:],
            widths=self.widths[j:],
        )


class Encoder(NamedTuple):
    """The bins of all columns, ready to be searched.

    Attributes
    ----------
    search : EdgeTables
        The edges; numeric columns.
    places : tuple of dict
        The code of each category; categorical columns.
    numbers : tuple of float64 arrays
        The categories that are numbers. They come before strings, so codes are places.
    codes : tuple of uint8 arrays or None
        Of columns that are coded by their target, the codes of these numbers.
    unseen : tuple of int
        The code of categories that are not known.
    is_categorical : bool array of shape (n_features,)
    """

    search: EdgeTables
    places: tuple[dict[Key, int], ...]
    numbers: tuple[Floats, ...]
    codes: tuple[Codes | None, ...]
    unseen: tuple[int, ...]
    is_categorical: NDArray[np.bool_]


class Target(NamedTuple):
    """The array that codes are written to, and which of its rows and columns.

    Attributes
    ----------
    features : int64 array
        The columns to encode.
    places : int64 array of shape (n_samples,) or (0,)
        The row of `out` that each row goes to; empty: its own number.
    out : uint8 array of shape (n_rows, n_features)
    """

    features: Int64
    places: Int64
    out: Codes

    def rows(self, start: int, stop: int) -> Int64 | slice:
        """Return the rows of `out` that rows start to stop go to."""
        return self.places[start:stop] if len(self.places) else slice(start, stop)


def make_encoder(
    edges: Sequence[Floats],
    categories: Sequence[tuple[Key, ...] | None],
    level_codes: Sequence[Codes | None] | None = None,
) -> Encoder:
    """Prepare edges, categories and their codes, one entry per feature, for searching."""
    kept = [keys or () for keys in categories]
    codes = level_codes or (None,) * len(kept)
    numbers = [[key for key in keys if not isinstance(key, str)] for keys in kept]
    return Encoder(
        search=_search_tables(edges),
        places=tuple(
            dict(zip(keys, range(len(keys)) if own is None else own.tolist(), strict=False))
            for keys, own in zip(kept, codes, strict=True)
        ),
        numbers=tuple(np.array(part, dtype=np.float64) for part in numbers),
        codes=tuple(codes),
        unseen=tuple(MISSING if own is None else int(own[-1]) for own in codes),
        is_categorical=np.array([keys is not None for keys in categories], dtype=np.bool_),
    )


def _search_tables(all_edges: Sequence[Floats]) -> EdgeTables:
    parts = [_search_table(edges) for edges in all_edges]
    padded, guides, origins, scales, widths = zip(*parts, strict=True)
    return EdgeTables(
        np.concatenate(padded),
        _offsets(padded),
        np.concatenate(guides),
        _offsets(guides),
        np.array(origins),
        np.array(scales),
        np.array(widths, dtype=np.int64),
    )


def _search_table(edges: Floats) -> tuple[Floats, Codes, float, float, int]:
    """Make padded edges, guide, origin, scale and width: see `kernels.encode_block`."""
    finite = edges[np.isfinite(edges)]
    n_cells = _CELLS_PER_EDGE << len(edges).bit_length()
    origin = float(finite[0]) if len(finite) else 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = float(n_cells / (finite[-1] - origin)) if len(finite) > 1 else 0.0
        scale = scale if np.isfinite(scale) else 0.0
        # The kernel's own arithmetic: fmax drops the NaN of infinity times 0.
        places = np.minimum(np.fmax((edges - origin) * scale, 0.0), n_cells - 1.0)
    counts = np.bincount(places.astype(np.int64), minlength=n_cells)
    width = (1 << int(counts.max()).bit_length()) >> 1
    padded = np.append(edges, np.full(2 * width, np.inf))
    return padded, (np.cumsum(counts) - counts).astype(np.uint8), origin, scale, width


def _offsets(parts: Sequence[NDArray[Any]]) -> Int64:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def make_target(
    n_rows: int,
    n_features: int,
    positions: Any = None,
    out: Any = None,
    columns: Iterable[int] | None = None,
) -> Target:
    """Check where the codes of `n_rows` rows shall go; see `binning.Binner.encode`."""
    features = _checked_features(columns, n_features)
    if out is None:
        make = np.empty if columns is None else np.zeros
        out = make((n_rows, n_features), dtype=np.uint8)
    _check_out(out, n_rows, n_features)
    return Target(features, _checked_positions(positions, n_rows, len(out)), out)


def _checked_features(columns: Iterable[int] | None, n_features: int) -> Int64:
    if columns is None:
        return np.arange(n_features, dtype=np.int64)
    features = np.array(columns if isinstance(columns, np.ndarray) else list(columns), np.int64)
    if not (features[1:] > features[:-1]).all():
        features = np.unique(features)
    if len(features) and not 0 <= features[0] <= features[-1] < n_features:
        raise ValueError(
            f"columns must lie between 0 and {n_features - 1}, got {features[0]} to {features[-1]}."
        )
    return features


def _check_out(out: Any, n_rows: int, n_features: int) -> None:
    good = isinstance(out, np.ndarray) and out.dtype == np.uint8 and out.ndim == 2
    if not good or len(out) < n_rows or out.shape[1] != n_features or not out.flags.writeable:
        raise ValueError(
            f"out must be a writeable uint8 array of at least {n_rows} rows and exactly "
            f"{n_features} columns, got {getattr(out, 'dtype', type(out))} of shape "
            f"{np.shape(out)}."
        )


def _checked_positions(positions: Any, n_rows: int, n_out: int) -> Int64:
    if positions is None:
        return _NO_INTEGERS
    places = np.ascontiguousarray(positions)
    if places.shape != (n_rows,) or places.dtype.kind not in "iu":
        raise ValueError(
            f"positions must be {n_rows} integers, one per row of X, got {places.dtype} of shape "
            f"{places.shape}."
        )
    if n_rows and (places.min() < 0 or places.max() >= n_out):
        raise ValueError(
            f"positions must lie between 0 and {n_out - 1}, got {places.min()} to {places.max()}."
        )
    return places.astype(np.int64, copy=False)


def encode_table(encoder: Encoder, table: FeatureTable, target: Target, n_threads: int) -> None:
    """Write the codes of a table to the target; they do not depend on `n_threads`."""
    if n_threads > 1 and not worthwhile(table.n_rows * len(target.features)):
        n_threads = 1
    if isinstance(table, SparseTable):
        _encode_sparse(encoder, table, target, n_threads)
    else:
        _encode_rows(encoder, table, target, n_threads)


def check_kinds(encoder: Encoder, table: FeatureTable, features: Int64) -> None:
    """Refuse columns that are not to be encoded, but hold another kind than in training.

    A table that is wrong where no tree looks is wrong all the same. Arrays of numbers hold numbers;
    of a DataFrame's number columns the type is known from one row.
    """
    if isinstance(table, DenseTable | SparseTable):
        return
    for j in np.setdiff1d(np.arange(table.n_columns), features).tolist():
        any_kind = encoder.is_categorical[j] or table.has_keys(j)
        stop = table.n_rows if any_kind else min(1, table.n_rows)
        if not encoder.is_categorical[j]:
            table.numbers(j, 0, stop)
        elif table.has_keys(j):
            _codes_of_keys(encoder, table, j, *table.keys(j, 0, stop))
        else:
            _codes_of_categories(encoder, table, j, table.numbers(j, 0, stop))


def _encode_rows(encoder: Encoder, table: FeatureTable, target: Target, n_threads: int) -> None:
    step = _BLOCK_ROWS
    if isinstance(table, DenseTable) and table.array.dtype != table.dtype:
        step = max(512, min(step, _BLOCK_CELLS // table.n_columns))
    if table.n_rows <= step:
        _encode_block(encoder, table, target, (0, table.n_rows))
        return
    blocks = [(start, min(start + step, table.n_rows)) for start in range(0, table.n_rows, step)]
    run(partial(_encode_block, encoder, table, target), blocks, n_threads)


def _encode_block(
    encoder: Encoder, table: FeatureTable, target: Target, block: tuple[int, int]
) -> None:
    start, stop = block
    is_categorical = encoder.is_categorical[target.features]
    for j in target.features[is_categorical].tolist():
        target.out[target.rows(start, stop), j] = (
            _codes_of_keys(encoder, table, j, *table.keys(j, start, stop))
            if table.has_keys(j)
            else _codes_of_categories(encoder, table, j, table.numbers(j, start, stop))
        )
    numeric = target.features[~is_categorical]
    is_plain = table.plain[numeric]
    if is_plain.any():
        together = target._replace(features=numeric[is_plain])
        values, columns = table.block(together.features, start, stop)
        _encode_numbers(encoder.search, values, columns, together, start)
    column = np.zeros(1, dtype=np.int64)
    for j in numeric[~is_plain].tolist():
        values = table.numbers(j, start, stop)[:, np.newaxis]
        _encode_numbers(
            encoder.search, values, column, target._replace(features=np.array([j])), start
        )


def _encode_numbers(
    search: EdgeTables, values: NDArray[Any], columns: Int64, target: Target, start: int
) -> None:
    values = values if values.flags.aligned else values.copy()
    kernels.encode_block(
        values, columns, target.features, *search, MISSING, target.places, start, target.out
    )


def _codes_of_numbers(encoder: Encoder, table: FeatureTable, j: int, values: NDArray[Any]) -> Codes:
    if encoder.is_categorical[j]:
        return _codes_of_categories(encoder, table, j, values)
    codes = np.empty((len(values), 1), dtype=np.uint8)
    only = np.zeros(1, dtype=np.int64)
    target = Target(only, _NO_INTEGERS, codes)
    _encode_numbers(encoder.search.starting_at(j), values[:, np.newaxis], only, target, 0)
    return codes[:, 0]


def _codes_of_categories(
    encoder: Encoder, table: FeatureTable, j: int, values: NDArray[Any]
) -> Codes:
    """Codes of numbers that are categories."""
    kept = encoder.numbers[j]
    if len(kept) == 0:
        if encoder.places[j] and not np.isnan(values).all():
            raise table.refuse(j, "numbers", "its categories were strings in training")
        return np.full(len(values), MISSING, dtype=np.uint8)
    places = np.minimum(np.searchsorted(kept, values), len(kept) - 1)
    own = encoder.codes[j]
    codes = places if own is None else own[places]
    found = np.where(kept[places] == values, codes, encoder.unseen[j])
    return np.where(np.isnan(values), MISSING, found).astype(np.uint8)


def _codes_of_keys(
    encoder: Encoder, table: FeatureTable, j: int, codes: Int64, keys: list[Key]
) -> Codes:
    places = encoder.places[j]
    n_numbers = len(encoder.numbers[j])
    kinds = {False} if n_numbers else set()
    if len(places) > n_numbers:
        kinds.add(True)
    strays = [key for key in keys if kinds and isinstance(key, str) not in kinds]
    if strays:
        held = "strings" if True in kinds else "numbers"
        raise table.refuse(
            j, f"the category {strays[0]!r}", f"its categories were {held} in training"
        )
    unseen = encoder.unseen[j]
    lookup = [places.get(key, unseen) for key in keys]
    return np.array([*lookup, MISSING], dtype=np.uint8)[codes]


def _encode_sparse(encoder: Encoder, table: SparseTable, target: Target, n_threads: int) -> None:
    def encode(group: Int64) -> None:
        for j in group.tolist():
            rows, values = table.stored(j)
            codes = _codes_of_numbers(encoder, table, j, np.append(values, values.dtype.type(0)))
            target.out[target.rows(0, table.n_rows), j] = codes[-1]
            target.out[target.places[rows] if len(target.places) else rows, j] = codes[:-1]

    # Blocks of columns, so that the first pass over the rows finds them in the cache.
    n_groups = max(1, min(n_threads, len(target.features)))
    run(encode, np.array_split(target.features, n_groups), n_groups)
