"""Messages to the parts of a table; see `parts`.

Parts answer the same kind of messages that shards do, so that a transport need know nothing else.

    bind_part_labels, bind_part_costs, encode_part   what all rows decide: classes, prices, bins
    open_shard, forward_to_shard, close_shard        a model's rows, and its loop's calls to them
    follow_rows, advance_margins, unfollow_rows      held-out rows and their margins
    apply_to_codes, fetch_codes, ...                 queries of rows before and after the rounds
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.target_codes import OwnCodes
from costboost.costs import Costs
from costboost.inputs.arrays import encode
from costboost.runtime.machine import Scratch
from costboost.runtime.messages import Call, join, message
from costboost.shards.layout import Loader, RowData
from costboost.shards.parts import Chosen, Folds, RawRows, TablePart
from costboost.shards.rows import Shard
from costboost.typing import Codes, Floats


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
