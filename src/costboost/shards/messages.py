"""What may be asked of those who hold rows: the messages that grow trees.

`runtime.messages` says what a message is; those of a family of boosting are in its own room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.messages import Command, Largest, Message, Parts, largest, total, totals
from costboost.shards.rows import Mode, Shard, TreeShape
from costboost.shards.sampling import RowSample

__all__ = [
    "Begin",
    "Command",
    "Count",
    "Expand",
    "HeaviestRow",
    "Histogram",
    "Largest",
    "Message",
    "Parts",
    "Settle",
    "WeighLeaves",
    "largest",
    "total",
    "totals",
]

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Begin(Message):
    """Start a tree on all rows, or on a sample of them; count the rows in its root."""

    sample: RowSample | None = None

    changes = True

    def answer(self, shard: Shard) -> int:
        """Count the rows in the root."""
        return shard.begin(self.sample)


@dataclass(frozen=True)
class Histogram(Message):
    """Add a node up, by column and code: all columns, or some."""

    node: int
    mode: Mode
    columns: Int64 | None = None

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        return shard.histogram(self.node, self.mode, self.columns)


@dataclass(frozen=True)
class Expand(Parts):
    """Divide a node; count the rows that go left, and add them up in each of the modes."""

    node: int
    left: int
    feature: int
    goes_left: NDArray[np.uint8]
    modes: tuple[Mode, ...]

    changes = True

    def lasting(self) -> Expand:
        """Return the division alone: sums that are missing are made when they are asked for."""
        return replace(self, modes=())

    def answer(self, shard: Shard) -> tuple[Any, ...]:
        """Return the number of rows that go left, and their sums."""
        sizes = shard.divide(self.node, self.left, self.feature, self.goes_left)
        lefts = (shard.left_histogram(self.node, self.left, sizes, mode) for mode in self.modes)
        return sizes[0], *lefts


@dataclass(frozen=True)
class Count(Message):
    """Count the rows of a node, by column and code: all columns, or some."""

    node: int
    columns: Int64 | None = None

    def answer(self, shard: Shard) -> Int64:
        """Return the counts."""
        return shard.counts(self.node, self.columns)


@dataclass(frozen=True)
class Settle(Message):
    """Let every row find its leaf in the tree that was grown; count the rows of every leaf."""

    shape: TreeShape

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Write the leaves; return the counts."""
        return shard.settle(self.shape)


@dataclass(frozen=True)
class HeaviestRow(Largest):
    """Ask for the largest sample weight; 0 where rows have none."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        return shard.heaviest


@dataclass(frozen=True)
class WeighLeaves(Message):
    """Add up the sample weights of the rows of every leaf, on the grid of a scale."""

    n_leaves: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        return shard.weigh_leaves(self.n_leaves, self.scale)
