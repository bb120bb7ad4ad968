r"""The container: a prelude of fixed size, a JSON header, and arrays; nothing else.

    offset  size
         0     8  b"\x89CBOOST\n"
         8     4  format, uint32
        12     4  length of the header, uint32
        16     8  length of the file, uint64
        24    24  version of the library that wrote it, ASCII, filled up with zeros
        48    32  BLAKE2b of every other byte of the file
        80        the header: JSON, UTF-8
                  the arrays, each at the next multiple of 16, in the order of the header's table

All numbers are little-endian. There are no offsets to follow: where an array stands follows from
the table of dtypes and shapes, and the last one ends where the file does. The prelude stays as it
is in every format to come, so that a file from the future can say who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost._version import __version__

__all__ = ["ModelFileError", "FORMAT", "FileContents", "lay_out", "open_contents"]


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file holds no model that can be trusted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import costboost
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.costboost"
    >>> _ = path.write_bytes(b"something else")
    >>> costboost.load(path)
    Traceback (most recent call last):
        ...
    costboost.persistence.container.ModelFileError: ...model.costboost is no costboost model: ...
    """


FORMAT = 1
MAGIC = b"\x89CBOOST\n"
PRELUDE = struct.Struct("<8sIIQ24s32s")
ALIGNMENT = 16
MAX_HEADER = 1 << 24
# JSON makes of a few bytes a Python object of some sixty: so many values take 64 MB at most.
MAX_VALUES = 1 << 19
MAX_DIMENSIONS = 4
MAX_CELLS = 1 << 40  # times a width of at most 2^22 bytes, this stays below 2^63
PLAIN = frozenset(
    ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"]
)

Bytes = NDArray[np.uint8]


class FileContents(NamedTuple):
    """Header and arrays of a model file, and the version that wrote it."""

    header: dict[str, Any]
    arrays: tuple[NDArray[Any], ...]
    version: str

    @property
    def notes(self) -> dict[str, Any]:
        """What the writer noted beside the model: plain JSON."""
        notes: dict[str, Any] = self.header.get("notes", {})
        return notes


def lay_out(header: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> list[Any]:
    """Return the parts of a file, to be written one after the other."""
    table = [[array.dtype.str, list(array.shape)] for array in arrays]
    text = json.dumps({**header, "arrays": table}, separators=(",", ":"), allow_nan=False)
    head = text.encode()
    if len(head) > MAX_HEADER or _count_values(head) > MAX_VALUES:
        raise ModelFileError(
            f"The header of this model would take {len(head):,} bytes: lists among its parameters "
            "are too long. Give them as numpy arrays."
        )
    body: list[Any] = [head]
    at = PRELUDE.size + len(head)
    for array in arrays:
        body.append(bytes(-at % ALIGNMENT))
        body.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        at += -at % ALIGNMENT + array.nbytes
    sizes = (FORMAT, len(head), at, __version__.encode())
    start = PRELUDE.pack(MAGIC, *sizes, bytes(32))
    return [PRELUDE.pack(MAGIC, *sizes, _digest([start, *body])), *body]


def _digest(parts: Iterable[Any]) -> bytes:
    """Return the digest of a file whose own place for it is zero."""
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(part)
    return digest.digest()


def open_contents(data: Bytes) -> FileContents:
    """Check the bytes of a whole file and return what they hold; arrays are views of them."""
    header_size, version = _read_prelude(data)
    stop = PRELUDE.size + header_size
    header = _read_header(data[PRELUDE.size : stop].tobytes())
    arrays, at = [], stop
    for entry in header.pop("arrays"):
        dtype, shape = _read_entry(entry)
        start = at + -at % ALIGNMENT
        at = start + dtype.itemsize * math.prod(shape)
        if at > len(data):
            raise ModelFileError("an array reaches beyond the end of the file")
        arrays.append(_native(data[start:at].view(dtype).reshape(shape)))
    if at != len(data):
        raise ModelFileError(f"its arrays end at byte {at:,}, the file at {len(data):,}")
    return FileContents(header, tuple(arrays), version)


def _read_prelude(data: Bytes) -> tuple[int, str]:
    """Check everything that the prelude says; return the header's length and who wrote it."""
    if len(data) < PRELUDE.size or data[: len(MAGIC)].tobytes() != MAGIC:
        raise ModelFileError("it does not begin as a model file does")
    start = data[: PRELUDE.size].tobytes()
    _, file_format, header_size, size, version, digest = PRELUDE.unpack(start)
    name = version.rstrip(b"\0").decode("ascii", "replace")
    if file_format > FORMAT:
        raise ModelFileError(
            f"it was written by costboost {name} in format {file_format}, and this is costboost "
            f"{__version__}, which reads formats up to {FORMAT}: upgrade costboost"
        )
    if file_format < 1 or size != len(data):
        raise ModelFileError(f"it has {len(data):,} bytes and says that it has {size:,}")
    if _digest([start[:-32], bytes(32), data[PRELUDE.size :]]) != digest:
        raise ModelFileError("its digest does not match: the file was damaged or changed")
    if header_size > min(MAX_HEADER, len(data) - PRELUDE.size):
        raise ModelFileError(f"its header cannot have {header_size:,} bytes")
    return header_size, name


def _count_values(text: bytes) -> int:
    return sum(map(text.count, (b",", b"[", b"{")))


def _read_header(text: bytes) -> dict[str, Any]:
    if _count_values(text) > MAX_VALUES:
        raise ModelFileError(f"its header holds more than {MAX_VALUES:,} values")
    try:
        header = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is no JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise ModelFileError("its header lists no arrays")
    if not isinstance(header.get("notes", {}), dict):
        raise ModelFileError("its notes have no names")
    return header


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _read_entry(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the dtype and shape of an array of the table."""
    if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], list)):
        raise ModelFileError("an array is not described by its dtype and shape")
    name, shape = entry
    whole = all(type(n) is int and 0 <= n < MAX_CELLS for n in shape)
    # Of an array without cells, too, numpy wants the product of the other sizes to be a number.
    fits = whole and math.prod(max(n, 1) for n in shape) < MAX_CELLS
    if not (is_storable(name) and fits and len(shape) <= MAX_DIMENSIONS):
        raise ModelFileError(f"no array can have dtype {name!r} and shape {shape!r}")
    return np.dtype(name), tuple(shape)


def is_storable(name: Any) -> bool:
    """Whether arrays of a dtype can be kept: numbers, and labels of fixed width or dates."""
    if not isinstance(name, str) or len(name) > 12:
        return False
    if name in PLAIN:
        return True
    kind, width = name[:2], name[2:]
    if kind in ("<U", "|S"):
        return width.isascii() and width.isdigit() and 0 < int(width) <= 1 << 20
    units = tuple(f"8[{unit}]" for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"))
    return kind in ("<M", "<m") and width in units


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as this machine reads it, read-only; a copy where its byte order differs."""
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError("an array of booleans holds other values")
    if array.dtype.kind == "U" and array.size and _points(array).max() > 0x10FFFF:
        raise ModelFileError("an array of text holds characters that do not exist")
    if array.dtype.kind != "b" and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array.flags.writeable = False
    return array


def _points(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).reshape(-1).view(array.dtype.str[0] + "u4")
