"""The way between a driver and its workers: what an engine has to offer.

A transport is a small class with five methods. It carries `Request` objects to workers and their
`Reply` or `Failure` back (by pickle, if that is what it does), and knows who is alive. It keeps no
state of a fit: numbering, repeating, building again and deadlines are the driver's.

    start()             reach the workers that are there
    workers()           {name: Candidate}: who is alive now, what it runs, which parts it can hold
    submit(requests)    send [(name, request)] without waiting; all requests of a trip at once, so
                        that replies may be put together on the way (`requests.put_together`)
    collect(timeout)    wait for replies, at most so many seconds; [] is an answer too: sooner if
                        somebody was lost or came
    lost()              {name: why} of all that are gone
    close()             let the workers go: parts are forgotten, whatever is being computed

A name means one process for ever: who comes back has a new name. A reply may come late, twice or
never; a request to one that is lost may be dropped silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from costboost.clusters.handshake import Identity
from costboost.clusters.requests import Failure, Reply, Request

__all__ = ["Candidate", "Transport"]


@dataclass(frozen=True)
class Candidate:
    """A worker that is alive: what it runs, and which parts it can hold (None: any)."""

    identity: Identity
    parts: frozenset[int] | None = None


class Transport(Protocol):
    """What a driver needs of an engine."""

    def start(self) -> None:
        """Reach the workers."""

    def workers(self) -> Mapping[str, Candidate]:
        """Return who is alive now."""

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send the requests of a trip, without waiting."""

    def collect(self, timeout: float) -> Sequence[Reply | Failure]:
        """Wait for replies."""

    def lost(self) -> Mapping[str, str]:
        """Return who is gone, and why."""

    def close(self) -> None:
        """Let the workers go."""
