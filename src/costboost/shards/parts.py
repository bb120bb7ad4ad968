"""A table in parts, each of which is in one place: a file's rows, or those of a cluster's worker.

    source -> raw table -> (bins) -> codes -> shards of the models that train on it

A part reads its source at first use, and frees the raw table once it has codes; a part that is lost
is made again from its source, and the messages that had changed it are replayed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.table_reading import read_table
from costboost.binning.target_codes import OwnCodes, codes_of_rows
from costboost.costs import Costs
from costboost.inputs.arrays import encode
from costboost.runtime.machine import Scratch, ThreadScratch
from costboost.runtime.messages import Call, join, message
from costboost.shards.layout import (
    Arranged,
    Loader,
    RowData,
    deal_folds,
    left_out,
    plan_layout,
    without_fold,
)
from costboost.shards.rows import Shard
from costboost.typing import Codes, Floats, Int64

Folds = tuple[NDArray[np.uint8], int]
Chosen = NDArray[np.uint32] | None  # rows of a part by their place in it; None: all


@dataclass
class RawRows:
    """The rows of a part as its source reads them, before binning.

    Attributes
    ----------
    X : table of shape (m, d)
        The features.
    y : array of shape (m,)
        Labels as the user wrote them, or targets.
    weights : float64 array of shape (m,) or None
    frame : table with at least the columns that prices are read from; None: `X`
    """

    X: Any
    y: NDArray[Any]
    weights: Floats | None = None
    frame: Any = None


@runtime_checkable
class RowSource(Protocol):
    """Reads the rows of a part: picklable, and the same rows at every reading."""

    def read(self) -> Any:
        """Return a `RawRows`, or an object with its attributes that reads them lazily."""


class TablePart:
    """Some consecutive rows of a table: their codes, labels, and the shards made of them.

    Attributes
    ----------
    source : RowSource
    data : RowData
        Labels, weights and prices, as far as they are settled: in the order of the rows, or, once
        there are codes, in that of the codes.
    codes : uint8 array of shape (m, d)
    stored : uint32 array of shape (m,) or None
        The row whose codes are at each place; None: the one of that number.
    fold_starts : int64 array of shape (K, F + 2) or None
        Where folds begin among them, if rows are stored by folds; see `layout`.
    thread_scratch : ThreadScratch
        Shared by all parts of this process, or its own.
    scratch : Scratch
        Shared by the models that leave out one fold each, whose rounds take turns.
    shards : dict
        Of the models that train, by key.
    followed : dict
        Places and margins of rows that are followed, by key.
    """

    def __init__(self, source: RowSource, thread_scratch: ThreadScratch | None = None) -> None:
        self.source = source
        self._raw: RawRows | None = None
        self._n_rows: int | None = None
        self._codes: Codes | None = None
        self.stored: NDArray[np.uint32] | None = None
        self.fold_starts: Int64 | None = None
        self.thread_scratch = ThreadScratch() if thread_scratch is None else thread_scratch
        self.scratch = Scratch(self.thread_scratch)
        self.data: RowData | None = None
        self.shards: dict[int, Shard] = {}
        self.followed: dict[int, tuple[Chosen, Floats]] = {}

    @property
    def raw(self) -> RawRows:
        """The rows as they were read."""
        if self._raw is None:
            self._raw = self.source.read()
        return self._raw

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        if self._n_rows is None:
            self._n_rows = len(self.raw.y)
        return self._n_rows

    @property
    def codes(self) -> Codes:
        """The codes, (m, d), in stored order. Raises RuntimeError before `encode`."""
        if self._codes is None:
            raise RuntimeError("This part has no codes yet: send Encode first.")
        return self._codes

    def encode(
        self, binner: Binner, folds: Folds | None = None, own: OwnCodes | None = None
    ) -> None:
        """Bin the raw table to codes and free it; a source may store the codes itself (in a file).

        Rows are stored class by class, as most models want them, or fold by fold, if there will be
        models that leave out one each: then none of those needs a copy.
        """
        if self._codes is None and not self.n_rows:
            self._codes = np.zeros((0, binner.n_features), dtype=np.uint8)
        elif self._codes is None:
            # From here on `data` and `codes` are in stored order, and `stored` maps places to row
            # numbers.
            self.stored = self._by_class() if folds is None else self._by_fold(folds)
            if self.data is not None and self.stored is not None:
                self.data = self.data.take(self.stored)
            self._codes = self._kept(binner, own)
        self._raw = None

    def _kept(self, binner: Binner, own: OwnCodes | None) -> Codes:
        """Return the codes; a source with `keep` stores them, and their row numbers, itself."""
        write, keep = partial(_encode, self, binner, own), getattr(self.source, "keep", None)
        if keep is None:
            return write(None)
        # The key is all that codes depend on, so that a source may reuse those of an earlier fit.
        shape, stored = (self.n_rows, binner.n_features), self.stored
        key = (
            (binner.__getstate__(), stored) if own is None else (binner.__getstate__(), stored, own)
        )
        codes: Codes = keep("codes", key, shape, np.uint8, write)
        if stored is not None:
            self.stored = keep("rows", stored, shape[:1], np.uint32, partial(np.copyto, src=stored))
        return codes

    def _by_class(self) -> NDArray[np.uint32] | None:
        """Return the rows sorted by class; None if they are already, or if there are no classes."""
        y = self._class_numbers
        if y is None or np.all(y[1:] >= y[:-1]):
            return None
        return plan_layout(y, len(y), int(y.max()) + 1, 1).rows

    @property
    def _class_numbers(self) -> NDArray[Any] | None:
        y = None if self.data is None else self.data.y
        return None if y is None or y.dtype.kind not in "iu" else y

    def _by_fold(self, folds: Folds) -> NDArray[np.uint32]:
        """Return the rows sorted by class, if any, and fold; sets `fold_starts`."""
        y = self._class_numbers
        n_classes = 1 if y is None else int(y.max()) + 1
        rows, (self.fold_starts,) = deal_folds(*folds, y, n_classes, 1)
        return rows

    def places_of(self, chosen: NDArray[Any] | None) -> NDArray[Any] | slice:
        """Return the stored places of some rows."""
        if self.stored is None:
            return slice(None) if chosen is None else chosen
        # The inverse of `stored`: where the codes of each row are.
        places = np.empty(len(self.stored), dtype=np.uint32)
        places[self.stored] = np.arange(len(places), dtype=np.uint32)
        return places if chosen is None else places[chosen]

    def codes_of(self, chosen: Chosen) -> Codes:
        """Return the codes of some rows, in their order."""
        return self.codes[self.places_of(chosen)]

    def as_stored(self, blank: Loader) -> tuple[Loader, Arranged] | None:
        """Arrange all rows as they are stored, without a copy.

        None if the model groups them otherwise.

        Neither codes nor row data need a copy then.
        """
        loader, n_rows = blank.on(self._settled), self.n_rows
        labels = np.zeros(n_rows, dtype=np.uint8) if loader.labels is None else loader.labels
        # A model may group rows by other labels than their classes: by the answers that they aim
        # at.
        if np.any(labels[1:] < labels[:-1]):
            return None
        rows = np.arange(n_rows, dtype=np.uint32) if self.stored is None else self.stored
        # Labels are sorted already, so segments are ranges; classes without rows get empty ones.
        begins = np.searchsorted(labels, np.arange(loader.n_segments, dtype=labels.dtype))
        return loader, Arranged(self.codes, rows, np.append(begins, n_rows))

    def arranged(self, chosen: Chosen, loader: Loader) -> Arranged:
        """Arrange a model's rows: their codes in the order in which it groups them.

        All rows but those of a fold need no copy of the codes.
        """
        n_rows, labels = self.n_rows if chosen is None else len(chosen), loader.labels
        # All rows but those of one fold lie in few ranges of the codes; any other choice is copied.
        if chosen is not None and self.stored is not None and self.fold_starts is not None:
            stored = (chosen, self.stored, self.fold_starts)
            fold = left_out(*stored)
            if fold is not None and self._as_grouped(chosen, labels):
                return without_fold(self.codes, *stored, fold, loader.n_segments)
        layout = plan_layout(labels, n_rows, loader.n_segments, 1)
        places = self.places_of(layout.rows if chosen is None else chosen[layout.rows])
        return Arranged(np.ascontiguousarray(self.codes[places]), layout.rows, layout.starts[0])

    def _as_grouped(self, chosen: NDArray[Any], labels: NDArray[Any] | None) -> bool:
        """Whether stored rows are grouped by these labels (None: no grouping is wanted)."""
        return labels is None or np.array_equal(self._settled.y[self.places_of(chosen)], labels)

    @property
    def _settled(self) -> RowData:
        if self.data is None:
            raise RuntimeError("These rows have no labels yet: send BindLabels first.")
        return self.data

    def settled(self, chosen: Chosen) -> RowData:
        """Return the settled data of some rows, in their order."""
        if self.stored is None:
            return self._settled if chosen is None else self._settled.take(chosen)
        return self._settled.take(self.places_of(chosen))


def _encode(part: TablePart, binner: Binner, own: OwnCodes | None, out: Codes | None) -> Codes:
    places = None if part.stored is None else np.asarray(part.places_of(None), dtype=np.int64)
    if own is None:
        return binner.encode(part.raw.X, positions=places, out=out)
    table = read_table(part.raw.X)
    rest = np.setdiff1d(np.arange(binner.n_features), list(own.codes))
    codes = binner.encode(table, positions=places, out=out, columns=rest)
    for j, by_level in own.codes.items():
        column = codes_of_rows(table, j, binner.categories[j] or (), by_level, own.buckets)
        codes[slice(None) if places is None else places, j] = column
    return codes


# Messages to parts. They are of the same kind as those that shards answer, so that a transport need
# know nothing else.
#
#     bind_part_labels, bind_part_costs, encode_part   what all rows decide: classes, prices, bins
#     open_shard, forward_to_shard, close_shard        a model's rows, and its loop's calls to them
#     follow_rows, advance_margins, unfollow_rows      held-out rows and their margins
#     apply_to_codes, fetch_codes, ...                 queries of rows before and after the rounds


@dataclass(frozen=True)
class PartFacts:
    """Size, labels and digest of one part.

    `labels` are the different ones it has; none, where targets are numbers of a regression.
    """

    n_rows: int
    weighted: bool
    labels: NDArray[Any]
    digest: str


@message(reduce=join, by_part=True)
def fetch_facts(part: TablePart, *, targets: bool = False) -> list[PartFacts]:
    """Fetch number of rows and distinct labels of every part; of `targets` no labels."""
    raw = RawRows(None, part.raw.y, part.raw.weights)  # read once
    labels = np.zeros(0) if targets else _distinct(np.asarray(raw.y))
    return [PartFacts(len(raw.y), raw.weights is not None, labels, _digest(raw))]


@message(reduce=join, by_part=True)
def fetch_labels_and_weights(part: TablePart) -> list[tuple[NDArray[Any], Floats | None]]:
    """Fetch (labels, weights) of all rows: one pair for each part."""
    return [(np.asarray(part.raw.y), part.raw.weights)]


@message(reduce=None, changes=True)
def bind_part_labels(part: TablePart, *, classes: NDArray[Any] | None) -> None:
    """Set the classes, so that labels become class numbers; None: targets are numbers."""
    raw, y = part.raw, np.asarray(part.raw.y)
    numbers: NDArray[Any]
    if classes is None:
        numbers = np.asarray(y, dtype=np.float64)
    else:
        # A byte a row where class numbers fit: they are held as long as the table.
        kind = np.uint8 if len(classes) <= 256 else np.uint32
        numbers = encode(classes, y, "y").astype(kind) if len(y) else np.zeros(0, kind)
    weights = None if raw.weights is None else np.asarray(raw.weights, dtype=np.float64)
    part.data = RowData(numbers, weights)


@message(reduce=join, by_part=True)
def fetch_row_data(part: TablePart) -> list[RowData]:
    """Fetch the `RowData` of all rows, as far as it is settled: one for each part."""
    return [part.settled(None)]


@message(reduce=join, by_part=True, changes=True)
def bind_part_costs(part: TablePart, *, costs: Costs, classes: NDArray[Any]) -> list[Costs]:
    """Read the costs of rows from columns of their table; return them, one for each part."""
    raw, data = part.raw, part.settled(None)
    frame = raw.X if raw.frame is None else raw.frame
    bound = costs.bind(classes).bind_table(frame)
    part.data = RowData(data.y, data.weights, bound)
    return [bound]


@message(reduce=None, changes=True)
def encode_part(
    part: TablePart, *, binner: Binner, folds: Folds | None = None, own: OwnCodes | None = None
) -> None:
    """Bin the table of every part; columns that are coded by their target by its `own` codes.

    Where models leave out one fold each, `folds` are the numbers of those of the rows (that of
    folds, for a row of none), and how many there are.
    """
    part.encode(binner, folds, own)


@message(reduce=join, by_part=True)
def fetch_codes(part: TablePart, *, chosen: Chosen) -> list[Codes]:
    """Fetch the codes of some rows, one array for each part."""
    return [np.asarray(part.codes_of(chosen))]


@message(reduce=join, by_part=True)
def apply_to_codes(
    part: TablePart, *, chosen: Chosen, function: Callable[[Codes], NDArray[Any]]
) -> list[NDArray[Any]]:
    """Apply a function to the codes of some rows; return one array for each part."""
    return [function(np.ascontiguousarray(part.codes_of(chosen)))]


# Models in training.


@message(reduce=None, changes=True, topic="shard")
def open_shard(
    part: TablePart, *, key: int, chosen: Chosen, ranks: NDArray[np.uint32] | int, loader: Loader
) -> None:
    """Make a model's shard of some rows, under a key.

    Parameters
    ----------
    key : int
        Of the model.
    chosen : uint32 array or None
        Places of the rows in the part; None: all.
    ranks : uint32 array, or int
        The number of each of them among all rows of the model; or that of the first.
    loader : Loader
        Without rows.
    """
    # Rows stored as the model groups them need no copy of codes or data; else they are arranged.
    found = part.as_stored(loader) if chosen is None else None
    if found is not None:
        loader, (codes, rows, starts, pieces) = found
        state = loader.load(slice(None))
    else:
        loader = loader.on(part.settled(chosen))
        codes, rows, starts, pieces = part.arranged(chosen, loader)
        state = loader.load(rows)
    # `rows` become numbers among all rows of the model, by which samples are drawn: the same on
    # any number of parts.
    first = ranks if isinstance(ranks, int) else 0
    rows = rows if isinstance(ranks, int) else ranks[rows]
    # Models that share codes are those of folds, whose rounds take turns: they share scratch too.
    scratch = Scratch(part.thread_scratch) if pieces is None else part.scratch
    part.shards[key] = Shard(codes, rows, starts, state, pieces, scratch, first)


def _reduce_each(
    answers: Sequence[list[Any]], *, key: int, calls: tuple[Call[Any], ...]
) -> list[Any]:
    return [call.reduce([part[i] for part in answers]) for i, call in enumerate(calls)]


def _any_changes(*, key: int, calls: tuple[Call[Any], ...]) -> bool:
    return any(call.changes for call in calls)


# A part that is built again needs the changes of the rows, and none of the answers.
def _those_that_change(*, key: int, calls: tuple[Call[Any], ...]) -> dict[str, Any]:
    return {"key": key, "calls": tuple(call.lasting() for call in calls if call.changes)}


@message(reduce_with=_reduce_each, changes=_any_changes, lasting=_those_that_change, topic="shard")
def forward_to_shard(part: TablePart, *, key: int, calls: tuple[Call[Any], ...]) -> list[Any]:
    """Make calls to the shard of a model; return one answer for each."""
    shard = part.shards[key]
    return [call.answer(shard) for call in calls]


@message(reduce=None, ends=True, topic="shard")
def close_shard(part: TablePart, *, key: int) -> None:
    """Drop a model's shard when its training ends."""
    part.shards.pop(key, None)


