"""The table of a fit: its bins, its codes, the shards of every model, and rows that are copies.

`LocalTable` is a table in memory, `costboost.fitting.spread.PartsTable` one whose rows are
elsewhere. Trainers ask both for the same things, and number rows from 0 in the table's order.

Oversampling and joins repeat rows. A model that is judged on copies of rows it was trained on looks
better than it is, so folds keep copies together. `find_copies` gives every row the number of its
*set* of equal rows, `read_copies` finds them once for a fit and warns of many. Sets are numbered in
the order of their first rows::

    row     0    1    2    3    4
    table   a    b    a    c    b
    set     0    1    0    2    1

Rows are compared by a hash of 64 bits: of a million different rows two have the same with a chance
of 3e-8, and then they only stay together in a fold.

Equal rows need not be copies. Two yes-or-no columns have four different rows, however many are
drawn, and each of them is new evidence. So rows count as copies only where equal pairs are far more
frequent than they would be if columns were drawn independently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from costboost.binning.binner import Binner, fit_target_binner
from costboost.binning.table_reading import FeatureTable, SparseTable, read_table
from costboost.binning.target_codes import BUCKETS, TargetRows
from costboost.calibration import copies_in, numbered
from costboost.inputs.checks import warn_caller
from costboost.runtime.machine import release_memory
from costboost.runtime.messages import Call, join, message
from costboost.shards.layout import (
    FoldLayout,
    Folds,
    Loader,
    ShardLayout,
    plan_folds,
    plan_layout,
    sensible_shards,
)
from costboost.shards.parts import TablePart
from costboost.shards.rows import mix, round_key
from costboost.trees.forest import Forest
from costboost.typing import Codes, Floats, Int64

MANY = 50_000  # rows, from which on a copy of the codes for every fold takes too much memory


class Followed(Protocol):
    """Rows whose margins grow with a model that does not train on them."""

    def add(self, forest: Forest) -> Floats:
        """Add all trees of a forest; return the margins, (n, J), which no later call changes."""


class TrainingTable(Protocol):
    """The table as trainers use it; a remote one also has `row_data()`."""

    binner: Binner | None

    def fit_binner(
        self,
        weights: Floats | None,
        max_bins: int,
        categorical: Any,
        target: Callable[[], TargetRows] | None = None,
    ) -> None:
        """Learn how to bin the columns; with `target`, those of many categories by labels."""

    def open(self, loader: Loader, rows: Any = None, width: int = 1) -> AbstractContextManager[Any]:
        """Return the shards of a model that trains on all rows, or on some.

        `width` says how many columns' work a column is.
        """

    def table_of(self, rows: Any) -> Any:
        """Return some rows of the table as it is, None: all; refused where nobody holds it."""

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows."""

    def apply(self, function: Callable[[Codes], Floats], rows: Any) -> Floats:
        """Apply a picklable function to the codes of some rows; it says something of every row."""

    def follow(self, rows: Any, start: Floats) -> Followed:
        """Follow some rows from margins (J,) on."""

    def copies(self, weights: Floats | None) -> Int64 | None:
        """Return the number of each row's set of equal rows; None where no row has any."""

    def arrange(
        self,
        folds: Folds,
        labels: NDArray[np.integer[Any]] | None = None,
        n_classes: int = 1,
    ) -> bool:
        """Know in advance which rows models will train on and be judged by.

        `labels` (n,) are what their loaders will group rows by. True if models train on all rows
        used but those they leave out, and share the codes.
        """

    def release_memory(self) -> None:
        """Give memory that was freed here back to the system, where it may be much."""

    def close(self) -> None:
        """Let go of the codes."""


