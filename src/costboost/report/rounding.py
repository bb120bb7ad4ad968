"""Rows as exact as a page of at most two megabytes can keep them.

A level is how finely probabilities and prices are kept:

    level  probabilities                       prices of single rows
    0      as they are                         as they are
    1      2**-32 (two classes) or 2**-24      nine digits
    2      2**-24 or 2**-16                    hundredths
    3      2**-16 or 2**-12                    hundredths

The first level at which the page is small enough is taken; where none is, and beyond 200,000 rows,
rows are drawn at random. The page says which. Probabilities of several classes are rounded so that
they still add up to 1.
"""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.report.rows import PageRows
from costboost.typing import Floats

__all__ = ["pack_rows", "BUDGET", "fit_budget", "rounded", "rounded_like"]


# ---- Rows as text: arrays of whole numbers, byte by byte, deflated, in base64.

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
    """Return the arrays of the page by name, without those that follow from others."""
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


MOST_ROWS = 200_000  # so that a move stays quick
BUDGET = 1_700_000  # characters of packed rows: two megabytes, less what else is on the page
_BITS = {1: (32, 24), 2: (24, 16), 3: (16, 12)}


def fit_budget(rows: PageRows, random_state: int, budget: int = BUDGET, level: int = 0) -> PageRows:
    """Return the rows, sorted, at the first level that fits; else a random part of them."""
    draws = np.random.RandomState(random_state).permutation(len(rows))
    if len(rows) > MOST_ROWS:
        return fit_budget(rows.take(np.sort(draws[:MOST_ROWS])), random_state, budget, level)
    for at in range(level, 4):
        made = rounded(rows, at).sorted()
        size = len(pack_rows(made)[0])
        if size <= budget:
            return made
    kept = draws[: max(1, int(0.97 * len(rows) * budget / size))]
    return fit_budget(rows.take(np.sort(kept)), random_state, budget, level=2)


def rounded(rows: PageRows, level: int) -> PageRows:
    """Return the rows at a level."""
    if level == 0:
        return replace(rows, proba=_two_columns(rows), rounding="exact")
    bits = _BITS[level][0 if rows.proba.shape[1] == 2 else 1]
    columns = tuple(_round_prices(column, level) for column in rows.prices.columns)
    prices = "nine digits" if level == 1 else "hundredths"
    words = f"probabilities to multiples of 2**-{bits}" + (
        f", prices of single rows to {prices}" if columns else ""
    )
    return replace(
        rows,
        proba=_on_grid(_two_columns(rows), bits),
        prices=replace(rows.prices, columns=columns),
        rounding=words,
    )


def rounded_like(rows: PageRows, kept: PageRows) -> PageRows:
    """Return rows at the level at which a page keeps others."""
    made = (rounded(rows, level) for level in range(4))
    return next(some for some in made if some.rounding == kept.rounding)


def _two_columns(rows: PageRows) -> Floats:
    """Return the probabilities; of two classes, one is 1 less the other, exactly."""
    if rows.proba.shape[1] != 2:
        return rows.proba
    positive = 1 if rows.positive is None else rows.positive
    p = np.clip(rows.proba[:, positive], 0.0, 1.0)
    return np.column_stack([1.0 - p, p] if positive == 1 else [p, 1.0 - p])


def _on_grid(proba: Floats, bits: int) -> Floats:
    """Round each row to multiples of 2**-bits that add up to 1: the largest remainders go up."""
    scaled = np.ldexp(proba, bits)
    whole = np.floor(scaled)
    short = (2.0**bits - whole.sum(axis=1)).astype(np.int64)
    rank = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    up = rank < np.clip(short, 0, proba.shape[1])[:, None]
    made = whole + up
    made[np.arange(len(made)), np.argmax(made, axis=1)] += 2.0**bits - made.sum(axis=1)
    return np.asarray(np.ldexp(made, -bits))


def _round_prices(column: Floats, level: int) -> Floats:
    largest = float(np.max(np.abs(column)))
    digits = 2
    if level == 1 and largest > 0:
        digits = 8 - math.floor(math.log10(largest))
    return np.asarray(np.round(column, min(max(digits, -300), 300)))
