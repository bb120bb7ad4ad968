"""Chance by number: what is drawn depends on seed, round, node and row, never on who asks when.

Every draw is a hash of its own key, so shards, threads and clusters draw the same rows and columns
in any order of asking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Words = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_ROUND = 0xD1B54A32D192ED03


def mix(key: int, numbers: NDArray[Any]) -> Words:
    """Return 64 random bits for each number: SplitMix64 (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) * np.uint64(_GOLDEN) + np.uint64(key % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def round_key(seed: int, number: int) -> int:
    """Return the key of one round's draws."""
    return (seed * _GOLDEN + number * _ROUND) % 2**64


@dataclass(frozen=True)
class RowSample:
    """The rows that a round learns from: each with probability `share`, by its own number.

    Examples
    --------
    >>> sample = RowSample(share=0.5, seed=0, number=3)
    >>> rows = np.arange(1000)
    >>> kept = sample.keeps(rows)
    >>> bool(400 < kept.sum() < 600), bool((kept[::-1] == sample.keeps(rows[::-1])).all())
    (True, True)
    """

    share: float
    seed: int
    number: int

    def keeps(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for row numbers whether this round learns from them."""
        limit = np.uint64(min(int(self.share * 2.0**64), 2**64 - 1))
        return np.asarray(mix(round_key(self.seed, self.number), rows) < limit)


@dataclass(frozen=True)
class ColumnDraw:
    """The columns that a node is searched for: `width` of `n_features`, by the node's own number.

    `stream` tells apart trees of one round, one for each output.
    """

    width: int
    n_features: int
    seed: int
    number: int
    stream: int = 0

    def columns(self, node: int) -> Int64:
        """Return a node's columns, ascending: those with the least hashes."""
        key = mix(round_key(self.seed, self.number), np.array([self.stream * 2**32 + node + 1]))
        hashes = mix(int(key[0]), np.arange(self.n_features))
        return np.sort(np.argsort(hashes, kind="stable")[: self.width])


def column_draw(
    width: int | None, n_features: int, seed: int, number: int, stream: int = 0
) -> ColumnDraw | None:
    """Return how columns are drawn in a round's tree; None where all of them are used."""
    if width is None or width >= n_features:
        return None
    return ColumnDraw(width, n_features, seed, number, stream)


def uniform(key: int, numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each of some whole numbers."""
    return np.asarray((mix(key, numbers) >> np.uint64(11)) * 2.0**-53)
