"""Which shard holds which rows, and the shards of a model in this process, a thread for each.

Rows are dealt to shards in small blocks, and grouped by class inside each.

Models of cross-validation leave out one fold each and share one copy of the codes::

    codes    shard 0: fold 0 | fold 1 | fold 2      shard 1: fold 0 | fold 1 | fold 2
    model 1           #######          ######                #######          ######

Rows are then stored shard by shard, within these class by class where a family groups them so, and
within those fold by fold. A model's rows of a class in a shard are two ranges of the codes, and
what it holds of them lies together: only the codes of the second range are further on, by the size
of the fold that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.runtime.machine import Scratch, warn_if_interpreted
from costboost.runtime.messages import Call
from costboost.shards.rows import Pieces, Shard
from costboost.typing import Codes, Floats, Int64, RowNumbers

R = TypeVar("R")

# Rows before the first round: loaders travel to where the rows are, and make the state there.


@dataclass(frozen=True)
class RowData:
    """What the user gave for some rows beside the features.

    Attributes
    ----------
    y : array of shape (n,): class numbers, or the target of a regression
    weights : float64 array of shape (n,) or None
    costs : Costs or None
        Bound to the classes; of these rows, if they have prices of their own.
    """

    y: NDArray[Any]
    weights: Floats | None = None
    costs: Costs | None = None

    def take(self, rows: NDArray[Any] | slice) -> RowData:
        """Return the data of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return RowData(self.y[rows], weights, None if self.costs is None else self.costs[rows])


class Loader(Protocol):
    """Makes the per-row state that an algorithm keeps in a shard."""

    @property
    def labels(self) -> NDArray[np.integer[Any]] | None:
        """Labels that rows are grouped by inside a shard, (n,); None: no grouping."""

    @property
    def n_segments(self) -> int:
        """The number of groups."""

    def load(self, rows: NDArray[Any] | slice) -> Any:
        """Return the state of a shard that holds the rows of these numbers.

        A slice of all of them copies nothing: the state then shares the arrays of the row data.
        """

    def blank(self) -> Self:
        """Return a loader of the same settings without rows, to be sent to workers."""

    def on(self, data: RowData) -> Self:
        """Return a loader of the same settings for other rows."""


# The shards of a model in this process, one for every thread. Loops ask `call` and get sums back;
# they never see a row. Integer sums do not depend on their order, so a model is bit for bit the
# same whatever the number of shards and threads.

_CELLS_PER_CALL = 100_000  # below this waking a thread takes longer: some 50 us of work


