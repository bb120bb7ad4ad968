"""Digests of values: the same content, the same digest, in every process.

Pickles will not do: their bytes depend on which equal objects are one object. Here values are
walked: plain ones, arrays, tables by column, and everything else by what `pickle` would take it
apart into.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from costboost.clusters.protocol import SourceChangedError

__all__ = ["DigestedSource", "digest_of"]

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
