"""What may be asked of those who hold rows: the kinds of messages and how answers are reduced.

A message is a small frozen value (tables over classes, leaves, nodes or codes; never rows, never a
closure), so that it may go to another thread, process or machine. `answer` runs where the rows
are; all answers are put together by `reduce`, in any order. `changes` says whether the rows' state
is another one afterwards: what a new worker would have to be told again. It need not be told what
is over: messages of one `topic` are forgotten when one comes that `ends` it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

__all__ = ["Command", "Largest", "Message", "Parts", "largest", "total", "totals"]


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
    ends: ClassVar[bool] = False

    @property
    def topic(self) -> Hashable:
        """What it is about, if that will end; None: it stays."""
        return None

    def lasting(self) -> Message:
        """Return what of it a new worker has to be told."""
        return self

    def answer(self, shard: Any) -> Any:
        """Answer for one shard's rows, or for those of one part."""
        raise TypeError(f"{type(self).__name__} has no answer: a message must say how to answer.")

    def reduce(self, answers: Sequence[Any]) -> Any:
        """Put all answers together; by default they are added up."""
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
