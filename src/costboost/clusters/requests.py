"""What goes over the wire, whatever the wire is.

A *group* is some parts that were built together on one worker. It is never changed: parts that
are built again belong to a new group with a new number, so that late or repeated requests to the
old one can do no harm. A request says to one group:

    forget    let these groups go, which nobody will ask again
    build     make these parts first: {part: source}, with what their sources read before
    journal   tell them again what changed parts before, by part, without reductions
    orders    then answer these: one message for all parts, or {part: message}

and gets one reply, in which the answers of its parts are reduced already, except those of messages
that are kept by part (`Message.by_part`), which stay {part: answer}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from costboost.shards.messages import Message

PROTOCOL = 1  # another number: another wire, refused at the start

Order = Message | Mapping[int, Message]


@dataclass(frozen=True)
class Build:
    """Parts to make before anything else: their sources, and digests of what these read before."""

    sources: Mapping[int, Any]
    digests: Mapping[int, str]


@dataclass(frozen=True)
class Request:
    """What one group is asked: the same number twice is the same question."""

    fit: str
    group: int
    number: int
    orders: tuple[Order, ...]
    build: Build | None = None
    journal: Mapping[int, Sequence[Message]] = field(default_factory=dict)
    forget: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reply:
    """The answers of one group, or of several: one for each order."""

    fit: str
    groups: tuple[int, ...]
    number: int
    answers: tuple[Any, ...]
    digests: Mapping[int, str]


@dataclass(frozen=True)
class Failure:
    """What went wrong where the rows are. The group that failed is gone."""

    fit: str
    group: int
    number: int
    part: int | None
    traceback: str
    error: BaseException | None = None


def message_of(order: Order) -> Message:
    """Return the message of an order, or one of them: all are of one class."""
    return order if isinstance(order, Message) else next(iter(order.values()))


def told(order: Order | Sequence[Message], part: int) -> Message:
    """Return what one part is told by an order that is for all of them or by part."""
    return order if isinstance(order, Message) else order[part]


def by_part(order: Order) -> bool:
    """Whether the answers of parts stay apart until all are there, in the order of parts."""
    return message_of(order).by_part


def for_parts(order: Message | Sequence[Message], parts: Iterable[int]) -> Order:
    """Return what some parts are told by an order that is for all of them or by part."""
    return order if isinstance(order, Message) else {part: order[part] for part in parts}


def put_together(orders: Sequence[Order], replies: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Reduce the answers of some groups, order by order; those by part are collected."""
    return tuple(
        _reduced(order, [answers[i] for answers in replies]) for i, order in enumerate(orders)
    )


def _reduced(order: Order, answers: list[Any]) -> Any:
    if by_part(order):
        return {part: answer for held in answers for part, answer in held.items()}
    return message_of(order).reduce(answers)
