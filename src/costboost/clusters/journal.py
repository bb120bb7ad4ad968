"""The journal of messages that changed parts, replayed to bring a new one up to date.

One entry for every order that changed anything, by the number of its call: a message for all parts,
or one by part. What is over (`Message.ends`) is taken out, so that a part that is built again
need not train the models of folds that are done.

Digests of values tell whether two processes hold the same: equal content, equal digest, everywhere.
Bytes of pickles would not do: they depend on which equal objects are one object. So values are
walked: plain ones, arrays, tables by column, and everything else by its reduction for `pickle`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from costboost.clusters.protocol import (
    CheckpointError,
    SourceChangedError,
    differences,
    identity,
    order_for,
)
from costboost.runtime.messages import Call

__all__ = ["Journal", "OrderForParts", "Checkpoint", "CallRecord", "DigestedSource", "digest_of"]


# ---- Digests of values.

_DEPTH = 100


class _Walk:
    """A hash that walks through a value."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)
        self.depth = 0

    def mark(self, *words: Any) -> None:
        """Add a few words, so that different shapes never share their bytes."""
        text = "\x1f".join(map(str, words)).encode("utf-8", "surrogatepass")
        self.hash.update(struct.pack("<q", len(text)) + text)

    def add(self, value: Any) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            raise ValueError("A value that contains itself, or is nested too deeply.")
        self._add(value)
        self.depth -= 1

    def _add(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, str, Enum, np.dtype)):
            self.mark(type(value).__name__, value)
        elif isinstance(value, float):
            self.mark("float", struct.pack("<d", value).hex())
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self.mark("bytes", len(value))
            self.hash.update(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._array(np.asarray(value))
        elif isinstance(value, (tuple, list)):
            self._many(type(value).__name__, value)
        elif isinstance(value, Mapping):
            self._many("mapping", [part for item in value.items() for part in item])
        elif isinstance(value, (set, frozenset)):
            self._many("set", sorted(map(digest_of, value)))
        elif isinstance(value, type) or hasattr(value, "__qualname__"):
            self.mark("named", value.__module__, value.__qualname__)
        else:
            self._object(value)

    def _many(self, kind: str, values: Any) -> None:
        self.mark(kind, len(values))
        for value in values:
            self.add(value)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        self.mark("array", array.dtype.str, array.shape)
        if array.dtype.hasobject:
            self._many("objects", array.ravel().tolist())
        else:
            self.hash.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def _object(self, value: Any) -> None:
        table = nw.from_native(value, pass_through=True, allow_series=True, eager_only=True)
        if isinstance(table, nw.DataFrame):
            self.mark("table", table.shape)
            for name in table.columns:
                self._series(table[name])
        elif isinstance(table, nw.Series):
            self._series(table)
        elif is_dataclass(value):
            self.mark("dataclass", type(value).__module__, type(value).__qualname__)
            self._many("fields", [getattr(value, field.name) for field in fields(value)])
        else:
            self.mark("object", type(value).__module__, type(value).__qualname__)
            reduced = value.__reduce_ex__(5)
            self.add(reduced if isinstance(reduced, str) else list(reduced[1:3]))
            for more in () if isinstance(reduced, str) else reduced[3:5]:
                self.add(None if more is None else list(more))

    def _series(self, series: Any) -> None:
        self.mark("column", series.name, series.dtype)
        values = series.to_numpy()
        if not values.dtype.hasobject:
            self._array(values)
            return
        items = series.to_list()
        self.mark("items", len(items), set(map(type, items)) <= {str})
        for item in items:
            self.mark(type(item).__name__, item)


def digest_of(value: Any) -> str:
    """Return a digest of a value's content.

    Examples
    --------
    >>> digest_of({"a": np.arange(3)}) == digest_of({"a": np.array([0, 1, 2])})
    True
    >>> digest_of([1, 2]) == digest_of([1, 2.0])
    False
    """
    walk = _Walk()
    walk.add(value)
    return walk.hash.hexdigest()


class DigestedSource:
    """A source that notices when it reads something else than before.

    Attributes
    ----------
    digest : str or None
        Of what was read; None before that.
    """

    def __init__(self, part: int, source: Any, digest: str | None = None) -> None:
        self.part = part
        self.source = source
        self.digest = digest

    def __getattr__(self, name: str) -> Any:
        if name == "source":  # not there yet, while unpickling
            raise AttributeError(name)
        return getattr(self.source, name)

    def read(self, *args: Any, **kwargs: Any) -> Any:
        """Read the rows; refuse them if they are others than the last time."""
        raw = self.source.read(*args, **kwargs)
        found = digest_of(raw)
        if self.digest is not None and found != self.digest:
            raise SourceChangedError(
                f"Part {self.part} of the table reads differently than before: a fit needs rows "
                "that stay the same. Write the table to files, or sort it by a key, before fitting."
            )
        self.digest = found
        return raw


OrderForParts = Call[Any] | Sequence[Call[Any]]


@dataclass(frozen=True)
class _Entry:
    call: int
    order: OrderForParts


def _one(order: OrderForParts) -> Call[Any]:
    return order if isinstance(order, Call) else order[0]


def _changes(order: OrderForParts) -> bool:
    return order.changes if isinstance(order, Call) else any(m.changes for m in order)


def _lasting(order: OrderForParts) -> OrderForParts:
    return order.lasting() if isinstance(order, Call) else [m.lasting() for m in order]


class Journal:
    """Orders that changed parts.

    Attributes
    ----------
    calls : int
        How many calls there were.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, orders: Sequence[OrderForParts]) -> None:
        """Record the orders of a call that change parts."""
        self.calls += 1
        for order in orders:
            if _one(order).message.ends:
                self._forget(order)
            elif _changes(order):
                self._entries.append(_Entry(self.calls, _lasting(order)))

    def _forget(self, order: OrderForParts) -> None:
        """Remove the entries of a topic that an order ends."""
        topic = _one(order).topic
        self._entries = [entry for entry in self._entries if _one(entry.order).topic != topic]

    def since(self, calls: int, parts: Iterable[int]) -> dict[int, list[Call[Any]]]:
        """Return for every part the orders that it has missed since it knew of so many calls."""
        if calls == self.calls:
            return {}
        missed = [entry.order for entry in self._entries if entry.call > calls]
        if not missed:
            return {}
        return {part: [order_for(order, part) for order in missed] for part in parts}


# Checkpoint: calls and answers of a fit on disk, so that a new driver continues where one died.

_MAGIC = b"costboost checkpoint\n"
_HEAD = struct.Struct("<Q16s")


@dataclass(frozen=True)
class CallRecord:
    """One call: a digest of its orders, the answers, and digests of the sources read in it."""

    orders: str
    answers: tuple[Any, ...]
    digests: Mapping[int, str]


class Checkpoint:
    """The calls of one fit in a file.

    Parameters
    ----------
    path : path-like
        Written anew if it is not there; otherwise the fit goes on from it.
    about : mapping of str
        What the fit is about (number of parts, parameters): a file about another is refused.
    """

    def __init__(self, path: str | Path, about: Mapping[str, str]) -> None:
        self.path = Path(path)
        own = {"identity": identity(), "about": dict(about)}
        self.recalling = self.path.exists() and self.path.stat().st_size > 0
        self._file = open(self.path, "r+b" if self.recalling else "w+b")  # noqa: SIM115
        try:
            self._begin(own)
        except BaseException:
            self._file.close()
            raise

    def recall(self, orders: Sequence[Any]) -> CallRecord | None:
        """Return the record of the next call; None from the first one that has none."""
        record = self._next() if self.recalling else None
        if record is None:
            self.recalling = False
            return None
        if record.orders != digest_of(orders):
            raise CheckpointError(
                f"{self.path} was written by a fit that asked something else: of another table, "
                "with other parameters, or without an integer random_state. Give them as they "
                "were, or remove the file to start anew."
            )
        kept: CallRecord = record
        return kept

    def keep(
        self, orders: Sequence[Any], answers: Sequence[Any], digests: Mapping[int, str]
    ) -> None:
        """Record a call with its answers."""
        self._append(CallRecord(digest_of(orders), tuple(answers), dict(digests)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin(self, own: dict[str, Any]) -> None:
        if self.recalling:
            self._check(own)
        if not self.recalling:
            self._file.write(_MAGIC)
            self._append(own)

    def _check(self, own: dict[str, Any]) -> None:
        """Read the first record; refuse a file of another fit, start anew where there is none."""
        if not _MAGIC.startswith(self._file.read(len(_MAGIC))):  # it may end within these words
            raise CheckpointError(
                f"{self.path} is not a checkpoint of costboost: name another file."
            )
        found = self._next()
        if found is None:
            self.recalling = False
            self._file.seek(0)
            self._file.truncate()
            return
        for kind, owner in (("identity", "other versions"), ("about", "another fit")):
            other = differences(own[kind], found[kind])
            if other:
                raise CheckpointError(
                    f"{self.path} was written by {owner}: {', '.join(other)}. Go on with "
                    "what it was begun with, or remove the file to start anew."
                )

    def _next(self) -> Any:
        """Read a record; cut the file where it is not whole."""
        start = self._file.tell()
        head = self._file.read(_HEAD.size)
        if len(head) == _HEAD.size:
            length, digest = _HEAD.unpack(head)
            content = self._file.read(min(length, self._left()))
            if len(content) == length and _digest(content) == digest:
                return pickle.loads(content)
        self._file.seek(start)
        self._file.truncate()
        return None

    def _left(self) -> int:
        """Return how many bytes follow: a length that was damaged may be any number."""
        return os.fstat(self._file.fileno()).st_size - self._file.tell()

    def _append(self, value: Any) -> None:
        content = pickle.dumps(value, protocol=5)
        self._file.write(_HEAD.pack(len(content), _digest(content)) + content)
        self._file.flush()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
