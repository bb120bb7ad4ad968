"""Messages to the parts of a table; see `parts`.

Parts answer the same kind of messages that shards do, so that whoever carries messages need know
nothing else.

    BindLabels, BindCosts, Encode          what all rows together decide: classes, prices, bins
    OpenShard, AskShard, CloseShard        a model's rows, and its loop's messages to them
    Follow, Advance, Unfollow              rows that a model is judged by, and their margins
    Apply, FetchCodes, ...                 queries of rows before and after the rounds
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.costs import Costs
from costboost.inputs.arrays import encode
from costboost.shards.layout import Loader, RowData
from costboost.shards.local import Command, Message
from costboost.shards.parts import Chosen, Folds, RawRows, TablePart
from costboost.shards.rows import Shard
from costboost.shards.scratch import Scratch
from costboost.typing import Codes, Floats


class PartMessage(Message):
    """A message whose answers are lists, joined in the order of the parts."""

    by_part = True

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Concatenate the lists."""
        return [one for answer in answers for one in answer]


@dataclass(frozen=True)
class PartFacts:
    """Size, labels and digest of one part.

    `labels` are the different ones it has; none, where targets are numbers of a regression.
    """

    n_rows: int
    weighted: bool
    labels: NDArray[Any]
    digest: str


@dataclass(frozen=True)
class FetchFacts(PartMessage):
    """Fetch number of rows and distinct labels of every part; of `targets` no labels."""

    targets: bool = False

    def answer(self, part: TablePart) -> list[PartFacts]:
        """Return the facts."""
        raw = RawRows(None, part.raw.y, part.raw.weights)  # read once
        labels = np.zeros(0) if self.targets else _distinct(np.asarray(raw.y))
        return [PartFacts(len(raw.y), raw.weights is not None, labels, _digest(raw))]


@dataclass(frozen=True)
class FetchLabelsAndWeights(PartMessage):
    """Fetch (labels, weights) of all rows: one pair for each part."""

    def answer(self, part: TablePart) -> list[tuple[NDArray[Any], Floats | None]]:
        """Return them."""
        return [(np.asarray(part.raw.y), part.raw.weights)]


@dataclass(frozen=True)
class BindLabels(Command):
    """Set the classes, so that labels become class numbers; None: targets are numbers."""

    classes: NDArray[Any] | None

    def answer(self, part: TablePart) -> None:
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
class FetchRowData(PartMessage):
    """Fetch the `RowData` of all rows, as far as it is settled: one for each part."""

    def answer(self, part: TablePart) -> list[RowData]:
        """Return it."""
        return [part.settled(None)]


@dataclass(frozen=True)
class BindCosts(PartMessage):
    """Read the costs of rows from columns of their table; returns them, one for each part."""

    costs: Costs
    classes: NDArray[Any]

    changes = True

    def answer(self, part: TablePart) -> list[Costs]:
        """Return [costs of this part's rows]."""
        raw, data = part.raw, part.settled(None)
        frame = raw.X if raw.frame is None else raw.frame
        bound = self.costs.bind(self.classes).bind_table(frame)
        part.data = RowData(data.y, data.weights, bound)
        return [bound]


@dataclass(frozen=True)
class Encode(Command):
    """Bin the table of every part.

    Where models leave out one fold each, `folds` are the numbers of those of the rows (that of
    folds, for a row of none), and how many there are.
    """

    binner: Binner
    folds: Folds | None = None

    def answer(self, part: TablePart) -> None:
        """Bin the table and free it."""
        part.encode(self.binner, self.folds)


@dataclass(frozen=True)
class FetchCodes(PartMessage):
    """Fetch the codes of some rows, one array for each part."""

    chosen: Chosen

    def answer(self, part: TablePart) -> list[Codes]:
        """Return them."""
        return [np.asarray(part.codes_of(self.chosen))]


@dataclass(frozen=True)
class Apply(PartMessage):
    """Apply a function to the codes of some rows; returns one array for each part."""

    chosen: Chosen
    function: Callable[[Codes], NDArray[Any]]

    def answer(self, part: TablePart) -> list[NDArray[Any]]:
        """Return [function(codes)]."""
        return [self.function(np.ascontiguousarray(part.codes_of(self.chosen)))]