class SharedPool:
    """A thread pool for all shards but the first, shared by models that are trained in turn.

    The first shard is worked on by the calling thread.

    Threads start with the first model and end with the last. Each of them keeps some memory of its
    own, so models that take turns share them.
    """

    def __init__(self, size: int) -> None:
        self._size, self._models = size, 0
        self._pool: ThreadPoolExecutor | None = None

    def acquire(self) -> ThreadPoolExecutor | None:
        """Return the pool for one more model, started if need be; None where there is one shard."""
        self._models += 1
        if self._pool is None and self._size > 1:
            self._pool = ThreadPoolExecutor(self._size - 1)
        return self._pool

    def release(self) -> None:
        """Give up one model's claim; the last one shuts the pool down."""
        self._models -= 1
        if self._models == 0 and self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Shards:
    """All shards of one model in this process, and the threads that work on them.

    Used as a context manager: the threads end with the block, or with that of the last model that
    shares them.
    """

    is_remote = False  # whether a call is a trip over a network, so that callers should batch calls

    def __init__(self, shards: Sequence[Shard], pool: SharedPool | None = None) -> None:
        warn_if_interpreted()
        self.shards = list(shards)
        self.n_features = self.shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.rows) for shard in self.shards)
        self._shared = SharedPool(len(self.shards)) if pool is None else pool
        self._pool = self._shared.acquire()

    @property
    def is_single_shard(self) -> bool:
        """Whether one local shard holds all rows, and those of each class contiguously."""
        first = self.shards[0]
        return len(self.shards) == 1 and (first.pieces is None or len(first.starts) == 2)

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *raised: object) -> None:
        self._shared.release()

    def call(self, calls: Sequence[Call[Any]], n_rows: int | None = None) -> list[Any]:
        """Make calls to every shard, in their order; return one reduced answer for each.

        In parallel, unless the work is on so few rows (`n_rows`) that waking a thread would take
        longer.
        """
        if self._pool is None:
            # The answer of the only shard is the sum of all.
            shard, answers = self.shards[0], []
            for message, arguments in calls:  # thousands a fit: without the frame of `Call.answer`
                answers.append(message.function(shard, **arguments))
            return answers
        parts = self._map(lambda shard: [call.answer(shard) for call in calls], n_rows)
        return [call.reduce([part[i] for part in parts]) for i, call in enumerate(calls)]

    def _map(self, function: Callable[[Shard], R], n_rows: int | None) -> list[R]:
        """Return function(shard) of every shard, in the order of the shards.

        The thread that asks takes the first: waking another one takes longer than many an answer.
        """
        assert self._pool is not None
        if n_rows is not None and n_rows * self.n_features < _CELLS_PER_CALL:
            return [function(shard) for shard in self.shards]
        others = [self._pool.submit(function, shard) for shard in self.shards[1:]]
        try:
            return [function(self.shards[0]), *(other.result() for other in others)]
        finally:  # none may still be at work when the caller goes on, also after an error
            wait(others)

    def fetch(self, read: Callable[[Shard], NDArray[Any]]) -> NDArray[Any]:
        """Return `read(shard)` of all rows in the order of the table; only possible in one process.

        For outside learners, users' losses and exact quantiles, which need all rows at once.
        """
        parts = [read(shard) for shard in self.shards]
        out = np.empty((self.n_rows, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for shard, part in zip(self.shards, parts, strict=True):
            out[shard.rows] = part
        return out

    def put(self, write: Callable[[Shard, NDArray[Any]], None], values: NDArray[Any]) -> None:
        """Write every shard its rows of an array in the order of the table; one process only."""
        for shard in self.shards:
            write(shard, np.ascontiguousarray(values[shard.rows]))


_BLOCK = 1 << 14  # rows: what is computed for them on the way stays small
_DEAL = 4096  # rows dealt to one shard at a time: sorted data leaves no thread idle
_CELLS_PER_SHARD = 200_000  # below this a second thread costs more than it brings


@dataclass(frozen=True)
class ShardLayout:
    """Where each row of a table is stored: by shard, and there by class.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        rows[p] is the number of the row stored at position p.
    bounds : list of (start, stop)
        The positions of each shard.
    starts : list of ndarray of shape (S + 1,)
        Where each class begins, inside each shard.
    """

    rows: RowNumbers
    bounds: list[tuple[int, int]]
    starts: list[Int64]

    @property
    def positions(self) -> Int64:
        """Inverse of `rows`: row i is stored at positions[i], (n,)."""
        positions = np.empty(len(self.rows), dtype=np.int64)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    def cut(
        self, codes: NDArray[np.uint8], load: Callable[[RowNumbers], Any] | None = None
    ) -> Shards:
        """Return shards of codes that are already stored in this layout; `load` makes their state.

        `load` makes of row numbers what a shard holds of its rows.
        """
        shards = []
        for (start, stop), starts in zip(self.bounds, self.starts, strict=True):
            rows = self.rows[start:stop]
            state = None if load is None else load(rows)
            shards.append(Shard(codes[start:stop], rows, starts, state))
        return Shards(shards)


def plan_layout(
    labels: NDArray[np.integer[Any]] | None, n_rows: int, n_segments: int, n_shards: int
) -> ShardLayout:
    """Deal rows to shards and group them by label inside each; None: one segment, no labels.

    Examples
    --------
    >>> layout = plan_layout(np.array([1, 0, 1, 0]), n_rows=4, n_segments=2, n_shards=1)
    >>> layout.rows.tolist(), layout.starts[0].tolist()
    ([1, 3, 0, 2], [0, 2, 4])
    """
    rows, starts = deal_rows(labels, n_rows, n_segments, n_shards)
    ends = np.cumsum([start[-1] for start in starts]).tolist()
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    return ShardLayout(rows=rows, bounds=bounds, starts=starts)


def deal_rows(
    labels: NDArray[np.integer[Any]] | None, n_rows: int, n_segments: int, n_shards: int
) -> tuple[RowNumbers, list[Int64]]:
    """Return the rows, shard by shard and label by label, and where labels begin in each shard."""
    keys = np.arange(n_rows, dtype=np.uint32)
    # Blocks of _DEAL rows are dealt in turn, so that shards get rows of all parts of a sorted
    # table.
    keys //= _DEAL
    keys %= n_shards
    if labels is not None:
        keys *= np.uint32(n_segments)
        keys += labels.astype(np.uint8 if n_segments <= 256 else np.uint32)
    n_keys = n_shards * n_segments
    # In increasing order within a shard and label: neighbours stay neighbours in memory.
    members = [np.flatnonzero(keys == key).astype(np.uint32) for key in range(n_keys)]
    rows = np.concatenate(members)
    sizes = np.array([len(own) for own in members])
    starts = [
        np.concatenate([[0], np.cumsum(part)]).astype(np.int64)
        for part in sizes.reshape(n_shards, n_segments)
    ]
    return rows, starts


def sensible_shards(n_rows: int, n_features: int, n_threads: int) -> int:
    """Return the number of shards that pays: one per thread, fewer on small tables."""
    return max(1, min(n_threads, n_rows // _DEAL, n_rows * n_features // _CELLS_PER_SHARD))


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Yield slices that cover so many rows, a cache-sized block at a time."""
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))


# Rows of models that leave out one fold each, in codes that all of them share.


class Arranged(NamedTuple):
    """The rows of a model in a part, as a `Shard` holds them.

    Rows are given by their place among those of the part that the model trains on.
    """

    codes: Codes
    rows: RowNumbers
    starts: Int64
    pieces: Pieces | None = None


def deal_folds(
    fold_of: NDArray[np.uint8],
    n_folds: int,
    labels: NDArray[np.integer[Any]] | None,
    n_classes: int,
    n_shards: int,
) -> tuple[RowNumbers, list[Int64]]:
    """Return rows sorted by shard, class and fold, and each shard's starts, (K, F + 2).

    Starts count from the first row of the shard; fold F are rows that no model uses.

    Examples
    --------
    >>> folds, labels = np.array([0, 1, 0, 1], dtype=np.uint8), np.array([0, 0, 1, 0])
    >>> rows, (starts,) = deal_folds(folds, 2, labels, n_classes=2, n_shards=1)
    >>> rows.tolist(), starts.tolist()
    ([0, 1, 3, 2], [[0, 1, 3, 3], [3, 4, 4, 4]])
    """
    n_parts = n_folds + 1
    keys = fold_of if labels is None else labels * np.uint32(n_parts) + fold_of
    rows, starts = deal_rows(keys, len(fold_of), n_classes * n_parts, n_shards)
    own = np.arange(n_classes)[:, None] * n_parts + np.arange(n_parts + 1)
    return rows, [part[own] for part in starts]


def rows_without(
    stored: RowNumbers, starts: Int64, fold: int, n_segments: int
) -> tuple[RowNumbers, Int64, Pieces]:
    """Return the stored places of all folds but one, grouped as a model's segments.

    Also where its segments begin among them, one or one for each class, and how they lie in the
    codes, from the first of `starts` on.
    """
    # Of every class, all before the fold and all behind it.
    begins, ends = starts[:, [0, fold + 1]].ravel(), starts[:, [fold, -2]].ravel()
    ranges = zip(begins.tolist(), ends.tolist(), strict=True)
    # The model's rows in stored order; `skips` is how far each range has moved by leaving the fold
    # out.
    rows = np.concatenate([stored[begin:end] for begin, end in ranges])
    cuts = np.append(0, np.cumsum(ends - begins))
    segments = np.ascontiguousarray(cuts[:: len(begins) // n_segments])
    skips = begins - starts[0, 0] - cuts[:-1]
    return rows, segments, Pieces(cuts, tuple(skips.tolist()))


def left_out(chosen: RowNumbers, stored: RowNumbers, starts: Int64) -> int | None:
    """Return the fold whose complement was chosen; None if the choice is no such complement."""
    n_classes, n_parts = starts.shape[0], starts.shape[1] - 1
    sizes = np.diff(starts, axis=1)
    folds = np.empty(len(stored), dtype=np.uint8)
    folds[stored] = np.repeat(np.tile(np.arange(n_parts, dtype=np.uint8), n_classes), sizes.ravel())
    # Exactly one fold lacks rows, it lacks all of them, and no row is outside the folds.
    found = np.bincount(folds[chosen], minlength=n_parts)
    lacking = (sizes.sum(axis=0) - found)[:-1]
    fold = int(np.argmax(lacking))
    only_one = np.count_nonzero(lacking) == 1 and found[fold] == found[-1] == 0
    return fold if only_one else None


def without_fold(
    codes: Codes, chosen: RowNumbers, stored: RowNumbers, starts: Int64, fold: int, n_segments: int
) -> Arranged:
    """Arrange all rows but those of a fold, without copying codes: one segment, or one per class.

    The last classes may have no rows here.
    """
    absent = max(0, n_segments - len(starts))
    starts = np.vstack([starts, np.full((absent, starts.shape[1]), starts[-1, -1])])
    rows, segments, pieces = rows_without(stored, starts, fold, n_segments)
    places = np.searchsorted(chosen, rows).astype(np.uint32)
    return Arranged(codes, places, segments, pieces)


MOST_FOLDS = 254  # whose numbers are bytes, with one for rows of none


@dataclass(frozen=True, eq=False)
class Folds:
    """The (train, test) rows of models that leave out one fold each, stored in a byte per row.

    Attributes
    ----------
    n_folds : int
        F.
    numbers : uint8 array of shape (n,), or None
        The fold that leaves each row out; F: no model uses it. None where models do not leave out
        one fold each and train on all others.
    splits : list of (train, test), or None
        Where they do not.
    """

    n_folds: int
    numbers: NDArray[np.uint8] | None
    splits: list[tuple[Int64, Int64]] | None = None

    @classmethod
    def of(cls, splits: Sequence[tuple[Int64, Int64]], n_rows: int) -> Folds:
        """Make folds of (train, test) pairs.

        A byte per row if each train is the complement of its test.

        Examples
        --------
        >>> rows = np.arange(6)
        >>> folds = Folds.of([(rows[2:], rows[:2]), (rows[:2], rows[2:])], n_rows=6)
        >>> folds.numbers.tolist(), folds.train(0).tolist()
        ([0, 0, 1, 1, 1, 1], [2, 3, 4, 5])
        """
        numbers = fold_numbers(splits, n_rows)
        return cls(len(splits), numbers, list(splits) if numbers is None else None)

    @classmethod
    def leaving_out(cls, tests: Sequence[NDArray[Any]], n_rows: int) -> Folds:
        """Make folds of test rows: each trains on the test rows of all others."""
        numbers = np.full(n_rows, len(tests), dtype=np.uint8)
        for k, test in enumerate(tests):
            numbers[test] = k
        return cls(len(tests), numbers)

    def __len__(self) -> int:
        return self.n_folds

    def __iter__(self) -> Iterator[tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]]:
        return ((self.train(k), self.test(k)) for k in range(self.n_folds))

    def train(self, fold: int) -> NDArray[np.integer[Any]]:
        """Return the training rows of the model that leaves a fold out."""
        if self.splits is not None:
            return self.splits[fold][0]
        assert self.numbers is not None
        others = (self.numbers != fold) & (self.numbers < self.n_folds)
        return np.flatnonzero(others).astype(np.uint32)

    def test(self, fold: int) -> NDArray[np.integer[Any]]:
        """Return the rows of a fold."""
        if self.splits is not None:
            return self.splits[fold][1]
        return np.flatnonzero(self.numbers == fold).astype(np.uint32)

    def used(self, n_rows: int) -> RowNumbers:
        """Return the rows, of so many, that any model trains on or leaves out, increasing."""
        used = np.zeros(n_rows, dtype=bool)
        for rows in (*map(self.train, range(self.n_folds)), *map(self.test, range(self.n_folds))):
            used[rows] = True
        return np.flatnonzero(used).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class FoldLayout:
    """Where each row of a table is stored: by shard, class and fold.

    Attributes
    ----------
    folds : Folds
        With numbers.
    labels : class numbers of shape (n,), or None
        What rows are grouped by.
    rows : ndarray of shape (n,)
        rows[p] is the number of the row stored at position p.
    starts : list of int64 arrays of shape (K, F + 2)
        Where each fold of a class begins in a shard; see `layout`.
    scratches : list of Scratch
        One for each shard: models work in turn, a round of each at a time.
    pool : SharedPool
        Their threads.
    """

    folds: Folds
    labels: NDArray[np.integer[Any]] | None
    rows: RowNumbers
    starts: list[Int64]
    scratches: list[Scratch]
    pool: SharedPool

    def positions(self) -> RowNumbers:
        """Return where each row is stored, (n,)."""
        positions = np.empty(len(self.rows), dtype=np.uint32)
        for part in blocks_of(len(self.rows)):
            positions[self.rows[part]] = np.arange(part.start, part.stop, dtype=np.uint32)
        return positions

    def training_on(
        self, rows: NDArray[Any] | None, labels: NDArray[np.integer[Any]] | None = None
    ) -> int | None:
        """Return the fold whose training rows and labels these are; None if there is none."""
        if rows is None or (labels is None) != (self.labels is None):
            return None
        if labels is not None and self.labels is not None:
            alike = np.array_equal(self.labels[rows], labels)
            return self._find(rows, self.folds.train) if alike else None
        return self._find(rows, self.folds.train)

    def leaving_out(self, rows: NDArray[Any]) -> int | None:
        """Return the fold whose test rows these are; None if there is none."""
        return self._find(rows, self.folds.test)

    def _find(self, rows: NDArray[Any], rows_of: Callable[[int], NDArray[Any]]) -> int | None:
        numbers = range(self.folds.n_folds)
        return next((k for k in numbers if np.array_equal(rows_of(k), rows)), None)

    def cut(self, codes: Codes, fold: int, load: Callable[[RowNumbers], Any]) -> Shards:
        """Return the shards of the model that leaves a fold out.

        `load` makes what a shard holds of its rows, by their numbers among those of the model.
        """
        ranks, train = np.zeros(len(self.rows), dtype=np.uint32), self.folds.train(fold)
        # Row numbers as the model counts them: samples are drawn by these, as if the fold were not
        # in the table.
        ranks[train] = np.arange(len(train), dtype=np.uint32)
        del train
        shards = []
        for starts, scratch in zip(self.starts, self.scratches, strict=True):
            rows, segments, pieces = rows_without(self.rows, starts, fold, len(starts))
            part, own = codes[int(starts[0, 0]) : int(starts[-1, -1])], ranks[rows]
            shards.append(Shard(part, own, segments, load(own), pieces, scratch))
        return Shards(shards, self.pool)

    def pieces(self, codes: Codes, fold: int) -> list[tuple[Codes, RowNumbers]]:
        """Return the contiguous pieces of a fold's codes, each with its places in the fold."""
        test, found = self.folds.test(fold), []
        for starts in self.starts:
            for begin, end in starts[:, fold : fold + 2].tolist():
                places = np.searchsorted(test, self.rows[begin:end]).astype(np.uint32)
                found.append((codes[begin:end], places))
        return found


def plan_folds(
    folds: Folds,
    n_shards: int,
    labels: NDArray[np.integer[Any]] | None = None,
    n_classes: int = 1,
) -> FoldLayout | None:
    """Lay out rows for models that leave out one fold each.

    None if the folds are of another kind.
    """
    if folds.numbers is None:
        return None
    rows, starts = deal_folds(folds.numbers, folds.n_folds, labels, n_classes, n_shards)
    scratches = [Scratch() for _ in starts]
    return FoldLayout(folds, labels, rows, _absolute(starts), scratches, SharedPool(len(starts)))


def fold_numbers(splits: Sequence[tuple[Int64, Int64]], n_rows: int) -> NDArray[np.uint8] | None:
    """Return the fold in which each row is left out, (n,); the number of folds for rows in none.

    None where models do not leave out one fold each.
    """
    if len(splits) > MOST_FOLDS:
        return None
    fold_of = np.full(n_rows, len(splits), dtype=np.uint8)
    for k, (train, test) in enumerate(splits):
        # A row may be left out once only.
        disjoint = np.all(fold_of[test] == len(splits))
        if not (disjoint and _increasing(train) and _increasing(test)):
            return None
        fold_of[test] = k
    # Each model must train on all rows of the other folds: else the codes cannot be shared by
    # leaving out one range.
    used = fold_of < len(splits)
    for k, (train, _) in enumerate(splits):
        if not np.array_equal(np.flatnonzero(used & (fold_of != k)), train):
            return None
    return fold_of


def _increasing(rows: Int64) -> bool:
    return bool(np.all(rows[1:] > rows[:-1]))


def _absolute(starts: list[Int64]) -> list[Int64]:
    """Turn starts within shards into starts within all rows."""
    ends = np.cumsum([part[-1, -1] for part in starts])
    return [part + end - part[-1, -1] for part, end in zip(starts, ends, strict=True)]
