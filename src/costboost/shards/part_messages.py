"""What may be asked of the parts of a table; see `parts`.

Parts answer the same kind of messages that shards do, so that whoever carries messages need know
nothing else.

    BindLabels, BindCosts, Encode          what all rows together decide: classes, prices, bins
    OpenShard, AskShard, CloseShard        a model's rows, and its loop's messages to them
    Follow, Advance, Unfollow              rows that a model is judged by, and their margins
    Apply, FetchCodes, ...                 what is asked of rows before and after the rounds
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
from costboost.shards.bench import Bench
from costboost.shards.loading import Loader, RowData
from costboost.shards.messages import Command, Message
from costboost.shards.parts import Chosen, Folds, Part, Raw
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]


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
            loader, (codes, rows, starts, pieces) = found
            state = loader.load(slice(None))
        else:
            loader = self.loader.on(part.settled(self.chosen))
            codes, rows, starts, pieces = part.arranged(self.chosen, loader)
            state = loader.load(rows)
        first = self.ranks if isinstance(self.ranks, int) else 0
        rows = rows if isinstance(self.ranks, int) else self.ranks[rows]
        bench = Bench(part.desk) if pieces is None else part.bench
        part.shards[self.key] = Shard(codes, rows, starts, state, pieces, bench, first)


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
