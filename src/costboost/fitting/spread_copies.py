"""Copies of rows in a table whose rows are elsewhere; see `copies`.

Parts hash their rows by the values themselves (a category by its name, which is the same in every
part), and the driver compares the hashes: the same sets as if all rows were in one place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.columns import Table
from costboost.binning.reading import read_table
from costboost.fitting.copies import agreement, bits_of, sets_of, told_of, weighted_rows
from costboost.shards.part_messages import PartMessage
from costboost.shards.parts import Part
from costboost.shards.sampling import mix, round_key

__all__ = ["read_spread_copies"]

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Int64 = NDArray[np.int64]

MISSING = np.uint64(0)


@dataclass(frozen=True)
class HashRows(PartMessage):
    """Ask for a hash of every row."""

    def answer(self, part: Part) -> list[Hashes]:
        """Return the sum over columns of a mixture of the value and the column's own key."""
        hashes = np.zeros(part.n_rows, dtype=np.uint64)
        if part.n_rows:
            table = read_table(part.raw.X)
            for j in range(table.n_columns):
                hashes += mix(round_key(0, j + 1), _column_bits(table, j))
        return [hashes]


@dataclass(frozen=True)
class TellBits(PartMessage):
    """Ask for the values of a column, as bits that are equal where values are."""

    column: int

    def answer(self, part: Part) -> list[Hashes]:
        """Return them."""
        if not part.n_rows:
            return [np.zeros(0, dtype=np.uint64)]
        return [_column_bits(read_table(part.raw.X), self.column)]


def _column_bits(table: Table, j: int) -> Hashes:
    if not table.has_keys(j):
        return bits_of(table.numbers(j, 0, table.n_rows))
    codes, keys = table.keys(j, 0, table.n_rows)
    named = [hashlib.blake2b(repr(key).encode(), digest_size=8).digest() for key in keys]
    bits = np.frombuffer(b"".join(named), dtype=np.uint64) if named else np.zeros(0, np.uint64)
    return np.append(bits, MISSING)[codes]  # code -1 is a missing value


def read_spread_copies(
    send: Callable[[Sequence[Any]], list[Any]], n_columns: int, weights: Floats | None
) -> Int64 | None:
    """Return the number of each row's set of copies, or None where there are none; tell of many."""
    here = weighted_rows(weights)

    def ask(message: PartMessage) -> Hashes:
        found = np.concatenate(send([message])[0])
        return found if here is None else found[here]

    def agreements() -> Iterator[float]:
        for j in range(n_columns):
            yield agreement(ask(TellBits(j)))

    try:
        found = sets_of(ask(HashRows()), agreements())
    except (TypeError, ValueError):
        return None
    return None if found is None else told_of(found, here, weights)
