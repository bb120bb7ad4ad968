"""What the rows of each category weigh, in all parts of a table; see `questions`."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from costboost.binning.categories import Key
from costboost.binning.columns import Table
from costboost.binning.cutting import distinct_values, key_totals
from costboost.binning.questions import PartRows, sort_columns, weights_of
from costboost.binning.reading import read_table
from costboost.binning.weighing import Grid
from costboost.runtime.messages import Message

__all__ = ["CountKeys", "KeyTotals"]

_MANY = 1 << 20


class KeyTotals(NamedTuple):
    """What the rows of categories weigh.

    Attributes
    ----------
    totals : dict or None
        The weight of each; None where there are too many of them.
    missing : int
        The weight of the rows without a category.
    n_keys : int
        How many categories the parts have, added up.
    """

    totals: dict[Key, int] | None
    missing: int
    n_keys: int


@dataclass(frozen=True)
class CountKeys(Message):
    """Ask for the weights of a column's categories: of all, or of one of several slices.

    A part that has more than `many` answers how many there are, unless it was asked for a slice.
    """

    column: int
    grid: Grid | None
    n_slices: int = 1
    at: int = 0
    many: int = _MANY

    def answer(self, part: PartRows) -> KeyTotals:
        """Add up the weights."""
        table = read_table(part.raw.X)
        found, missing = _key_totals(part, table, self.column, self.grid)
        if self.n_slices > 1:
            found = {key: w for key, w in found.items() if _slice(key, self.n_slices) == self.at}
        return self._bounded(KeyTotals(found, missing, len(found)))

    def reduce(self, answers: Sequence[KeyTotals]) -> KeyTotals:
        """Merge them."""
        merged: dict[Key, int] | None = {}
        for part in answers:
            merged = None if merged is None or part.totals is None else _added(merged, part.totals)
        missing, n_keys = sum(p.missing for p in answers), sum(p.n_keys for p in answers)
        return self._bounded(KeyTotals(merged, missing, n_keys))

    def _bounded(self, found: KeyTotals) -> KeyTotals:
        many = self.n_slices == 1 and found.totals is not None and len(found.totals) > self.many
        return found._replace(totals=None) if many else found


def _added(merged: dict[Key, int], more: dict[Key, int]) -> dict[Key, int]:
    for key, weight in more.items():
        merged[key] = merged.get(key, 0) + weight
    return merged


def _slice(key: Key, n_slices: int) -> int:
    text = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else repr(key).encode()
    return zlib.crc32(text) % n_slices


def _key_totals(
    part: PartRows, table: Table, j: int, grid: Grid | None
) -> tuple[dict[Key, int], int]:
    if table.has_keys(j):
        return key_totals(table, weights_of(part, table.n_rows, grid), j)
    (column,) = sort_columns(part, [j], grid)
    values, weights = distinct_values(column.values, column.sums)
    return dict(zip(values.tolist(), weights.tolist(), strict=True)), int(column.missing)