class LocalTable:
    """A table in memory.

    Parameters
    ----------
    X : the table
    n_rows : int
    n_threads : int

    Attributes
    ----------
    binner : Binner or None
        None with an outside learner, which gets the table as it is.
    """

    def __init__(self, X: Any, n_rows: int, n_threads: int) -> None:
        self.X, self.n_rows, self.n_threads = X, n_rows, n_threads
        self.binner: Binner | None = None
        self._codes: Codes | None = None
        self._own_codes: dict[int, Codes] = {}  # of columns that are coded by labels of other rows
        self._folds: FoldLayout | None = None  # the order of the codes, if it is not the table's

    def fit_binner(
        self,
        weights: Floats | None,
        max_bins: int,
        categorical: Any,
        target: Callable[[], TargetRows] | None = None,
    ) -> None:
        """Learn how to bin the columns; with `target`, those of many categories by labels."""
        self.binner, self._own_codes = fit_target_binner(
            self.X,
            weights,
            target,
            max_bins=max_bins,
            categorical_features=categorical,
            n_threads=self.n_threads,
        )
        self.release_memory()

    def release_memory(self) -> None:
        """Give freed memory back to the system, where it may be much."""
        if self.n_rows >= MANY:
            release_memory()

    def open(
        self, loader: Loader, rows: Int64 | None = None, width: int = 1
    ) -> AbstractContextManager[Any]:
        """Return the shards of a model that trains on all rows, or on some."""
        self.release_memory()
        fold = None if self._folds is None else self._folds.training_on(rows, loader.labels)
        if self._folds is not None and fold is not None:
            return self._folds.cut(self._folded(), fold, loader.load)
        n_rows = self.n_rows if rows is None else len(rows)
        n_shards = self._n_shards(n_rows, width)
        layout = plan_layout(loader.labels, n_rows, loader.n_segments, n_shards)
        return layout.cut(self._arranged(layout, rows), loader.load)

    def _n_shards(self, n_rows: int, width: int = 1) -> int:
        n_features = 0 if self.binner is None else self.binner.n_features
        return sensible_shards(n_rows, n_features * width, self.n_threads)

    def _arranged(self, layout: ShardLayout, rows: Int64 | None) -> Codes:
        """Return the codes of the rows, in the order of the layout."""
        if self.binner is None:
            return np.zeros((len(layout.rows), 0), dtype=np.uint8)
        if rows is None and self._codes is None and self._folds is None:
            return self._encode(layout.positions)
        return self.codes_of(layout.rows if rows is None else rows[layout.rows])

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows; the table is binned at the first call, and kept."""
        if self._folds is not None:
            return np.asarray(self._folded()[self._folds.positions()[rows]])
        if self._codes is None:
            self._codes = self._encode()
        return np.asarray(self._codes[rows])

    def _encode(self, positions: NDArray[np.integer[Any]] | None = None) -> Codes:
        """Return the codes of all rows, which know nothing of the row's own label."""
        assert self.binner is not None
        columns = None
        if self._own_codes:
            columns = np.setdiff1d(np.arange(self.binner.n_features), list(self._own_codes))
        codes = self.binner.encode(
            self.X, positions=positions, columns=columns, n_threads=self.n_threads
        )
        for j, own in self._own_codes.items():
            codes[slice(None) if positions is None else positions, j] = own
        return codes

    def _folded(self) -> Codes:
        """Return all codes in the order of the folds; the table is binned at the first call."""
        if self._codes is None:
            assert self._folds is not None
            self._codes = self._encode(self._folds.positions())
        return self._codes

    def table_of(self, rows: Any) -> Any:
        """Return some rows of the table as it is; None are all of them."""
        return self.X if rows is None else _safe_indexing(self.X, rows)

    def apply(self, function: Callable[[Codes], Floats], rows: Int64) -> Floats:
        """Apply a function to the codes of some rows."""
        self.release_memory()  # what the model held that was trained before
        return function(self.codes_of(rows))

    def follow(self, rows: Int64, start: Floats) -> Followed:
        """Follow some rows from margins (J,) on."""
        fold = None if self._folds is None else self._folds.leaving_out(rows)
        if self._folds is None or fold is None:
            pieces: list[tuple[Codes, Any]] = [(self.codes_of(rows), slice(None))]
        else:
            pieces = list(self._folds.pieces(self._folded(), fold))
        return FollowedRows(pieces, np.tile(start, (len(rows), 1)), self.n_threads)

    def copies(self, weights: Floats | None) -> Int64 | None:
        """Return the number of each row's set of equal rows; None where no row has any."""
        return read_copies(self.X, weights)

    def arrange(
        self,
        folds: Folds,
        labels: NDArray[np.integer[Any]] | None = None,
        n_classes: int = 1,
    ) -> bool:
        """Know in advance which rows models will train on and be judged by.

        All of them then share one copy of the codes, if folds are what they are: every row that is
        used is left out once.
        """
        if self._codes is None and self.binner is not None and self.n_rows >= MANY:
            n_shards = self._n_shards(self.n_rows)
            self._folds = plan_folds(folds, n_shards, labels, n_classes)
        return self._folds is not None

    def close(self) -> None:
        """Let go of the codes."""
        self._codes = self._folds = None
        self._own_codes = {}


class FollowedRows:
    """Rows in memory whose margins grow with a model.

    Parameters
    ----------
    pieces : list of (codes, rows)
        Codes that lie together, and which of the rows they are of.
    margins : float64 array of shape (n, J)
        Of the rows at the start.
    n_threads : int
    """

    def __init__(self, pieces: list[tuple[Codes, Any]], margins: Floats, n_threads: int) -> None:
        self.pieces, self.margins, self.n_threads = pieces, margins, n_threads

    def add(self, forest: Forest) -> Floats:
        """Add all trees of a forest; return the margins, (n, J)."""
        # New ones: Ctrl-C at any moment leaves the margins as they were.
        margins = np.empty_like(self.margins)
        for codes, rows in self.pieces:
            own = self.margins[rows].copy() if isinstance(rows, slice) else self.margins[rows]
            forest.add_trees(codes, own, 0, len(forest), self.n_threads)
            margins[rows] = own
        self.margins = margins
        return margins


