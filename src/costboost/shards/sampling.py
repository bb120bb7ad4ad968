"""Random draws by hashing (seed, round, node, row): the same whatever the order and the shards.

Every draw is a hash of its own key, so shards, threads and clusters draw the same rows and columns
in any order of asking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.typing import Floats, Int64, Words

_GOLDEN = 0x9E3779B97F4A7C15
_ROUND = 0xD1B54A32D192ED03

_FACTORS = (_GOLDEN, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_SHIFTS = (30, 27, 31)
_WORDS = tuple(np.uint64(factor) for factor in _FACTORS)
_BY = tuple(np.uint64(shift) for shift in _SHIFTS)


def mix(key: int | Words, numbers: NDArray[Any]) -> Words:
    """Return 64 random bits for each number: SplitMix64 (Steele, Lea and Flood 2014)."""
    z = numbers.astype(np.uint64)  # a copy; arrays wrap without a word
    z *= _WORDS[0]
    z += np.uint64(key % 2**64) if isinstance(key, int) else key
    z ^= z >> _BY[0]
    z *= _WORDS[1]
    z ^= z >> _BY[1]
    z *= _WORDS[2]
    z ^= z >> _BY[2]
    return z


def mix_one(key: int, number: int) -> int:
    """Return the 64 random bits of one number: `mix` without NumPy's overhead."""
    z = (number * _FACTORS[0] + key) % 2**64
    z = (z ^ (z >> _SHIFTS[0])) * _FACTORS[1] % 2**64
    z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[2] % 2**64
    return z ^ (z >> _SHIFTS[2])


def round_key(seed: int, number: int) -> int:
    """Return the hash key of one round's draws."""
    return (seed * _GOLDEN + number * _ROUND) % 2**64


@dataclass(frozen=True)
class RowSample:
    """A row subsample: each row is kept with probability `share`, by the hash of its number.

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
        """Return the mask of the row numbers that are kept."""
        # A share of 1 must not wrap to 0.
        limit = np.uint64(min(int(self.share * 2.0**64), 2**64 - 1))
        return np.asarray(mix(round_key(self.seed, self.number), rows) < limit)


@dataclass(frozen=True)
class ColumnDraw:
    """A column subsample of every node: `width` of `n_features`, by the hash of its number.

    `stream` distinguishes the trees of one round, one for each output. `among` are the columns to
    draw from, ascending; None is all of them.
    """

    width: int
    n_features: int
    seed: int
    number: int
    stream: int = 0
    among: tuple[int, ...] | None = None

    @property
    def _all(self) -> Int64:
        return np.arange(self.n_features) if self.among is None else np.array(self.among)

    def columns(self, node: int, allowed: Int64 | None = None) -> Int64:
        """Return a node's columns, ascending: those with the least hashes, of all or of some."""
        # Sorted, so that of equal splits the first column wins, as without a draw.
        key = mix_one(round_key(self.seed, self.number), self.stream * 2**32 + node + 1)
        among = self._all if allowed is None else allowed
        chosen = np.argsort(mix(key, among), kind="stable")[: self.width]
        chosen.sort()
        return among[chosen]

    def table(self, n_nodes: int) -> Int64:
        """Return the columns of the first nodes, (n_nodes, width); of all columns."""
        numbers = np.arange(1, n_nodes + 1, dtype=np.uint64) + np.uint64(self.stream * 2**32)
        keys = mix(round_key(self.seed, self.number), numbers)
        columns = self._all
        among = np.tile(columns, (n_nodes, 1))
        hashes = mix(keys[:, None], among)  # of different columns always different
        # The first hash that is too large, of each node: all smaller ones are drawn.
        beyond = np.partition(hashes, self.width, axis=1)[:, self.width, None]
        chosen = columns[np.flatnonzero(hashes < beyond) % len(columns)]
        return chosen.reshape(n_nodes, self.width)


def column_draw(
    width: int | None,
    n_features: int,
    seed: int,
    number: int,
    stream: int = 0,
    among: tuple[int, ...] | None = None,
) -> ColumnDraw | None:
    """Return the column subsample of a round's tree; None where all columns are used."""
    if width is None or width >= (n_features if among is None else len(among)):
        return None
    return ColumnDraw(width, n_features, seed, number, stream, among)


def uniform(key: int, numbers: NDArray[Any]) -> Floats:
    """Return a number in [0, 1) for each of some whole numbers."""
    return np.asarray((mix(key, numbers) >> np.uint64(11)) * 2.0**-53)
