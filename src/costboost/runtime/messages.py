"""Messages to shards and parts of a table, and how the answers to them are reduced.

    @message(reduce=largest, changes=True)
    def multiply_weights(shard: Shard, *, factor: float) -> float: ...

    largest = shards.call([multiply_weights(factor=0.5)])[0]

A message is a module-level function whose first argument is a shard, or a part of a table; the
others are keywords. Called without the shard, it returns a `Call`: the message and its arguments
(tables over classes, leaves, nodes or codes; never rows, never a closure), a small value that may
go to another thread, process or machine. `Call.answer` runs where the rows are, and `Call.reduce`
combines all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import reduce as fold
from functools import update_wrapper
from importlib import import_module
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np

__all__ = ["Call", "Message", "first", "join", "largest", "message", "ranges", "total", "totals"]

P = ParamSpec("P")
R = TypeVar("R")

Range = tuple[float, float]

# Reductions: the answers of all shards -> one, in any order. A single answer is the result.


def total(answers: Sequence[Any]) -> Any:
    """Return the sum of the answers of all shards."""
    return sum(answers[1:], answers[0])


def totals(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sums of answers that are tuples, entry by entry."""
    return answers[0] if len(answers) == 1 else tuple(map(total, zip(*answers, strict=True)))


def largest(answers: Sequence[Any]) -> Any:
    """Return the largest answer; of arrays the entrywise maximum."""
    return answers[0] if len(answers) == 1 else fold(np.maximum, answers)


def ranges(answers: Sequence[Range]) -> Range:
    """Return (largest, smallest) of answers that are such pairs themselves."""
    return max(top for top, _ in answers), min(low for _, low in answers)


def first(answers: Sequence[R]) -> R:
    """Return one of the answers, where all shards give the same."""
    return answers[0]


def join(answers: Sequence[list[R]]) -> list[R]:
    """Concatenate answers that are lists."""
    return [one for answer in answers for one in answer]


class Message(Generic[P, R]):
    """A function of a shard, or of a part of a table; called without it, it makes a `Call`.

    Attributes
    ----------
    function : callable
        Called with the shard or part, and with the arguments of a call.
    reduce, reduce_with, changes, lasting, topic, by_part, ends
        As in `message`.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        function: Callable[Concatenate[Any, P], R],
        *,
        reduce: Callable[[Sequence[Any]], Any] | None,
        reduce_with: Callable[..., Any] | None,
        changes: bool | Callable[..., bool],
        lasting: Callable[..., dict[str, Any]] | None,
        topic: str | None,
        by_part: bool,
        ends: bool,
    ) -> None:
        self.function = function
        self.reduce, self.reduce_with = reduce, reduce_with
        self.changes, self.lasting = changes, lasting
        self.topic, self.by_part, self.ends = topic, by_part, ends
        update_wrapper(self, function)
        _MESSAGES[function.__module__, function.__qualname__] = self

    def __call__(self, *args: P.args, **arguments: P.kwargs) -> Call[R]:
        """Return the call with these arguments."""
        if args:
            raise TypeError(f"{self.__qualname__} takes its arguments by name.")
        return Call(self, arguments)

    def __repr__(self) -> str:
        return f"<message {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        return find_message, (self.__module__, self.__qualname__)


# All messages, by module and name: pickles hold names, and are restored from here only.
_MESSAGES: dict[tuple[str, str], Message[..., Any]] = {}


def find_message(module: str, name: str) -> Message[..., Any]:
    """Return a message by its module and name.

    Only functions decorated by `message` are found, whatever a pickle names; no module is imported
    for it but those of this package.

    Raises
    ------
    LookupError
        If there is no such message.

    Examples
    --------
    >>> find_message("os", "system")
    Traceback (most recent call last):
    ...
    LookupError: os.system is no message of costboost: run the same version everywhere.
    """
    if (module, name) not in _MESSAGES and module.split(".")[0] == "costboost":
        with suppress(ImportError):  # said below
            import_module(module)
    try:
        return _MESSAGES[module, name]
    except KeyError:
        raise LookupError(
            f"{module}.{name} is no message of costboost: run the same version everywhere."
        ) from None


class Call(NamedTuple, Generic[R]):
    """A message and its arguments; R is the type of each answer, and of all of them reduced."""

    message: Message[..., R]
    arguments: dict[str, Any]

    def answer(self, shard: Any) -> R:
        """Return the answer for one shard, or for one part of a table."""
        return self.message.function(shard, **self.arguments)

    def reduce(self, answers: Sequence[R]) -> R:
        """Combine the answers of all shards."""
        reduce, reduce_with = self.message.reduce, self.message.reduce_with
        found: Any = None
        if reduce is not None:
            found = reduce(answers)
        elif reduce_with is not None:
            found = reduce_with(answers, **self.arguments)
        reduced: R = found
        return reduced

    @property
    def changes(self) -> bool:
        """Whether it changes the rows' state: it is then replayed to a worker that replaces one."""
        changes = self.message.changes
        return changes if isinstance(changes, bool) else changes(**self.arguments)

    def lasting(self) -> Call[R]:
        """Return the call to replay to a new worker in place of this one."""
        lasting = self.message.lasting
        return self if lasting is None else Call(self.message, lasting(**self.arguments))

    @property
    def topic(self) -> Hashable:
        """Key under which it is replayed until a call ends it: (topic, `key`); None: for ever."""
        topic = self.message.topic
        return None if topic is None else (topic, self.arguments["key"])


def message(
    *,
    reduce: Callable[[Sequence[Any]], Any] | None = None,
    reduce_with: Callable[..., Any] | None = None,
    changes: bool | Callable[..., bool] = False,
    lasting: Callable[..., dict[str, Any]] | None = None,
    topic: str | None = None,
    by_part: bool = False,
    ends: bool = False,
) -> Callable[[Callable[Concatenate[Any, P], R]], Message[P, R]]:
    """Make a message of a module-level function of a shard, or of a part of a table.

    Parameters
    ----------
    reduce : callable, optional
        Combines the answers of all shards, in any order. None: there is nothing to return.
    reduce_with : callable, optional
        In place of `reduce`, where it needs the arguments of the call too: as keywords.
    changes : bool, default=False
        Whether it changes the rows' state, so that it must be replayed to a worker that replaces a
        lost one; or a function of the arguments that says so.
    lasting : callable, optional
        Returns the arguments to replay, given those of the call, where a new worker needs less.
    topic : str, optional
        Calls of one topic and one `key` are no longer replayed once one that `ends` it has come.
    by_part : bool, default=False
        Whether answers are reduced all at once, in the order of the parts.
    ends : bool, default=False
        Whether it does nothing but end its topic.

    Examples
    --------
    >>> @message(reduce=max)
    ... def longest(shard, *, unit):
    ...     return len(shard) / unit
    >>> call = longest(unit=2)
    >>> call.reduce([call.answer("abc"), call.answer("a")])
    1.5
    """

    def make(function: Callable[Concatenate[Any, P], R]) -> Message[P, R]:
        return Message(
            function,
            reduce=reduce,
            reduce_with=reduce_with,
            changes=changes,
            lasting=lasting,
            topic=topic,
            by_part=by_part,
            ends=ends,
        )

    return make