Hashes = NDArray[np.uint64]

BLOCK = 8192  # rows that are hashed at once: a column of them stays in the cache
WARN_SHARE = 0.1  # of copies, from which on fits warn
SURPRISE = 10.0  # so many times the equal pairs that chance would give are copies


def read_copies(X: Any, weights: Floats | None = None) -> Int64 | None:
    """Return the number of each row's set of copies, or None without copies; warn of many.

    Rows of weight 0 are as good as absent, and are copies of nothing. A table that cannot be
    compared (an outside learner may take anything) has no copies either.
    """
    here = weighted_rows(weights)
    try:
        found = find_copies(X if here is None else _safe_indexing(X, here))
    except (TypeError, ValueError):
        return None
    return None if found is None else _sets_of_all(found, here, weights)


def draw_buckets(
    n_rows: int, weights: Floats | None, copies: Int64 | None, seed: int
) -> NDArray[np.uint8]:
    """Return the bucket of each row, whose labels its target statistics leave out, (n_rows,).

    Copies of a row share a bucket, so that a row of weight k is as good as k rows.
    """
    here = weighted_rows(weights)
    alive = np.arange(n_rows) if here is None else here
    sets = copies_in(copies, alive)
    numbers = np.arange(len(alive)) if sets is None else sets
    buckets = np.zeros(n_rows, dtype=np.uint8)
    buckets[alive] = mix(round_key(seed, 0), numbers) % np.uint64(BUCKETS)
    return buckets


def weighted_rows(weights: Floats | None) -> Int64 | None:
    """Return the numbers of the rows that have weight; None: all of them."""
    if weights is None or np.all(weights > 0.0):
        return None
    return np.flatnonzero(weights > 0.0)


def _sets_of_all(found: Int64, here: Int64 | None, weights: Floats | None) -> Int64:
    """Return the sets of all rows, given those of the weighted rows `here`; warn of many copies."""
    _warn_if_many(found)
    if here is None:
        return found
    assert weights is not None
    sets: Int64 = found.max() + 1 + np.arange(len(weights))
    sets[here] = found
    return sets


def _warn_if_many(sets: Int64) -> None:
    share = 1.0 - (int(sets.max()) + 1) / len(sets)
    if share >= WARN_SHARE:
        warn_caller(
            f"{share:.0%} of the rows are copies of other rows. Copies stay together where rows "
            "are set apart (to calibrate, or to stop early), so that no model is judged on rows "
            "that it was trained on; in training each of them counts. Give every row once with a "
            "sample_weight, or groups= of rows that belong together."
        )


def find_copies(X: Any) -> Int64 | None:
    """Return the number of each row's set of equal rows, or None where no row has copies.

    Missing values are equal to each other, and -0.0 to 0.0.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or FeatureTable of shape (n_samples, n_features)

    Returns
    -------
    int64 array of shape (n_samples,), or None

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> find_copies(X) is None
    True
    >>> find_copies(X[[0, 1, 0, 2, 1]]).tolist()
    [0, 1, 0, 2, 1]
    """
    table = read_table(X)
    return sets_of(_hash_rows(table), _agreements(table))


def sets_of(hashes: Hashes, agreements: Iterable[float]) -> Int64 | None:
    """Return the number of each row's set of equal hashes, or None where they are no copies.

    `agreements` yields, for one column after another, the chance that two different rows agree in
    it; it is read only where hashes are equal.
    """
    ordered = np.sort(hashes)
    if not np.any(ordered[1:] == ordered[:-1]):
        return None
    sets = numbered(hashes)
    return sets if _surprising(len(hashes), np.bincount(sets), agreements) else None


def agreement(values: NDArray[Any]) -> float:
    """Return the chance that two different rows agree in a column."""
    n, counts = len(values), np.unique(values, return_counts=True)[1]
    return float(np.sum(counts * (counts - 1.0))) / (n * (n - 1.0))


# --- hashes: the sum over columns of a mixture of the value and the column's own key


def _hash_rows(table: FeatureTable) -> Hashes:
    if isinstance(table, SparseTable):
        return _hash_stored(table)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for j, part, bits in _columns_of(table):
        hashes[part] += mix(round_key(0, j + 1), bits)
    return hashes


