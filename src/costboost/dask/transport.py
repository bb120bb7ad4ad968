"""Requests to actors on the workers of a Dask cluster: one actor for every worker.

Actors are asked from the client's event loop; what comes back goes into a queue that the driver's
thread waits at. Who is alive is what the scheduler says. Nothing is opened but what Dask has open:
where the client can reach the workers they are asked directly, which takes half the time, elsewhere
by way of the scheduler.
"""

from __future__ import annotations

import asyncio
import queue
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from distributed import Client, Future

from costboost.clusters.requests import Build, Failure, Reply, Request
from costboost.clusters.transport import Candidate
from costboost.dask.holding import Bundle, Gone, Holder, ask, call, deliver, key_of

__all__ = ["DaskTransport"]

CHILDREN = 16  # of one that passes requests on
_LOOK = 0.5  # seconds between two questions to the scheduler
_REACH = 30.0  # seconds to make an actor and hear from it
_CLOSE = 2.0  # seconds for an actor to let its parts go


class DaskTransport:
    """The way to the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    fit : str
    make : callable
        Makes a part of a source.
    pieces : sequence of list
        What each part is made of: delayed partitions, which `make_source` takes when computed.
    make_source : callable
    """

    def __init__(
        self,
        client: Client,
        fit: str,
        make: Callable[[Any], Any],
        pieces: Sequence[Sequence[Any]],
        make_source: Callable[..., Any],
    ) -> None:
        self.client = client
        self.fit = fit
        self._reach: Callable[[str], Any] = client.rpc
        self.children = CHILDREN
        self._make = make
        self._pieces = pieces
        self._make_source = make_source
        self._futures: dict[str, Future] = {}
        self._known: dict[str, Candidate] = {}
        self._addresses: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._times: Counter[str] = Counter()
        self._outcomes: queue.SimpleQueue[Reply | Failure | Gone] = queue.SimpleQueue()
        self._looked = 0.0

    # --- who is there

    def start(self) -> None:
        """Make an actor on every worker; ask them directly, unless one cannot be reached so."""
        self._look()
        if not self._known and self._lost:
            self._reach = partial(_ByScheduler, self.client.scheduler)
            self._lost.clear()
            self._look()

    def workers(self) -> Mapping[str, Candidate]:
        """Return who is alive, as the scheduler says."""
        if monotonic() - self._looked > _LOOK:
            self._look()
        return dict(self._known)

    def lost(self) -> Mapping[str, str]:
        """Return who is gone."""
        return self._lost

    def _look(self) -> None:
        """Ask the scheduler who is alive; make actors on those who are new."""
        alive = self.client.nthreads()
        self._looked = monotonic()
        for name, address in self._addresses.items():
            if address not in alive and name not in self._lost:
                self._bury(name, "the scheduler no longer knows it")
        here = {self._addresses[name] for name in self._known}
        self._welcome([address for address in alive if address not in here])

    def _welcome(self, addresses: list[str]) -> None:
        """Make actors; one that cannot be made, or is not heard from, is lost."""
        names = []
        for address in addresses:
            self._times[address] += 1
            again = self._times[address]
            name = address if again == 1 else f"{address} ({again})"
            names.append(name)
            self._addresses[name] = address
            self._futures[name] = self.client.submit(
                Holder,
                self.fit,
                self._make,
                actor=True,
                pure=False,
                workers=[address],
                key=key_of(self.fit, name),
            )
        heard = self.client.sync(self._greet, names) if names else []
        for name, found in zip(names, heard, strict=True):
            if isinstance(found, dict):
                self._known[name] = Candidate(found)
            else:
                self._bury(name, f"no actor could be made: {type(found).__name__}: {found}")

    async def _greet(self, names: list[str]) -> list[Any]:
        """Wait for actors, and ask what they run."""

        async def greet(name: str) -> Any:
            await self._futures[name]
            return await call(self._reach, self._addresses[name], key_of(self.fit, name), "greet")

        greetings = [asyncio.wait_for(greet(name), _REACH) for name in names]
        return await asyncio.gather(*greetings, return_exceptions=True)

    def _bury(self, name: str, why: str) -> None:
        self._lost.setdefault(name, why)
        self._known.pop(name, None)
        future = self._futures.pop(name, None)
        if future is not None:
            self.client.cancel([future], force=True)  # Dask must not make the actor again

    # --- requests and replies

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send the requests of a trip, those without rows to bring by a tree."""
        alive = [(name, request) for name, request in requests if name in self._known]
        plain: dict[str, list[Request]] = {}
        for name, request in alive:
            if request.build is None:
                plain.setdefault(name, []).append(request)
        self._bring([(name, request) for name, request in alive if request.build is not None])
        bundles = [
            (name, self._addresses[name], Bundle(self.fit, tuple(own)))
            for name, own in plain.items()
        ]
        for bundle in _planted(bundles, self.children):
            self._loop.add_callback(self._ask, *bundle)

    @property
    def _loop(self) -> Any:
        return self.client.loop

    def _bring(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Have rows computed and brought to workers, then ask these."""
        parts = [part for _, request in requests for part in _parts(request)]
        computed = iter(self.client.compute([x for part in parts for x in self._pieces[part]]))
        for name, request in requests:
            futures = {}
            for part in _parts(request):
                rows = [next(computed) for _ in self._pieces[part]]
                futures[part] = self._deliver(name, request.group, part, rows)
            assert request.build is not None
            empty = Build(dict.fromkeys(futures), request.build.digests)
            asked = replace(request, build=empty)
            self._loop.add_callback(self._ask_when_there, name, asked, futures)

    def _deliver(self, name: str, group: int, part: int, rows: Sequence[Future]) -> Future:
        where = (self.fit, group, part, self._make_source)
        there = [self._addresses[name]]
        return self.client.submit(deliver, *where, *rows, pure=False, workers=there)

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
        await self._ask(name, self._addresses[name], Bundle(self.fit, (request,)))

    async def _ask(self, name: str, address: str, bundle: Bundle) -> None:
        for outcome in await ask(self._reach, name, address, bundle):
            self._outcomes.put(outcome)

    def collect(self, timeout: float) -> Sequence[Reply | Failure]:
        """Wait for replies; look who is alive when none come."""
        taken = []
        try:
            taken.append(self._outcomes.get(timeout=timeout))
            while True:
                taken.append(self._outcomes.get_nowait())
        except queue.Empty:
            pass
        if not taken and monotonic() - self._looked > _LOOK:
            self._look()
        replies = []
        for outcome in taken:
            if isinstance(outcome, Gone):
                self._gone(outcome)
            else:
                replies.append(outcome)
        return replies

    def _gone(self, gone: Gone) -> None:
        """One is lost; those to whom it should have passed requests on are asked directly."""
        self._bury(gone.name, gone.why)
        for child in gone.bundle.passed:
            self._loop.add_callback(self._ask, *child)

    def close(self) -> None:
        """Let the actors go."""
        with suppress(Exception):  # the scheduler is gone, then
            self.client.sync(self._close_all, callback_timeout=_REACH)
            for name in list(self._known):
                self._bury(name, "the fit has ended")

    async def _close_all(self) -> None:
        closing = [
            asyncio.wait_for(
                call(self._reach, self._addresses[name], key_of(self.fit, name), "close"), _CLOSE
            )
            for name in self._known
        ]
        await asyncio.gather(*closing, return_exceptions=True)


def _parts(request: Request) -> list[int]:
    """Return the parts that a request has to be brought the rows of."""
    assert request.build is not None
    return list(request.build.sources)


class _ByScheduler:
    """Messages to a worker by way of the scheduler, where a client cannot reach workers."""

    def __init__(self, scheduler: Any, address: str) -> None:
        self.scheduler, self.address = scheduler, address

    async def actor_execute(self, **said: Any) -> Any:
        """Pass a message on."""
        return await self.scheduler.proxy(worker=self.address, msg={"op": "actor_execute", **said})


def _planted(
    bundles: list[tuple[str, str, Bundle]], children: int
) -> list[tuple[str, str, Bundle]]:
    """Make a tree of bundles: some are asked, and each of these passes some of the others on.

    Few enough are asked directly: it costs the least time.
    """
    if len(bundles) <= children:
        return bundles
    heads, rest = bundles[:children], bundles[children:]
    shares = [rest[i::children] for i in range(children)]
    return [
        (name, address, replace(bundle, passed=tuple(_planted(share, children))))
        for (name, address, bundle), share in zip(heads, shares, strict=True)
    ]
