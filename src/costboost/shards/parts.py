"""A table in parts, each of which is in one place: a file's rows, or those of a cluster's worker.

    source -> raw table -> (bins) -> codes -> shards of the models that train on it

A part answers the same kind of messages that shards do, so that whoever carries messages need know
nothing else. It reads its source when first asked, and lets the raw table go once it has codes; a
part that is lost is made again from its source and told what had changed it.

    BindLabels, BindCosts, Encode          what all rows together decide: classes, prices, bins
    OpenShard, AskShard, CloseShard        a model's rows, and its loop's messages to them
    Follow, Advance, Unfollow              rows that a model is judged by, and their margins
    Apply, FetchCodes, ...                 what is asked of rows before and after the rounds
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.costs import Costs
from costboost.inputs.arrays import encode
from costboost.shards.arranging import Arranged, left_out, without_fold
from costboost.shards.bench import Bench, Desk
from costboost.shards.layout import deal_rows, plan_layout
from costboost.shards.loading import Loader, RowData
from costboost.shards.messages import Command, Message
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Int64 = NDArray[np.int64]
Folds = tuple[NDArray[np.uint8], int]
Chosen = NDArray[np.uint32] | None  # rows of a part by their place in it; None: all


@dataclass
class Raw:
    """A part as its source reads it.

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
class Source(Protocol):
    """Where the rows of a part come from: picklable, and the same rows at every reading."""

    def read(self) -> Any:
        """Return the rows: a `Raw`, or what has its attributes and reads them when asked."""


