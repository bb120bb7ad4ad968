"""From objects to a header and arrays: what a model is made of, without code.

A *node* is one value in JSON. Numbers, text, true, false, null and lists stand for themselves;
everything else is an object of one name:

    {"tuple": [...]}               {"dict": [[key, value], ...]}
    {"float": "nan"}               "nan", "inf" or "-inf"
    {"bytes": "00ff"}              hexadecimal
    {"scalar": ["<i8", 5]}         a numpy scalar: its dtype and value
    {"array": 3}                   the array of that number in the table
    {"texts": [3, 4]}              an array of Python strings: UTF-8, and where each one ends
    {"cells": [[2], [...]]}        an array of other Python objects: its shape and its cells
    {"object": 7}                  the object of that number

An object, ``["Forest", {"words": {"array": 2}, ...}]``, is one of the library's own (`kinds`) and
refers to earlier objects only. What occurs twice is kept once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.persistence.container import MAX_DIMENSIONS, is_storable
from costboost.persistence.errors import ModelFileError
from costboost.persistence.registered import kind_of

__all__ = ["Packer"]

Node = Any

_ADVICE = (
    "A model file holds arrays and plain values, no code: keep such a model with skops (see "
    "costboost.TRUSTED_TYPES) or joblib"
)


class Packer:
    """Collects the objects and arrays of a model."""

    def __init__(self) -> None:
        self.objects: list[Node] = []
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[Any, int] = {}
        self._alive: list[Any] = []  # what is known by its identity must not go away

    def pack(self, value: Any, where: str) -> Node:
        """Return the node of a value; `where` is its name in messages."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if type(value) in (list, tuple, dict):
            return self._pack_collection(value, where)
        if type(value) is np.ndarray:
            return self._pack_array(value, where)
        if isinstance(value, np.generic):
            return self._pack_scalar(value, where)
        return {"object": self._pack_object(value, where)}

    def _pack_collection(self, value: Any, where: str) -> Node:
        if type(value) is dict:
            pairs = [
                [self.pack(key, f"a name in {where}"), self.pack(part, f"{where}[{key!r}]")]
                for key, part in value.items()
            ]
            return {"dict": pairs}
        nodes = [self.pack(part, f"{where}[{i}]") for i, part in enumerate(value)]
        return nodes if type(value) is list else {"tuple": nodes}

    def _pack_scalar(self, value: np.generic, where: str) -> Node:
        name = value.dtype.newbyteorder("<").str
        if not is_storable(name) or value.dtype.kind in "Mm":
            raise ModelFileError(f"{where} is a {type(value).__name__}. {_ADVICE}.")
        return {"scalar": [name, self.pack(value.item(), where)]}

    def _pack_array(self, value: NDArray[Any], where: str) -> Node:
        if value.dtype.kind == "O":
            if value.ndim == 1 and all(type(cell) is str for cell in value):
                return {"texts": self.pack_texts(value.tolist())}
            cells = [self.pack(cell, f"a cell of {where}") for cell in value.ravel()]
            return {"cells": [list(value.shape), cells]}
        return {"array": self.add(value, where)}

    def add(self, value: NDArray[Any], where: str) -> int:
        """Return the number of an array in the table; equal arrays are kept once."""
        array = np.ascontiguousarray(value).reshape(value.shape)  # which it makes 1-d
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if not is_storable(array.dtype.str) or array.ndim > MAX_DIMENSIONS:
            raise ModelFileError(
                f"{where} is an array of dtype {value.dtype} in {value.ndim} dimensions. {_ADVICE}."
            )
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._numbers:
            self._numbers[key] = len(self.arrays)
            self.arrays.append(array)
        return self._numbers[key]

    def pack_texts(self, texts: list[str]) -> Node:
        """Return the numbers of two arrays: all the strings, and where each one ends."""
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        joined = np.frombuffer(b"".join(parts), dtype=np.uint8)
        return [self.add(joined, "text"), self.add(ends, "text")]

    def _pack_object(self, value: Any, where: str) -> int:
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        name, kind = kind_of(type(value))
        if kind is None:
            raise ModelFileError(f"{where} is {_described(value)}. {_ADVICE}.")
        fields = {
            field: self.pack(part, f"{where}.{field}" if where else field)
            for field, part in kind.fields_of(value).items()
        }
        self.objects.append([name, fields])
        self._numbers[id(value)] = len(self.objects) - 1
        self._alive.append(value)
        return len(self.objects) - 1


def _described(value: Any) -> str:
    if callable(value):
        return f"the function {getattr(value, '__qualname__', repr(value))}"
    return f"a {type(value).__module__}.{type(value).__qualname__}"
