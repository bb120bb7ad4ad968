"""Requests to actors on the workers of a Dask cluster: one actor for every worker.

Actors are asked from the client's event loop; what comes back goes into a queue that the driver's
thread waits at. Nothing is opened but what Dask has open: where the client can reach the workers
they are asked directly, which takes half the time, and by way of the scheduler otherwise.
"""

from __future__ import annotations

import queue
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from distributed import Client, Future

from costboost.clusters.protocol import Build, Candidate, Failure, Reply, Request
from costboost.dask.workers import Bundle, Gone, Roster, ask, deliver

__all__ = ["DaskTransport"]

CHILDREN = 16  # of one that passes requests on

Addressed = tuple[str, str, Bundle]


class DaskTransport:
    """The way to the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    fit : str
    make : callable
        Makes a part of a source.
    pieces : sequence of sequences
        What each part is made of: delayed partitions, which `make_source` takes when computed.
    make_source : callable
    """

    let_go: frozenset[str] = frozenset()  # workers are lost one by one

    def __init__(
        self,
        client: Client,
        fit: str,
        make: Callable[[Any], Any],
        pieces: Sequence[Sequence[Any]],
        make_source: Callable[..., Any],
    ) -> None:
        self.client, self.fit = client, fit
        self.children = CHILDREN
        self._roster = Roster(client, fit, make)
        self._pieces = pieces
        self._make_source = make_source
        self._outcomes: queue.SimpleQueue[Reply | Failure | Gone] = queue.SimpleQueue()

    def start(self) -> None:
        """Start an actor on every worker."""
        self._roster.start()

    def workers(self) -> Mapping[str, Candidate]:
        """Return who is there."""
        self._roster.look()
        return dict(self._roster.known)

    def lost(self) -> Mapping[str, str]:
        """Return who is gone."""
        return self._roster.lost

    def close(self) -> None:
        """Shut the actors down."""
        self._roster.close()

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send the requests of a trip, those without rows to bring by a tree."""
        there = [(name, request) for name, request in requests if name in self._roster.known]
        plain: dict[str, list[Request]] = {}
        for name, request in there:
            if request.build is None:
                plain.setdefault(name, []).append(request)
        self._bring([(name, request) for name, request in there if request.build is not None])
        bundles = [self._addressed(name, *own) for name, own in plain.items()]
        for bundle in _planted(bundles, self.children):
            self.client.loop.add_callback(self._ask, *bundle)

    def _addressed(self, name: str, *requests: Request) -> Addressed:
        return name, self._roster.addresses[name], Bundle(self.fit, requests)

    def collect(self, timeout: float) -> Sequence[Reply | Failure]:
        """Wait for replies; look who is there when none come."""
        taken = []
        try:
            taken.append(self._outcomes.get(timeout=timeout))
            while True:
                taken.append(self._outcomes.get_nowait())
        except queue.Empty:
            pass
        if not taken:
            self._roster.look()
        for gone in taken:
            if isinstance(gone, Gone):
                self._bury(gone)
        return [outcome for outcome in taken if not isinstance(outcome, Gone)]

    def _bury(self, gone: Gone) -> None:
        """One is lost; those to whom it should have passed requests on are asked directly."""
        self._roster.bury(gone.name, gone.why)
        for child in gone.bundle.passed:
            self.client.loop.add_callback(self._ask, *child)

    async def _ask(self, name: str, address: str, bundle: Bundle) -> None:
        for outcome in await ask(self._roster.reach, name, address, bundle):
            self._outcomes.put(outcome)

    # Rows.

    def _bring(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Compute rows, bring them to workers, then send the requests."""
        parts = [part for _, request in requests for part in _parts(request)]
        computed = iter(self._computed(parts, requests))
        for name, request in requests:
            futures = {}
            for part in _parts(request):
                rows = [next(computed) for _ in self._pieces[part]]
                futures[part] = self._deliver(name, request.group, part, rows)
            assert request.build is not None
            empty = Build(dict.fromkeys(futures), request.build.digests)
            empty_request = replace(request, build=empty)
            self.client.loop.add_callback(self._ask_when_there, name, empty_request, futures)

    def _computed(self, parts: list[int], requests: Sequence[tuple[str, Request]]) -> list[Future]:
        """Compute the pieces of parts; those built again only by workers that have not failed.

        Dask may not know yet that a worker is silent, and would wait for it.
        """
        again = any(request.build is not None and request.build.digests for _, request in requests)
        there = [self._roster.addresses[name] for name, _ in requests] if again else None
        pieces = [piece for part in parts for piece in self._pieces[part]]
        futures: list[Future] = self.client.compute(pieces, workers=there)
        return futures

    def _deliver(self, name: str, group: int, part: int, rows: Sequence[Future]) -> Future:
        where = (self.fit, group, part, self._make_source)
        there = [self._roster.addresses[name]]
        future = self.client.submit(deliver, *where, *rows, pure=False, workers=there)
        self._roster.owe(name, future)
        return future

    async def _ask_when_there(
        self, name: str, request: Request, futures: dict[int, Future]
    ) -> None:
        for part, future in futures.items():
            try:
                await future
            except BaseException as error:
                text = "".join(traceback.format_exception(error))
                known = error if isinstance(error, Exception) else None
                where = (request.fit, request.group, request.number, part)
                self._outcomes.put(Failure(*where, text, known))
                return
        futures.clear()
        self._roster.receive(name)
        await self._ask(*self._addressed(name, request))


def _parts(request: Request) -> list[int]:
    """Return the parts that a request has to be brought the rows of."""
    assert request.build is not None
    return list(request.build.sources)


def _planted(bundles: list[Addressed], children: int) -> list[Addressed]:
    """Return a tree of bundles: some are sent directly, and each of these passes others on.

    A small number is sent directly, which takes the least time.
    """
    if len(bundles) <= children:
        return bundles
    heads, rest = bundles[:children], bundles[children:]
    shares = [rest[i::children] for i in range(children)]
    return [
        (name, address, replace(bundle, passed=tuple(_planted(share, children))))
        for (name, address, bundle), share in zip(heads, shares, strict=True)
    ]
