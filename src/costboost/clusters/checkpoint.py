"""A fit's calls and their answers on disk, so that a new driver can go on where one was lost.

The driver's own work is deterministic: run again it says the same things. So the new one runs from
the start and gets the kept answers at once, until they end; from there on it asks again. What is
kept is what was asked (a digest), the reduced answers and the digests of what sources read. A call
in which sources were read is asked again and must give the same: it is the table of before.

    file     the words "costboost checkpoint" and a line feed, then records
    record   length (8 bytes), digest of the content (16 bytes), content (a pickle)

Records are appended and flushed one by one; one that was cut off in the middle ends the file. Since
it is read by `pickle`, open only what you wrote yourself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costboost.clusters.digests import digest_of
from costboost.clusters.errors import CheckpointError
from costboost.clusters.handshake import differences, identity

__all__ = ["Checkpoint", "Kept"]

_MAGIC = b"costboost checkpoint\n"
_HEAD = struct.Struct("<Q16s")


@dataclass(frozen=True)
class Kept:
    """One call: what was asked, what was answered, which sources were read in it."""

    asked: str
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

    def recall(self, orders: Sequence[Any]) -> Kept | None:
        """Return what is kept of the next call; None if nothing is, from then on."""
        record = self._next() if self.recalling else None
        if record is None:
            self.recalling = False
            return None
        if record.asked != digest_of(orders):
            raise CheckpointError(
                f"{self.path} was written by a fit that asked something else: of another table, "
                "with other parameters, or without an integer random_state. Give them as they "
                "were, or remove the file to start anew."
            )
        kept: Kept = record
        return kept

    def keep(
        self, orders: Sequence[Any], answers: Sequence[Any], digests: Mapping[int, str]
    ) -> None:
        """Add a call that was answered."""
        self._append(Kept(digest_of(orders), tuple(answers), dict(digests)))

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
