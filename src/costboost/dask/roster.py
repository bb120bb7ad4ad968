"""Who is there: the workers of a Dask cluster, and a fit's actor on each of them.

Who is alive is what the scheduler says; whoever is new gets an actor, and is on the roster once the
actor has said what it runs. Nobody waits for that but the start of a fit: a worker that comes or
goes later must not hold up the others.
"""

from __future__ import annotations

import asyncio
import queue
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from distributed import Client, Future

from costboost.clusters.transport import Candidate
from costboost.dask.holding import Holder, call, key_of

__all__ = ["Roster"]

_LOOK = 0.5  # seconds between two questions to the scheduler
_MAKE = 120.0  # seconds to make an actor: a new process imports everything
_REACH = 30.0  # seconds to hear from it
_MOMENT = 0.01  # seconds between two looks whether an actor is made
_CLOSE = 2.0  # seconds for an actor to let its parts go


class Roster:
    """The actors of a fit.

    Attributes
    ----------
    known : dict
        Of those who are there, what they run.
    lost : dict
        Of those who are gone, why.
    addresses : dict
        Of all; a worker that comes back to its address has a new name.
    reach : callable
        Gives what messages to an address go by.
    """

    def __init__(self, client: Client, fit: str, make: Callable[[Any], Any]) -> None:
        self.client, self.fit = client, fit
        self.reach: Callable[[str], Any] = client.rpc
        self.known: dict[str, Candidate] = {}
        self.lost: dict[str, str] = {}
        self.addresses: dict[str, str] = {}
        self._make = make
        self._actors: dict[str, Future] = {}
        self._owed: dict[str, list[Future]] = {}
        self._coming: set[str] = set()
        self._times: Counter[str] = Counter()
        self._heard: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._looked = 0.0

    def start(self) -> None:
        """Make an actor on every worker; ask directly, unless nobody can be reached so."""
        self._look()
        self._wait()
        if not self.known and self.lost:
            self.reach = partial(_ByScheduler, self.client.scheduler)
            self.lost.clear()
            self._look()
            self._wait()

    def look(self) -> None:
        """Find out who came and who went, if it was not just done."""
        if monotonic() - self._looked > _LOOK:
            self._look()
        while self._coming:
            try:
                self._take(*self._heard.get_nowait())
            except queue.Empty:
                break

    def _look(self) -> None:
        alive = self.client.nthreads()
        self._looked = monotonic()
        for name, address in self.addresses.items():
            if address not in alive and name not in self.lost:
                self.bury(name, "the scheduler no longer knows it")
        here = {self.addresses[name] for name in (*self.known, *self._coming)}
        for address in alive:
            if address not in here:
                self._welcome(address)

    def _wait(self) -> None:
        """Wait until all have been heard from, have gone, or have had their time."""
        while self._coming:
            try:
                self._take(*self._heard.get(timeout=_LOOK))
            except queue.Empty:
                self._look()

    def _welcome(self, address: str) -> None:
        """Have an actor made, and ask what it runs, without waiting."""
        self._times[address] += 1
        again = self._times[address]
        name = address if again == 1 else f"{address} ({again})"
        self.addresses[name] = address
        self._coming.add(name)
        self._actors[name] = self.client.submit(
            Holder,
            self.fit,
            self._make,
            actor=True,
            pure=False,
            workers=[address],
            key=key_of(self.fit, name),
        )
        self.client.loop.add_callback(self._greet, name, self._actors[name])

    async def _greet(self, name: str, actor: Future) -> None:
        until = monotonic() + _MAKE
        while actor.status == "pending" and monotonic() < until:
            await asyncio.sleep(_MOMENT)
        try:
            if actor.status != "finished":  # a fit may end while a worker is still coming
                raise RuntimeError(f"its making is {actor.status}")
            self._heard.put((name, await asyncio.wait_for(self._call(name, "greet"), _REACH)))
        except BaseException as error:
            self._heard.put((name, error))

    def _take(self, name: str, found: Any) -> None:
        """Note what was heard from one that came."""
        self._coming.discard(name)
        if name in self.lost:
            return
        if isinstance(found, dict):
            self.known[name] = Candidate(found)
        else:
            self.bury(name, f"no actor could be made: {type(found).__name__}: {found}")

    async def _call(self, name: str, method: str) -> Any:
        return await call(self.reach, self.addresses[name], key_of(self.fit, name), method)

    def owe(self, name: str, future: Future) -> None:
        """Remember a task that only one worker can do: it ends with it."""
        self._owed.setdefault(name, []).append(future)

    def receive(self, name: str) -> None:
        """Forget the tasks of a worker, which are done: Dask can forget what they were made of."""
        self._owed.pop(name, None)

    def bury(self, name: str, why: str) -> None:
        """Note that one is gone; Dask must neither make its actor again nor wait for it."""
        self.lost.setdefault(name, why)
        self.known.pop(name, None)
        self._coming.discard(name)  # whatever is still heard from it
        futures = self._owed.pop(name, [])
        if name in self._actors:
            futures = [*futures, self._actors.pop(name)]
        if futures:
            self.client.cancel(futures, force=True)

    def close(self) -> None:
        """Let the actors go."""
        with suppress(Exception):  # the scheduler is gone, then
            self.client.sync(self._close_all, callback_timeout=_REACH)
            for name in list(self._actors):
                self.bury(name, "the fit has ended")

    async def _close_all(self) -> None:
        closing = [asyncio.wait_for(self._call(name, "close"), _CLOSE) for name in self.known]
        await asyncio.gather(*closing, return_exceptions=True)


class _ByScheduler:
    """Messages to a worker by way of the scheduler, where a client cannot reach workers."""

    def __init__(self, scheduler: Any, address: str) -> None:
        self.scheduler, self.address = scheduler, address

    async def actor_execute(self, **said: Any) -> Any:
        """Pass a message on."""
        return await self.scheduler.proxy(worker=self.address, msg={"op": "actor_execute", **said})
