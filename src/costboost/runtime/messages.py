"""Messages to shards and parts of a table, and how the answers to them are reduced.

A message is a small frozen value (tables over classes, leaves, nodes or codes; never rows, never a
closure), so that it may go to another thread, process or machine. `answer` runs where the rows
are; `reduce` combines all answers, in any order. `changes` marks messages that change the rows'
state: they are replayed to a worker that replaces a lost one. Messages of one `topic` are dropped
from that replay when a message comes that `ends` it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

__all__ = ["Command", "MaxMessage", "Message", "TupleSumMessage", "largest", "total", "totals"]


def total(answers: Sequence[Any]) -> Any:
    """Return the sum of the answers of all shards."""
    return sum(answers[1:], answers[0])


def totals(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sums of answers that are tuples, entry by entry."""
    return answers[0] if len(answers) == 1 else tuple(map(total, zip(*answers, strict=True)))


def largest(answers: Sequence[Any]) -> Any:
    """Return the largest answer; of arrays the entrywise maximum."""
    return answers[0] if len(answers) == 1 else reduce(np.maximum, answers)


class Message:
    """A call to all shards or parts; a subclass is a frozen dataclass with an `answer`."""

    changes: ClassVar[bool] = False
    by_part: ClassVar[bool] = False  # answers are reduced all at once, in the order of parts
    ends: ClassVar[bool] = False

    @property
    def topic(self) -> Hashable:
        """Key of what it belongs to and is forgotten with (a model's training).

        None: kept for ever.
        """
        return None

    def lasting(self) -> Message:
        """Return the message to replay to a new worker in place of this one."""
        return self

    def answer(self, shard: Any) -> Any:
        """Return the answer for one shard, or for one part of a table."""
        raise TypeError(f"{type(self).__name__} has no answer: a message must say how to answer.")

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Combine the answers of all shards; by default the sum."""
        return total(answers)


class Command(Message):
    """A message that changes the rows' state and returns nothing."""

    changes = True

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Return None."""


class MaxMessage(Message):
    """A message whose answers are reduced by their maximum."""

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Return the entrywise maximum."""
        return largest(answers)


class TupleSumMessage(Message):
    """A message whose answers are tuples, summed entry by entry."""

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Return the sum of every entry of the tuples."""
        return totals(answers)
