"""From a header and arrays back to objects; every node is checked before it is used.

The inverse of `packing`, whose docstring lists the nodes. Only the kinds of object listed in
`kinds` can come out, built from fields of the types they declare.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.persistence.container import Contents, is_storable
from costboost.persistence.errors import ModelFileError
from costboost.persistence.registered import kind_named

__all__ = ["unpack"]

MAX_DEPTH = 50


def unpack(contents: Contents) -> Any:
    """Return the object that a file holds; the last of its list."""
    listed = contents.header.get("objects")
    if not isinstance(listed, list) or not listed:
        raise ModelFileError("its header lists no objects")
    reader = _Reader(contents.arrays)
    for entry in listed:
        reader.read_object(entry)
    return reader.objects[-1]


class _Reader:
    """Makes one object after the other."""

    def __init__(self, arrays: tuple[NDArray[Any], ...]) -> None:
        self.arrays = arrays
        self.objects: list[Any] = []
        self._depth = 0

    def read_object(self, entry: Any) -> None:
        """Read an entry of the list of objects and make it."""
        known = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], dict)
        if not known or not isinstance(entry[0], str):
            raise ModelFileError("an object is not given by its kind and fields")
        name, fields = entry
        kind = kind_named(name)
        values = {field: self.read(node) for field, node in fields.items()}
        self.objects.append(kind.make(values))

    def read(self, node: Any) -> Any:
        """Return the value of a node."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ModelFileError(f"values are nested more than {MAX_DEPTH} deep")
        try:
            if isinstance(node, list):
                return [self.read(part) for part in node]
            if not isinstance(node, dict) or len(node) != 1:
                raise ModelFileError("a value is none of those that can be")
            ((name, content),) = node.items()
            if name not in _READERS:
                raise ModelFileError(f"a value is a {name!r}, which this version does not know")
            return _READERS[name](self, content)
        finally:
            self._depth -= 1

    def _read_tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self.read(part) for part in _list(content))

    def _read_dict(self, content: Any) -> dict[Any, Any]:
        pairs = [_list(pair, 2) for pair in _list(content)]
        read = {self.read(key): self.read(value) for key, value in pairs}
        if len(read) < len(pairs):
            raise ModelFileError("a name occurs twice in a dict")
        return read

    def _read_float(self, content: Any) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise ModelFileError(f"{content!r} is no float")
        return float(content)

    def _read_bytes(self, content: Any) -> bytes:
        if not isinstance(content, str):
            raise ModelFileError("bytes are given in hexadecimal")
        return bytes.fromhex(content)

    def _read_scalar(self, content: Any) -> Any:
        name, value = _list(content, 2)
        value = self.read(value)
        good = is_storable(name) and type(value) in (bool, int, float, str, bytes)
        if not good or type(np.dtype(name).type(0).item()) is not type(value):
            raise ModelFileError(f"no scalar has dtype {name!r} and such a value")
        return np.dtype(name).type(value)

    def read_array(self, content: Any) -> NDArray[Any]:
        """Return the array of a number in the table."""
        if type(content) is not int or not 0 <= content < len(self.arrays):
            raise ModelFileError(f"there is no array {content!r}")
        return self.arrays[content]

    def _read_texts(self, content: Any) -> NDArray[Any]:
        joined, ends = (self.read_array(number) for number in _list(content, 2))
        return texts_of(joined, ends)

    def _read_cells(self, content: Any) -> NDArray[Any]:
        shape, cells = (_list(part) for part in _list(content, 2))
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ModelFileError("the shape of an array of objects is not whole")
        array = np.empty(len(cells), dtype=object)
        for i, cell in enumerate(cells):
            array[i] = self.read(cell)
        return array.reshape(shape)

    def _read_reference(self, content: Any) -> Any:
        if type(content) is not int or not 0 <= content < len(self.objects):
            raise ModelFileError(f"there is no earlier object {content!r}")
        return self.objects[content]


_READERS: dict[str, Callable[[_Reader, Any], Any]] = {
    "tuple": _Reader._read_tuple,
    "dict": _Reader._read_dict,
    "float": _Reader._read_float,
    "bytes": _Reader._read_bytes,
    "scalar": _Reader._read_scalar,
    "array": _Reader.read_array,
    "texts": _Reader._read_texts,
    "cells": _Reader._read_cells,
    "object": _Reader._read_reference,
}


def texts_of(joined: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """Return an array of Python strings; each ends where the next one begins."""
    whole = joined.dtype == np.uint8 and ends.dtype == np.int64 and joined.ndim == ends.ndim == 1
    cuts = np.append(0, ends) if whole else np.zeros(1)
    if not whole or (np.diff(cuts) < 0).any() or cuts[-1] != len(joined):
        raise ModelFileError("strings do not end where they should")
    data, places = joined.tobytes(), cuts.tolist()
    texts = np.empty(len(ends), dtype=object)
    for i, (start, stop) in enumerate(pairwise(places)):
        texts[i] = data[start:stop].decode("utf-8", "surrogatepass")
    return texts


def _list(content: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise ModelFileError("a value has not as many parts as it should")
    return content
