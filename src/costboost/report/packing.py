"""Rows as text: arrays of whole numbers, byte by byte, deflated, in base64.

An array of n values is kept as p planes of n bytes: all lowest bytes, then all second ones, and so
on, which deflates better than values one after the other. Three kinds:

    "whole"    (value * divisor) + offset, a whole number below 2**53
    "sorted"   float64 that do not fall: the differences of their bit patterns, eight planes
    "float"    float64 as they are, eight planes

`divisor` is a power of ten or of two: amounts in cents are whole numbers, and 1234 / 100 is the
same float64 in Python and in JavaScript.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.report.rows import PageRows

__all__ = ["pack_rows"]

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_DIVISORS = (1.0, 100.0, 10.0, 1e3, 1e4, 1e5, 1e6, 2.0**12, 2.0**16, 2.0**24, 2.0**32)


class Packed(NamedTuple):
    """One array: its description for the page, and its bytes."""

    head: dict[str, Any]
    body: bytes


def pack_rows(rows: PageRows) -> tuple[str, list[dict[str, Any]]]:
    """Return the arrays of the rows as base64, and the description of each, in order."""
    packed = [_pack(name, values) for name, values in _arrays(rows)]
    body = zlib.compress(b"".join(part.body for part in packed), 6)
    return base64.b64encode(body).decode("ascii"), [part.head for part in packed]


def _arrays(rows: PageRows) -> list[tuple[str, NDArray[Any]]]:
    """Return what the page needs, by name; what follows from the rest is left out."""
    n_classes = rows.proba.shape[1]
    last = 1 if rows.positive is None else rows.positive
    kept = [last] if n_classes == 2 else list(range(n_classes))
    if n_classes > 2 and rows.rounding != "exact":
        kept = kept[:-1]  # the last is what is missing from 1, exactly
    arrays: list[tuple[str, NDArray[Any]]] = []
    if rows.decided is None:
        arrays += [(f"p{k}", rows.proba[:, k]) for k in kept]
    arrays += [("truth", rows.truth)]
    arrays += [(f"c{j}", column) for j, column in enumerate(rows.prices.columns)]
    for name in ("weight", "current", "decided", "period"):
        if getattr(rows, name) is not None:
            arrays.append((name, getattr(rows, name)))
    arrays += [(f"g{j}", codes) for j, (_, codes) in enumerate(rows.groups.values())]
    return arrays


def _pack(name: str, values: NDArray[Any]) -> Packed:
    found = _as_whole(np.asarray(values, dtype=np.float64))
    if found is not None:
        whole, divisor, offset = found
        planes = max(1, (int(whole.max(initial=0)).bit_length() + 7) // 8)
        head = {"name": name, "kind": "whole", "divisor": divisor, "offset": offset}
        return Packed({**head, "planes": planes}, _planes(whole.astype("<u8"), planes))
    bits = np.asarray(values, dtype="<f8").view("<u8")
    if values.min() >= 0 and (np.diff(values) >= 0).all():
        steps = np.diff(bits, prepend=np.uint64(0))
        return Packed({"name": name, "kind": "sorted", "planes": 8}, _planes(steps, 8))
    return Packed({"name": name, "kind": "float", "planes": 8}, _planes(bits, 8))


def _as_whole(values: Floats) -> tuple[Floats, float, float] | None:
    """Return values as whole numbers from 0 on, if one of the divisors makes them so, exactly."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    for divisor in _DIVISORS:
        if max(abs(low), abs(high)) * divisor >= 2.0**51:
            continue
        whole = np.rint(values * divisor)
        if np.array_equal(whole / divisor, values):
            offset = max(0.0, -float(whole.min(initial=0.0)))
            return whole + offset, divisor, offset
    return None


def _planes(whole: NDArray[np.uint64], planes: int) -> bytes:
    table = np.ascontiguousarray(whole).view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(table[:, :planes].T).tobytes()
