"""What may be asked of those who hold rows.

A message is a small frozen value (tables over classes, leaves, nodes or codes; never rows, never a
closure), so that it may go to another thread, process or machine. `answer` runs where the rows
are; the answers of all shards are put together by `reduce`, in any order. `changes` says whether
the rows' state is another one afterwards: what a new worker would have to be told again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.shards.rows import Mode, Shard, TreeShape
from costboost.shards.sampling import RowSample

Int64 = NDArray[np.int64]


def total(answers: Sequence[Any]) -> Any:
    """Add answers up."""
    return sum(answers[1:], answers[0])


def totals(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add up answers of several parts, part by part."""
    return answers[0] if len(answers) == 1 else tuple(map(total, zip(*answers, strict=True)))


def largest(answers: Sequence[Any]) -> Any:
    """Take the largest answer, entry by entry."""
    return answers[0] if len(answers) == 1 else reduce(np.maximum, answers)


class Message:
    """A question or a command; a subclass is a frozen dataclass with an `answer`."""

    changes: ClassVar[bool] = False
    by_part: ClassVar[bool] = False  # answers are reduced all at once, in the order of parts

    def answer(self, shard: Shard) -> Any:
        """Answer for one shard's rows."""
        raise TypeError(f"{type(self).__name__} has no answer: a message must say how to answer.")

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Put the answers of all shards together; by default they are added up."""
        return total(answers)


class Command(Message):
    """A change of state without an answer."""

    changes = True

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Nothing was answered."""


class Largest(Message):
    """A question whose largest answer counts."""

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Return the largest, entry by entry."""
        return largest(answers)


class Parts(Message):
    """A question with an answer of several parts, each of which is added up."""

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Add up every part."""
        return totals(answers)


# --- trees


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