# Models in training.


@dataclass(frozen=True)
class OpenShard(Command):
    """Make a model's shard of some rows, under a key.

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
        """Key of the model's training."""
        return ("shard", self.key)

    def answer(self, part: TablePart) -> None:
        """Make a shard of the rows."""
        found = part.as_stored(self.loader) if self.chosen is None else None
        if found is not None:
            loader, (codes, rows, starts, pieces) = found
            state = loader.load(slice(None))
        else:
            loader = self.loader.on(part.settled(self.chosen))
            codes, rows, starts, pieces = part.arranged(self.chosen, loader)
            state = loader.load(rows)
        first = self.ranks if isinstance(self.ranks, int) else 0
        rows = rows if isinstance(self.ranks, int) else self.ranks[rows]
        scratch = Scratch(part.thread_scratch) if pieces is None else part.scratch
        part.shards[self.key] = Shard(codes, rows, starts, state, pieces, scratch, first)


@dataclass(frozen=True)
class ForwardToShard(Message):
    """Forward messages to the shard of a model; returns one answer for each."""

    key: int
    messages: tuple[Message, ...]

    @property
    def changes(self) -> bool:  # type: ignore[override]
        """Whether one of them changes the rows' state."""
        return any(message.changes for message in self.messages)

    @property
    def topic(self) -> Hashable:
        """Key of the model's training."""
        return ("shard", self.key)

    def lasting(self) -> ForwardToShard:
        """Return the messages that change the rows' state."""
        changing = (message.lasting() for message in self.messages if message.changes)
        return ForwardToShard(self.key, tuple(changing))

    def answer(self, part: TablePart) -> list[Any]:
        """Return the answers."""
        shard = part.shards[self.key]
        return [message.answer(shard) for message in self.messages]

    def reduce(self, answers: Sequence[list[Any]]) -> list[Any]:
        """Reduce the answers of all parts, message by message."""
        return [
            message.reduce([part[i] for part in answers]) for i, message in enumerate(self.messages)
        ]


@dataclass(frozen=True)
class CloseShard(Command):
    """Drop a model's shard when its training ends."""

    key: int

    ends = True

    @property
    def topic(self) -> Hashable:
        """Key of the model's training."""
        return ("shard", self.key)

    def answer(self, part: TablePart) -> None:
        """Drop the shard."""
        part.shards.pop(self.key, None)


# Rows that models are judged by.


@dataclass(frozen=True)
class Follow(Command):
    """Track the margins of some rows through the rounds, from these first ones, (J,)."""

    key: int
    chosen: Chosen
    start: Floats

    @property
    def topic(self) -> Hashable:
        """Key of the tracked rows."""
        return ("followed", self.key)

    def answer(self, part: TablePart) -> None:
        """Set the first margins."""
        n_rows = part.n_rows if self.chosen is None else len(self.chosen)
        part.followed[self.key] = (self.chosen, np.tile(self.start, (n_rows, 1)))


@dataclass(frozen=True)
class Advance(PartMessage):
    """Add the trees of a forest to tracked margins.

    Returns the margins, one array for each part.
    """

    key: int
    forest: Any

    changes = True

    @property
    def topic(self) -> Hashable:
        """Key of the tracked rows."""
        return ("followed", self.key)

    def answer(self, part: TablePart) -> list[Floats]:
        """Return the margins."""
        chosen, margins = part.followed[self.key]
        codes = np.ascontiguousarray(part.codes_of(chosen))
        self.forest.add_trees(codes, margins, 0, len(self.forest))
        return [margins]


@dataclass(frozen=True)
class Unfollow(Command):
    """Stop tracking margins."""

    key: int

    ends = True

    @property
    def topic(self) -> Hashable:
        """Key of the tracked rows."""
        return ("followed", self.key)

    def answer(self, part: TablePart) -> None:
        """Drop the margins."""
        part.followed.pop(self.key, None)


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
