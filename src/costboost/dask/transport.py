"""Requests to actors on the workers of a Dask cluster: one actor for every worker.

Actors are asked from the client's event loop; what comes back goes into a queue that the driver's
thread waits at. Who is alive is what the scheduler says. Nothing is opened but what Dask has open.
"""

from __future__ import annotations

import queue
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any

from distributed import Client, Future

from costboost.clusters.requests import Build, Failure, Reply, Request
from costboost.clusters.transport import Candidate
from costboost.dask.holding import Bundle, Gone, Holder, deliver

__all__ = ["DaskTransport"]

CHILDREN = 16  # of one that passes requests on
_LOOK = 0.5  # seconds between two questions to the scheduler


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
        self.children = CHILDREN
        self._make = make
        self._pieces = pieces
        self._make_source = make_source
        self._actors: dict[str, Any] = {}
        self._futures: dict[str, Future] = {}
        self._known: dict[str, Candidate] = {}
        self._addresses: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._times: Counter[str] = Counter()
        self._outcomes: queue.SimpleQueue[Reply | Failure | Gone] = queue.SimpleQueue()
        self._looked = 0.0
        self._computed: dict[int, list[Future]] = {}

    # --- who is there

    def start(self) -> None:
        """Make an actor on every worker."""
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
        """Make actors; one that cannot be made is lost."""
        made = {}
        for address in addresses:
            self._times[address] += 1
            again = self._times[address]
            name = address if again == 1 else f"{address} ({again})"
            self._addresses[name] = address
            made[name] = self.client.submit(
                Holder,
                self.fit,
                self._make,
                actor=True,
                pure=False,
                workers=[address],
                key=f"costboost-{self.fit}-{name}",
            )
        for name, future in made.items():
            try:
                actor = future.result(timeout=60)
                candidate = Candidate(actor.greet().result(timeout=60))
            except Exception as error:
                self._lost[name] = f"no actor could be made: {type(error).__name__}: {error}"
                continue
            self._futures[name], self._actors[name] = future, actor
            self._known[name] = candidate

    def _bury(self, name: str, why: str) -> None:
        self._lost.setdefault(name, why)
        self._known.pop(name, None)
        self._actors.pop(name, None)
        future = self._futures.pop(name, None)
        if future is not None:
            self.client.cancel([future], force=True)  # Dask must not make the actor again

    # --- requests and replies

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send the requests of a trip, those without rows to bring by a tree."""
        plain: dict[str, list[Request]] = {}
        for name, request in requests:
            if request.build is None:
                plain.setdefault(name, []).append(request)
            elif name in self._actors:
                self._bring(name, request)
        bundles = [
            (name, self._actors[name], Bundle(tuple(own)))
            for name, own in plain.items()
            if name in self._actors
        ]
        for bundle in _planted(bundles, self.children):
            self.client.loop.add_callback(self._ask, *bundle)

    def _bring(self, name: str, request: Request) -> None:
        """Have rows brought to a worker, then ask it."""
        assert request.build is not None
        futures = {part: self._deliver(name, request.group, part) for part in request.build.sources}
        empty = Build(dict.fromkeys(futures), request.build.digests)
        request = replace(request, build=empty)
        actor = self._actors[name]
        self.client.loop.add_callback(self._ask_when_there, name, actor, request, futures)

    def _deliver(self, name: str, group: int, part: int) -> Future:
        computed = self.client.compute(list(self._pieces[part]))
        return self.client.submit(
            deliver,
            self.fit,
            group,
            part,
            self._make_source,
            *computed,
            pure=False,
            workers=[self._addresses[name]],
        )

    async def _ask_when_there(
        self, name: str, actor: Any, request: Request, futures: dict[int, Future]
    ) -> None:
        for part, future in futures.items():
            try:
                await future
            except BaseException as error:
                text = "".join(traceback.format_exception(error))
                known = error if isinstance(error, Exception) else None
                self._outcomes.put(
                    Failure(request.fit, request.group, request.number, part, text, known)
                )
                return
        await self._ask(name, actor, Bundle((request,)))

    async def _ask(self, name: str, actor: Any, bundle: Bundle) -> None:
        try:
            outcomes = await actor.answer(bundle)
        except BaseException as error:
            outcomes = [Gone(name, f"{type(error).__name__}: {error}", bundle)]
        for outcome in outcomes:
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
            self.client.loop.add_callback(self._ask, *child)

    def close(self) -> None:
        """Let the actors go."""
        closing = [actor.close() for actor in self._actors.values()]
        for future in closing:
            with suppress(Exception):  # it is gone, then
                future.result(timeout=2)
        for name in list(self._known):
            self._bury(name, "the fit has ended")


def _planted(
    bundles: list[tuple[str, Any, Bundle]], children: int
) -> list[tuple[str, Any, Bundle]]:
    """Make a tree of bundles: some are asked, and each of these passes some of the others on.

    Few enough are asked directly: it costs the least time.
    """
    if len(bundles) <= children:
        return bundles
    heads, rest = bundles[:children], bundles[children:]
    shares = [rest[i::children] for i in range(children)]
    return [
        (name, actor, Bundle(bundle.requests, tuple(_planted(share, children))))
        for (name, actor, bundle), share in zip(heads, shares, strict=True)
    ]