class Part:
    """Some consecutive rows of a table.

    Attributes
    ----------
    source : Source
    data : RowData
        What was said of the rows, as far as it is settled: in their order, or, once there are
        codes, in that of the codes.
    codes : uint8 array of shape (m, d)
    stored : uint32 array of shape (m,) or None
        The row whose codes are at each place; None: the one of that number.
    fold_starts : int64 array or None
        Where folds begin among them, and at last rows of none, if rows are stored by folds.
    desk : Desk
        Of all parts of this process, or its own.
    bench : Bench
        Of the models that leave out one fold each, whose rounds take turns.
    shards : dict
        Of the models that train, by key.
    followed : dict
        Places and margins of rows that are followed, by key.
    """

    def __init__(self, source: Source, desk: Desk | None = None) -> None:
        self.source = source
        self._raw: Raw | None = None
        self._n_rows: int | None = None
        self._codes: Codes | None = None
        self.stored: NDArray[np.uint32] | None = None
        self.fold_starts: Int64 | None = None
        self.desk = Desk() if desk is None else desk
        self.bench = Bench(self.desk)
        self.data: RowData | None = None
        self.shards: dict[int, Shard] = {}
        self.followed: dict[int, tuple[Chosen, Floats]] = {}

    @property
    def raw(self) -> Raw:
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
        """The codes, once there are bins."""
        if self._codes is None:
            raise RuntimeError("This part has no codes yet: send Encode first.")
        return self._codes

    def encode(self, binner: Binner, folds: Folds | None = None) -> None:
        """Give every cell its code, and let the table go; a source may say where codes are kept.

        Rows are stored class by class, as most models want them, or fold by fold, if there will be
        models that leave out one each: then none of those needs a copy.
        """
        if self._codes is None and not self.n_rows:
            self._codes = np.zeros((0, binner.n_features), dtype=np.uint8)
        elif self._codes is None:
            self.stored = self._by_class() if folds is None else self._by_fold(folds)
            write = partial(_encode, self, binner)
            keep = getattr(self.source, "keep_codes", None)
            about = (binner.__getstate__(), self.stored)
            shape = (self.n_rows, binner.n_features)
            self._codes = write(None) if keep is None else keep(about, shape, write)
            if self.data is not None and self.stored is not None:
                self.data = self.data.take(self.stored)
        self._raw = None

    def _by_class(self) -> NDArray[np.uint32] | None:
        """Return the rows class by class; None where they are, or where there are no classes."""
        y = None if self.data is None else self.data.y
        if y is None or y.dtype.kind not in "iu" or np.all(y[1:] >= y[:-1]):
            return None
        return plan_layout(y, len(y), int(y.max()) + 1, 1).rows

    def _by_fold(self, folds: Folds) -> NDArray[np.uint32]:
        """Return the rows fold by fold, and note where folds begin."""
        numbers, n_folds = folds
        rows, (self.fold_starts,) = deal_rows(numbers, len(numbers), n_folds + 1, 1)
        return rows

    def places_of(self, chosen: NDArray[Any] | None) -> NDArray[Any] | slice:
        """Return where the codes of some rows are."""
        if self.stored is None:
            return slice(None) if chosen is None else chosen
        places = np.empty(len(self.stored), dtype=np.uint32)
        places[self.stored] = np.arange(len(places), dtype=np.uint32)
        return places if chosen is None else places[chosen]

    def codes_of(self, chosen: Chosen) -> Codes:
        """Return the codes of some rows, in their order."""
        return self.codes[self.places_of(chosen)]

    def as_stored(self, blank: Loader) -> tuple[Loader, Arranged] | None:
        """Return all rows as they are stored; None where a model groups them otherwise.

        Neither the codes nor what was said of the rows needs a copy then.
        """
        loader, n_rows = blank.on(self._settled), self.n_rows
        labels = np.zeros(n_rows, dtype=np.uint8) if loader.labels is None else loader.labels
        if np.any(labels[1:] < labels[:-1]):
            return None
        rows = np.arange(n_rows, dtype=np.uint32) if self.stored is None else self.stored
        begins = np.searchsorted(labels, np.arange(loader.n_segments, dtype=labels.dtype))
        return loader, Arranged(self.codes, rows, np.append(begins, n_rows))

    def arranged(self, chosen: Chosen, loader: Loader) -> Arranged:
        """Return the codes of a model's rows as it groups them.

        All rows but those of a fold need no copy of the codes.
        """
        n_rows, labels = self.n_rows if chosen is None else len(chosen), loader.labels
        by_fold = self.stored is not None and self.fold_starts is not None
        if chosen is not None and labels is None and by_fold:
            assert self.stored is not None
            assert self.fold_starts is not None
            fold = left_out(chosen, self.stored, self.fold_starts)
            if fold is not None:
                return without_fold(self.codes, chosen, self.stored, self.fold_starts, fold)
        layout = plan_layout(labels, n_rows, loader.n_segments, 1)
        places = self.places_of(layout.rows if chosen is None else chosen[layout.rows])
        return Arranged(np.ascontiguousarray(self.codes[places]), layout.rows, layout.starts[0])

    @property
    def _settled(self) -> RowData:
        if self.data is None:
            raise RuntimeError("Nothing was said of these rows yet: send BindLabels first.")
        return self.data

    def settled(self, chosen: Chosen) -> RowData:
        """Return what was said of some rows, in their order."""
        if self.stored is None:
            return self._settled if chosen is None else self._settled.take(chosen)
        return self._settled.take(self.places_of(chosen))


def _encode(part: Part, binner: Binner, out: Codes | None) -> Codes:
    places = None if part.stored is None else np.asarray(part.places_of(None), dtype=np.int64)
    return binner.encode(part.raw.X, positions=places, out=out)


# --- what parts are asked


