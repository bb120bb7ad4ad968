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

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from costboost.persistence import checks
from costboost.persistence.container import (
    MAX_DIMENSIONS,
    FileContents,
    ModelFileError,
    is_storable,
)
from costboost.persistence.kinds import KINDS, PREDICTING, Kind, data_kind, name_of

__all__ = [
    "Packer",
    "check_amount",
    "kind_named",
    "kind_of",
    "unpack",
]


# How much a file asks for, counted on its header before anything is built. A file may refer to an
# array or an object as often as it likes, so that a few bytes can stand for any amount of memory,
# checks and predictions: an object that holds ten times the one before it, six times over, predicts
# a million times. What `save` writes stays far below the bounds here.

MAX_NESTED = 16  # estimators in estimators
# A frozen estimator may be each of the members of an ensemble: that many predictions, at most.
PREDICTIONS, PREDICTIONS_OF_EACH = 1000, 4
# Bytes that are referred to, each time they are: an array is checked wherever it is used.
BYTES, BYTES_OF_EACH = 1 << 25, 8
BINNER_BYTES = 8  # a binner makes objects of Python of its arrays, of some eight times their size
# A model stands in its estimator only, its members and their forests in it.
PARENTS = {"Forest": 1, "Member": 1, "Mixture": 1, "FittedModel": 1, "CalibratedScores": 1}


def check_amount(listed: Sequence[Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Refuse objects that stand for more than a file of their size can hold.

    Parameters
    ----------
    listed : list of [kind, fields]
        The objects of a header.
    arrays : list of ndarray
        What they refer to by number.
    """
    sizes = [array.nbytes for array in arrays]
    size, n_estimators = 0, 0
    predictions: list[int] = []
    depths: list[int] = []
    parents: Counter[int] = Counter()
    for i, (kind, fields) in enumerate(listed):
        weight = BINNER_BYTES if kind == "Binner" else 1
        size += weight * sum(sizes[n] for n in _numbers(fields, "array", len(sizes)))
        size += weight * sum(sizes[n] for n in _numbers(fields, "texts", len(sizes)))
        held = list(_numbers(fields, "object", i))
        parents.update(held)
        own = int(kind in PREDICTING)
        n_estimators += own
        depths.append(own + max((depths[n] for n in held), default=0))
        # A wrapper predicts by what it has fitted, and its `estimator` is the pattern of that.
        pattern = fields.get("estimator") if own and kind != "FrozenEstimator" else None
        asked = sum(predictions[n] for n in held)
        asked -= sum(predictions[n] for n in _numbers(pattern, "object", i))
        predictions.append(min(own + asked, 1 << 40))
    _demand(size <= BYTES + BYTES_OF_EACH * sum(sizes), "its arrays are referred to too often")
    _demand(max(depths) <= MAX_NESTED, f"estimators are nested more than {MAX_NESTED} deep")
    most = PREDICTIONS + PREDICTIONS_OF_EACH * n_estimators
    _demand(max(predictions) <= most, "its models are referred to too often")
    for i, n in parents.items():
        kind = listed[i][0]
        _demand(n <= PARENTS.get(kind, n), f"a {kind} is part of several objects")


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ModelFileError(message)


def _numbers(node: Any, name: str, n: int) -> Iterator[int]:
    """Yield the numbers below n that a value refers to by a name, each time it does."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            for key, content in here.items():
                if key == name:
                    given = content if isinstance(content, list) else [content]
                    yield from (m for m in given if type(m) is int and 0 <= m < n)
                waiting.append(content)


# What a file may hold, by name: the kinds of `kinds`, and every loss that is registered

_REGISTRIES = {
    "classification loss ": CLASSIFICATION_LOSSES,
    "regression loss ": REGRESSION_LOSSES,
}


def kind_of(value_type: type[Any]) -> tuple[str, Kind | None]:
    """Return the name under which objects of a type are kept, and how; None: they are not."""
    for family, known in _REGISTRIES.items():
        for own, loss in known.items():
            if loss is value_type:
                return family + own, _loss_kind(loss)
    name = name_of(value_type)
    kind = KINDS.get(name)
    return name, kind if kind is not None and kind.type is value_type else None


def kind_named(name: str) -> Kind:
    """Return how an object of this name in a file is made."""
    for family, known in _REGISTRIES.items():
        if name.startswith(family):
            own = name.removeprefix(family)
            if own not in known:
                raise ModelFileError(
                    f"it holds the {family}{own!r}, which is not registered here, and files hold "
                    "no code: register it first, by importing the module that does (see "
                    "docs/extend.md)"
                )
            return _loss_kind(known[own])
    if name not in KINDS:
        raise ModelFileError(f"it holds a {name!r}, which this version does not know")
    return KINDS[name]


def _loss_kind(loss: type[Any]) -> Kind:
    if not dataclasses.is_dataclass(loss):
        raise ModelFileError(
            f"{loss.__name__} is no dataclass, and files keep a loss by its fields: write "
            "@dataclass(frozen=True) above it"
        )
    return data_kind(loss, _check_loss)


def _check_loss(loss: Any) -> None:
    checks.check_finite(loss)
    loss.check_restored()


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


# From a header and arrays back to objects; every node is checked before it is used

MAX_DEPTH = 50


def unpack(contents: FileContents) -> Any:
    """Return the object that a file holds; the last of its list."""
    listed = contents.header.get("objects")
    if not isinstance(listed, list) or not listed:
        raise ModelFileError("its header lists no objects")
    for entry in listed:
        known = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], dict)
        if not known or not isinstance(entry[0], str):
            raise ModelFileError("an object is not given by its kind and fields")
    check_amount(listed, contents.arrays)
    reader = _Reader(contents.arrays)
    for name, fields in listed:
        reader.read_object(name, fields)
    return reader.objects[-1]


class _Reader:
    """Makes one object after the other."""

    def __init__(self, arrays: tuple[NDArray[Any], ...]) -> None:
        self.arrays = arrays
        self.objects: list[Any] = []
        self._depth = 0
        self._texts: dict[tuple[int, int], NDArray[Any]] = {}

    def read_object(self, name: str, fields: dict[str, Any]) -> None:
        """Make an object of its kind and the nodes of its fields."""
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
        place = (content[0], content[1])
        if place not in self._texts:  # made once, however often it is referred to
            self._texts[place] = texts_of(joined, ends)
        return self._texts[place]

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
    texts.flags.writeable = False  # as all arrays of a file
    return texts


def _list(content: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise ModelFileError("a value has not as many parts as it should")
    return content
