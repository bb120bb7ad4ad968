"""The worker: holds parts, and answers numbered requests about them.

    worker = Worker(fit, make, threads=4)
    reply = worker.answer(request)        # a Reply or a Failure, never an exception

`make(source)` makes a part; a part is whatever the messages of a fit know how to ask. A worker
holds groups {number: Group}; a group keeps its last reply, so that a request which comes twice
is answered once and replied to twice. Where anything fails the group is let go, since some of its
parts may have changed and others not, and the driver gets the traceback. One request at a time is
answered for each group, by several threads if there are several parts.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from costboost.clusters.journal import DigestedSource
from costboost.clusters.protocol import (
    Failure,
    Order,
    Reply,
    Request,
    by_part,
    message_of,
    order_for,
)

__all__ = ["Worker"]

Make = Callable[[Any], Any]


@dataclass
class _Held:
    """One part, its source, and whether the driver knows what the source read."""

    part: Any
    source: DigestedSource
    reported: str | None = None


@dataclass
class _PartGroup:
    """Parts that were built together, and the reply to the last request."""

    parts: dict[int, _Held] = field(default_factory=dict)
    number: int = -1
    reply: Reply | None = None
    lock: Lock = field(default_factory=Lock)


class _StaleError(Exception):
    """A request of before, or for somebody else."""


class _PartFailedError(Exception):
    """Raised with the number of the part that failed; the cause is chained."""

    def __init__(self, part: int) -> None:
        super().__init__(part)
        self.part = part


class Worker:
    """Holder of some parts of one fit.

    Parameters
    ----------
    fit : str
        The fit that it works for; requests of another one are failures.
    make : callable
        Makes a part of a source.
    threads : int
        How many parts are worked on at a time.
    sources : mapping, optional
        Sources that are here already, by part: those that the driver sends as None.
    """

    def __init__(
        self,
        fit: str,
        make: Make,
        threads: int = 1,
        sources: Mapping[int, Any] | None = None,
    ) -> None:
        self.fit = fit
        self.make = make
        self.sources = dict(sources or {})
        self.closed = False
        self._groups: dict[int, _PartGroup] = {}
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def answer(self, request: Request) -> Reply | Failure:
        """Return the answer to a request, or a description of the failure."""
        try:
            return self._answer(request)
        except _StaleError as error:  # nobody waits for it, and the group is as good as before
            return _failure(request, error)
        except Exception as error:
            self._groups.pop(request.group, None)
            return _failure(request, error)

    def close(self) -> None:
        """Drop all parts; a request under way ends before its next message."""
        self.closed = True
        self._groups.clear()
        self.sources.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, request: Request) -> Reply:
        if request.fit != self.fit:
            raise _StaleError(f"A request of fit {request.fit} came to a worker of {self.fit}.")
        for number in request.forget:
            self._groups.pop(number, None)
        group = self._groups.get(request.group)
        if group is None and request.build is not None:
            group = self._groups.setdefault(request.group, _PartGroup())
        if group is None:
            raise LookupError(f"Group {request.group} is not here: it was lost or let go.")
        with group.lock:
            if group.reply is not None and group.number == request.number:
                return group.reply
            if request.number <= group.number:
                raise _StaleError(f"Request {request.number} came after {group.number}.")
            if request.build is not None:
                self._build(group, request)
            self._replay(group, request.journal)
            group.reply = self._work(group, request)
            group.number = request.number
            return group.reply

    def _build(self, group: _PartGroup, request: Request) -> None:
        """Return the parts of a group; their sources are read on demand."""
        assert request.build is not None
        for number, sent in request.build.sources.items():
            known = request.build.digests.get(number)
            source = self.sources[number] if sent is None else sent
            group.parts[number] = _Held(None, DigestedSource(number, source, known), known)

        def make(number: int) -> None:
            held = group.parts[number]
            held.part = self.make(held.source)

        self._each(group, make)

    def _replay(self, group: _PartGroup, journal: Mapping[int, Any]) -> None:
        """Replay earlier messages that changed the parts; answers are discarded."""

        def replay(number: int) -> None:
            for message in journal[number]:
                self._go_on()
                message.answer(group.parts[number].part)

        if journal:
            self._each(group, replay)

    def _work(self, group: _PartGroup, request: Request) -> Reply:
        """Answer the orders part by part, and reduce over parts."""

        def work(number: int) -> list[Any]:
            return [self._ask(group, number, order) for order in request.orders]

        answers = self._each(group, work)
        reduced = [
            _reduced(order, {number: own[i] for number, own in answers.items()})
            for i, order in enumerate(request.orders)
        ]
        digests = _news(group)
        return Reply(request.fit, (request.group,), request.number, tuple(reduced), digests)

    def _ask(self, group: _PartGroup, number: int, order: Order) -> Any:
        self._go_on()
        return order_for(order, number).answer(group.parts[number].part)

    def _each(self, group: _PartGroup, task: Callable[[int], Any]) -> dict[int, Any]:
        """Do something for every part, in threads; results in the order of parts."""
        numbers = sorted(group.parts)
        named = partial(_named, task)
        done = map(named, numbers) if self._pool is None else self._pool.map(named, numbers)
        return dict(zip(numbers, done, strict=True))

    def _go_on(self) -> None:
        if self.closed:
            raise InterruptedError("The fit was ended.")


def _named(task: Callable[[int], Any], number: int) -> Any:
    """Do something for a part; remember which part it was if it fails."""
    try:
        return task(number)
    except Exception as error:
        raise _PartFailedError(number) from error


def _reduced(order: Order, answers: dict[int, Any]) -> Any:
    """Reduce the answers of a worker's parts, unless they are wanted by part."""
    return answers if by_part(order) else message_of(order).reduce(list(answers.values()))


def _news(group: _PartGroup) -> dict[int, str]:
    """Return digests of sources that were read since the last reply, by part."""
    news = {}
    for number, held in group.parts.items():
        if held.source.digest is not None and held.source.digest != held.reported:
            news[number] = held.reported = held.source.digest
    return news


def _failure(request: Request, error: BaseException) -> Failure:
    part = error.part if isinstance(error, _PartFailedError) else None
    cause = error.__cause__ if isinstance(error, _PartFailedError) and error.__cause__ else error
    text = "".join(traceback.format_exception(cause))
    return Failure(request.fit, request.group, request.number, part, text, _portable(cause))


def _portable(error: BaseException) -> BaseException | None:
    """Return the exception if it survives a journey."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return error
