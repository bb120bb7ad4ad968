"""Requests, replies and errors that pass between the driver and its workers."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from costboost._version import __version__
from costboost.runtime.machine import KERNELS
from costboost.runtime.messages import Call

__all__ = [
    "CheckpointError",
    "ClusterError",
    "PartLostError",
    "SourceChangedError",
    "VersionsDifferError",
    "Candidate",
    "Transport",
]


class ClusterError(RuntimeError):
    """A fit on a cluster could not go on."""


class PartLostError(ClusterError):
    """A part of the table could not be held any more, after all that was tried."""


class VersionsDifferError(ClusterError):
    """A worker runs other versions or other compiled kernels than the driver."""


class SourceChangedError(ClusterError):
    """A part of the table read differently the second time."""


class CheckpointError(ClusterError):
    """A checkpoint belongs to another fit, or was written by other versions."""


# Messages over the wire, of any engine.

PROTOCOL = 1  # another number: another wire, refused at the start

Order = Call[Any] | Mapping[int, Call[Any]]


@dataclass(frozen=True)
class Build:
    """Parts to make before anything else: their sources, and digests of what these read before."""

    sources: Mapping[int, Any]
    digests: Mapping[int, str]


@dataclass(frozen=True)
class Request:
    """Orders for one group of parts; a number that comes twice is the same request again."""

    fit: str
    group: int
    number: int
    orders: tuple[Order, ...]
    build: Build | None = None
    journal: Mapping[int, Sequence[Call[Any]]] = field(default_factory=dict)
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
    """An error on a worker; the group that failed is dropped there."""

    fit: str
    group: int
    number: int
    part: int | None
    traceback: str
    error: BaseException | None = None


def message_of(order: Order) -> Call[Any]:
    """Return the message of an order, or one of them: all are of one class."""
    return order if isinstance(order, Call) else next(iter(order.values()))


def order_for(order: Order | Sequence[Call[Any]], part: int) -> Call[Any]:
    """Return the message for one part, of an order that is one message for all or one for each."""
    return order if isinstance(order, Call) else order[part]


def by_part(order: Order) -> bool:
    """Return whether answers stay separate by part until all are there, in the order of parts."""
    return message_of(order).message.by_part


def for_parts(order: Call[Any] | Sequence[Call[Any]], parts: Iterable[int]) -> Order:
    """Return an order for some parts only, as one message for all or a dict by part."""
    return order if isinstance(order, Call) else {part: order[part] for part in parts}


def put_together(orders: Sequence[Order], replies: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Reduce the answers of some groups, order by order; those by part are collected."""
    return tuple(
        _reduced(order, [answers[i] for answers in replies]) for i, order in enumerate(orders)
    )


def _reduced(order: Order, answers: list[Any]) -> Any:
    if by_part(order):
        return {part: answer for held in answers for part, answer in held.items()}
    return message_of(order).reduce(answers)


# Identity: workers must run the same versions and kernels as the driver, for the same bits.

Identity = dict[str, str]


@cache
def _digest_of_kernels() -> str:
    """Hash the kernels in use: compiled files, or their sources where they run interpreted."""
    digest = hashlib.blake2b(digest_size=8)
    for name in KERNELS:
        path = Path(str(importlib.import_module(name).__file__))
        digest.update(f"{name}{path.suffix}".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def identity() -> Identity:
    """Return versions and kernel digest of this process, by name.

    Examples
    --------
    >>> sorted(identity())
    ['costboost', 'kernels', 'numpy', 'protocol', 'python']
    """
    return {
        "costboost": __version__,
        "protocol": str(PROTOCOL),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "numpy": np.__version__,
        "kernels": _digest_of_kernels(),
    }


def differences(ours: Identity, theirs: Identity) -> list[str]:
    """Describe the entries in which two identities differ.

    Examples
    --------
    >>> differences({"numpy": "2.3.1", "python": "3.11"}, {"numpy": "1.26.4", "python": "3.11"})
    ['numpy 1.26.4 (here 2.3.1)']
    """
    names = [name for name in ours if ours[name] != theirs.get(name)]
    return [f"{name} {theirs.get(name, 'unknown')} (here {ours[name]})" for name in names]


def check(worker: str, theirs: Identity, ours: Identity | None = None) -> None:
    """Refuse a worker of another make, by name."""
    found = differences(ours or identity(), theirs)
    if found:
        raise VersionsDifferError(
            f"Worker {worker} runs {', '.join(found)}. The model would depend on who computes "
            "what: install the same versions, and the same build of costboost, everywhere."
        )


# The interface of an engine.


@dataclass(frozen=True)
class Candidate:
    """A live worker: its identity, and the parts it can hold (None: any)."""

    identity: Identity
    parts: frozenset[int] | None = None


class Transport(Protocol):
    """Interface of engines (Dask, Spark): start workers, pass requests, collect replies."""

    @property
    def let_go(self) -> Collection[str]:
        """Names of those that were lost only because others were: their parts did nothing."""

    def start(self) -> None:
        """Reach the workers."""

    def workers(self) -> Mapping[str, Candidate]:
        """Return the live workers."""

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send the requests of a trip, without waiting."""

    def collect(self, timeout: float) -> Sequence[Reply | Failure]:
        """Wait for replies."""

    def lost(self) -> Mapping[str, str]:
        """Return lost workers with the reason."""

    def close(self) -> None:
        """Shut the workers down."""