# Rows that models are judged by.


@message(reduce=None, changes=True, topic="followed")
def follow_rows(part: TablePart, *, key: int, chosen: Chosen, start: Floats) -> None:
    """Track the margins of some rows through the rounds, from these first ones, (J,)."""
    n_rows = part.n_rows if chosen is None else len(chosen)
    part.followed[key] = (chosen, np.tile(start, (n_rows, 1)))


@message(reduce=join, by_part=True, changes=True, topic="followed")
def advance_margins(part: TablePart, *, key: int, forest: Any) -> list[Floats]:
    """Add the trees of a forest to tracked margins.

    Return the margins, one array for each part.
    """
    chosen, margins = part.followed[key]
    codes = np.ascontiguousarray(part.codes_of(chosen))
    forest.add_trees(codes, margins, 0, len(forest))
    return [margins]


@message(reduce=None, ends=True, topic="followed")
def unfollow_rows(part: TablePart, *, key: int) -> None:
    """Stop tracking margins."""
    part.followed.pop(key, None)


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels; objects need not be sortable, or valid labels at all."""
    if labels.dtype != object:
        return np.unique(labels)
    found = list(dict.fromkeys(labels.tolist()))
    distinct = np.empty(len(found), dtype=object)
    distinct[:] = found
    return distinct


def _digest(raw: RawRows) -> str:
    """Return a digest of labels and weights, by which a source that changed is noticed."""
    found = hashlib.blake2b(digest_size=16)
    labels = np.asarray(raw.y)
    found.update(str(labels.tolist()).encode() if labels.dtype == object else labels.tobytes())
    if raw.weights is not None:
        found.update(np.asarray(raw.weights, dtype=np.float64).tobytes())
    return found.hexdigest()