class PartMessage(Message):
    """A question to parts: answers are lists, put together in the order of the parts."""

    by_part = True

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Join the lists."""
        return [one for answer in answers for one in answer]


@dataclass(frozen=True)
class PartFacts:
    """What a part says of itself.

    `labels` are the different ones it has; none, where targets are numbers of a regression.
    """

    n_rows: int
    weighted: bool
    labels: NDArray[Any]
    digest: str


@dataclass(frozen=True)
class TellFacts(PartMessage):
    """Ask for the number of rows and the labels; with `targets` those are not looked at."""

    targets: bool = False

    def answer(self, part: Part) -> list[PartFacts]:
        """Return the facts."""
        raw = Raw(None, part.raw.y, part.raw.weights)  # read once
        labels = np.zeros(0) if self.targets else _distinct(np.asarray(raw.y))
        return [PartFacts(len(raw.y), raw.weights is not None, labels, _digest(raw))]


@dataclass(frozen=True)
class TellRows(PartMessage):
    """Ask for the labels and the weights of all rows: one pair a part."""

    def answer(self, part: Part) -> list[tuple[NDArray[Any], Floats | None]]:
        """Return them."""
        return [(np.asarray(part.raw.y), part.raw.weights)]


@dataclass(frozen=True)
class BindLabels(Command):
    """Settle the classes; None: targets are numbers."""

    classes: NDArray[Any] | None

    def answer(self, part: Part) -> None:
        """Turn labels into class numbers."""
        raw, y = part.raw, np.asarray(part.raw.y)
        numbers: NDArray[Any]
        if self.classes is None:
            numbers = np.asarray(y, dtype=np.float64)
        else:
            kind = np.uint8 if len(self.classes) <= 256 else np.uint32
            numbers = encode(self.classes, y, "y").astype(kind) if len(y) else np.zeros(0, kind)
        weights = None if raw.weights is None else np.asarray(raw.weights, dtype=np.float64)
        part.data = RowData(numbers, weights)


@dataclass(frozen=True)
class TellSaid(PartMessage):
    """Ask for what was said of all rows, as far as it is settled: class numbers are bytes."""

    def answer(self, part: Part) -> list[RowData]:
        """Return it."""
        return [part.settled(None)]


@dataclass(frozen=True)
class BindCosts(PartMessage):
    """Read the prices of rows from the columns of their table; return them."""

    costs: Costs
    classes: NDArray[Any]

    changes = True

    def answer(self, part: Part) -> list[Costs]:
        """Return the prices of these rows."""
        raw, data = part.raw, part.settled(None)
        frame = raw.X if raw.frame is None else raw.frame
        bound = self.costs.bind(self.classes).bind_table(frame)
        part.data = RowData(data.y, data.weights, bound)
        return [bound]


@dataclass(frozen=True)
class Encode(Command):
    """Give every cell its code.

    Where models leave out one fold each, `folds` are the numbers of those of the rows (that of
    folds, for a row of none), and how many there are.
    """

    binner: Binner
    folds: Folds | None = None

    def answer(self, part: Part) -> None:
        """Encode the table and let it go."""
        part.encode(self.binner, self.folds)


@dataclass(frozen=True)
class FetchCodes(PartMessage):
    """Ask for the codes of some rows."""

    chosen: Chosen

    def answer(self, part: Part) -> list[Codes]:
        """Return them."""
        return [np.asarray(part.codes_of(self.chosen))]


@dataclass(frozen=True)
class Apply(PartMessage):
    """Apply a function to the codes of some rows; it says something of every row."""

    chosen: Chosen
    function: Callable[[Codes], NDArray[Any]]

    def answer(self, part: Part) -> list[NDArray[Any]]:
        """Return what it says."""
        return [self.function(np.ascontiguousarray(part.codes_of(self.chosen)))]


# --- models in training


@dataclass(frozen=True)
class OpenShard(Command):
    """Let a model train on some rows.

    Attributes
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

    key: int
    chosen: Chosen
    ranks: NDArray[np.uint32] | int
    loader: Loader

    @property
    def topic(self) -> Hashable:
        """The model's training."""
        return ("shard", self.key)

    def answer(self, part: Part) -> None:
        """Make a shard of the rows."""
        found = part.as_stored(self.loader) if self.chosen is None else None
        if found is not None:
            loader, (codes, rows, starts, skips) = found
            state = loader.load(slice(None))
        else:
            loader = self.loader.on(part.settled(self.chosen))
            codes, rows, starts, skips = part.arranged(self.chosen, loader)
            state = loader.load(rows)
        first = self.ranks if isinstance(self.ranks, int) else 0
        rows = rows if isinstance(self.ranks, int) else self.ranks[rows]
        bench = Bench(part.desk) if skips is None else part.bench
        part.shards[self.key] = Shard(codes, rows, starts, state, skips, bench, first)