def _columns_of(table: FeatureTable) -> Iterator[tuple[int, slice, Hashes]]:
    """Yield columns as bits: of numbers in blocks of rows, of categories as a whole."""
    numeric = [j for j in range(table.n_columns) if not table.has_keys(j)]
    # Blocks of a frame are new objects, which cost more than they save.
    step = BLOCK if table.names is None else max(table.n_rows, 1)
    for start in range(0, table.n_rows, step):
        part = slice(start, min(start + step, table.n_rows))
        for j in numeric:
            yield j, part, bits_of(table.numbers(j, part.start, part.stop))
    for j in set(range(table.n_columns)) - set(numeric):
        yield j, slice(None), table.keys(j, 0, table.n_rows)[0].astype(np.uint64)


def _hash_stored(table: SparseTable) -> Hashes:
    rows, columns, bits = _stored(table)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    np.add.at(hashes, rows, mix(0, bits ^ mix(1, columns)))
    return hashes


def _stored(table: SparseTable) -> tuple[Int64, Int64, Hashes]:
    """Return row, column and bits of the stored values other than 0: a stored 0 is as none."""
    csc = table.csc
    kept = csc.data != 0
    columns = np.repeat(np.arange(table.n_columns), np.diff(csc.indptr))
    return csc.indices[kept], columns[kept], bits_of(csc.data[kept])


def bits_of(values: NDArray[Any]) -> Hashes:
    """Return float64 numbers as bits, equal where the numbers are."""
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


# --- chance


def _surprising(n: int, sizes: Int64, agreements: Iterable[float]) -> bool:
    """Whether equal pairs are far more than independent columns would give.

    A pair agrees in column j with the chance sum_v p_v^2, and in all with the product of these.
    """
    found = float(np.sum(sizes * (sizes - 1.0))) / 2.0
    expected = n * (n - 1.0) / 2.0
    for share in agreements:
        expected *= share
        if expected * SURPRISE < found:
            return True
    return False


def _agreements(table: FeatureTable) -> Iterator[float]:
    """Yield the chance that two different rows agree in a column, for one column after another."""
    n = table.n_rows
    if isinstance(table, SparseTable):
        yield from (_stored_pairs(table) / (n * (n - 1.0))).tolist()
        return
    for j in range(table.n_columns):
        keyed = table.has_keys(j)
        yield agreement(table.keys(j, 0, n)[0] if keyed else bits_of(table.numbers(j, 0, n)))


def _stored_pairs(table: SparseTable) -> Floats:
    """Return for every column how many ordered pairs of rows agree in it; most in their zeros."""
    _, columns, bits = _stored(table)
    order = np.lexsort((bits, columns))
    columns, bits = columns[order], bits[order]
    new = np.append(True, (columns[1:] != columns[:-1]) | (bits[1:] != bits[:-1]))[: len(bits)]
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(bits)))
    zeros = table.n_rows - np.bincount(columns, minlength=table.n_columns)
    pairs = np.bincount(columns[starts], counts * (counts - 1.0), minlength=table.n_columns)
    return np.asarray(pairs + zeros * (zeros - 1.0))


# The same for remote tables: parts send hashes of their rows

MISSING = np.uint64(0)


@message(reduce=join, by_part=True)
def fetch_row_hashes(part: TablePart) -> list[Hashes]:
    """Return a hash of every row."""
    hashes = np.zeros(part.n_rows, dtype=np.uint64)
    if part.n_rows:
        table = read_table(part.raw.X)
        for j in range(table.n_columns):
            hashes += mix(round_key(0, j + 1), _column_bits(table, j))
    return [hashes]


@message(reduce=join, by_part=True)
def fetch_column_bits(part: TablePart, *, column: int) -> list[Hashes]:
    """Return the values of a column, as bits that are equal where values are."""
    if not part.n_rows:
        return [np.zeros(0, dtype=np.uint64)]
    return [_column_bits(read_table(part.raw.X), column)]


def _column_bits(table: FeatureTable, j: int) -> Hashes:
    if not table.has_keys(j):
        return bits_of(table.numbers(j, 0, table.n_rows))
    codes, keys = table.keys(j, 0, table.n_rows)
    named = [hashlib.blake2b(repr(key).encode(), digest_size=8).digest() for key in keys]
    bits = np.frombuffer(b"".join(named), dtype=np.uint64) if named else np.zeros(0, np.uint64)
    return np.append(bits, MISSING)[codes]  # code -1 is a missing value


def read_spread_copies(
    send: Callable[[Sequence[Any]], list[Any]], n_columns: int, weights: Floats | None
) -> Int64 | None:
    """Return the number of each row's set of copies, or None where there are none; tell of many."""
    here = weighted_rows(weights)

    def ask(message: Call[Any]) -> Hashes:
        found = np.concatenate(send([message])[0])
        return found if here is None else found[here]

    def agreements() -> Iterator[float]:
        for j in range(n_columns):
            yield agreement(ask(fetch_column_bits(column=j)))

    try:
        found = sets_of(ask(fetch_row_hashes()), agreements())
    except (TypeError, ValueError):
        return None
    return None if found is None else _sets_of_all(found, here, weights)