@dataclass(frozen=True)
class AskShard(Message):
    """Pass messages on to the shard of a model; one answer each."""

    key: int
    messages: tuple[Message, ...]

    @property
    def changes(self) -> bool:  # type: ignore[override]
        """Whether one of them changes the rows' state."""
        return any(message.changes for message in self.messages)

    @property
    def topic(self) -> Hashable:
        """The model's training."""
        return ("shard", self.key)

    def lasting(self) -> AskShard:
        """Return the messages that change the rows' state."""
        changing = (message.lasting() for message in self.messages if message.changes)
        return AskShard(self.key, tuple(changing))

    def answer(self, part: Part) -> list[Any]:
        """Return the answers."""
        shard = part.shards[self.key]
        return [message.answer(shard) for message in self.messages]

    def reduce(self, answers: Sequence[list[Any]]) -> list[Any]:
        """Put the answers of all parts together, message by message."""
        return [
            message.reduce([part[i] for part in answers]) for i, message in enumerate(self.messages)
        ]


@dataclass(frozen=True)
class CloseShard(Command):
    """End a model's training: its state is let go."""

    key: int

    ends = True

    @property
    def topic(self) -> Hashable:
        """The model's training."""
        return ("shard", self.key)

    def answer(self, part: Part) -> None:
        """Forget the shard."""
        part.shards.pop(self.key, None)


# --- rows that models are judged by


@dataclass(frozen=True)
class Follow(Command):
    """Keep the margins of some rows, which start from these, (J,)."""

    key: int
    chosen: Chosen
    start: Floats

    @property
    def topic(self) -> Hashable:
        """The rows that are followed."""
        return ("followed", self.key)

    def answer(self, part: Part) -> None:
        """Make the margins."""
        n_rows = part.n_rows if self.chosen is None else len(self.chosen)
        part.followed[self.key] = (self.chosen, np.tile(self.start, (n_rows, 1)))


@dataclass(frozen=True)
class Advance(PartMessage):
    """Add all trees of a forest to the margins of rows that are followed, and tell them."""

    key: int
    forest: Any

    changes = True

    @property
    def topic(self) -> Hashable:
        """The rows that are followed."""
        return ("followed", self.key)

    def answer(self, part: Part) -> list[Floats]:
        """Return the margins."""
        chosen, margins = part.followed[self.key]
        codes = np.ascontiguousarray(part.codes_of(chosen))
        self.forest.add_trees(codes, margins, 0, len(self.forest))
        return [margins]


@dataclass(frozen=True)
class Unfollow(Command):
    """Let the margins go."""

    key: int

    ends = True

    @property
    def topic(self) -> Hashable:
        """The rows that are followed."""
        return ("followed", self.key)

    def answer(self, part: Part) -> None:
        """Forget them."""
        part.followed.pop(self.key, None)


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return each label once; objects need not have an order, or be labels at all."""
    if labels.dtype != object:
        return np.unique(labels)
    found = list(dict.fromkeys(labels.tolist()))
    distinct = np.empty(len(found), dtype=object)
    distinct[:] = found
    return distinct


def _digest(raw: Raw) -> str:
    """Return a digest of labels and weights: a source that reads differently is found out."""
    found = hashlib.blake2b(digest_size=16)
    labels = np.asarray(raw.y)
    found.update(str(labels.tolist()).encode() if labels.dtype == object else labels.tobytes())
    if raw.weights is not None:
        found.update(np.asarray(raw.weights, dtype=np.float64).tobytes())
    return found.hexdigest()
