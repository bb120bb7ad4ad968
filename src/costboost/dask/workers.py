"""The Dask worker's side: an actor that holds parts, and the task that brings rows to it.

The actor's methods are coroutines, so that they run on the worker's event loop and not in the one
thread that Dask has for all actors: several fits at once do not wait for each other. The work
itself is done by a thread of the actor's own. Rows are delivered by an ordinary task on the same
worker, so that Dask moves, recomputes and frees them as it does for everybody.

Actors are called by Dask's own message for that (`call`), on connections that it has open anyway:
its proxies would make an actor that was lost again, on another worker and without its parts. Trips
to many workers go by a tree: a *bundle* is requests for one worker, and bundles that it passes on.
Replies come back reduced; those that cannot be reduced are passed up as they are.
"""

from __future__ import annotations

import asyncio
import queue
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from distributed import Client, Future, get_worker
from distributed.protocol import to_serialize

from costboost.clusters.protocol import (
    Build,
    Candidate,
    ClusterError,
    Failure,
    Identity,
    Reply,
    Request,
    identity,
    put_together,
)
from costboost.clusters.worker import Worker

__all__ = ["Bundle", "Gone", "Holder", "ask", "call", "deliver", "key_of", "Roster"]


@dataclass(frozen=True)
class Bundle:
    """Requests for one worker, and what it passes on: (name, address, bundle) of others."""

    fit: str
    requests: tuple[Request, ...]
    passed: tuple[tuple[str, str, Bundle], ...] = ()


@dataclass(frozen=True)
class Gone:
    """One to whom a bundle could not be passed on, and the bundle."""

    name: str
    why: str
    bundle: Bundle


Outcome = Reply | Failure | Gone

# The actors of this process by (fit, worker): a process may have several workers.
_HOLDERS: WeakValueDictionary[tuple[str, str], Holder] = WeakValueDictionary()


class Holder:
    """The actor: a worker's parts of one fit."""

    def __init__(self, fit: str, make: Callable[[Any], Any]) -> None:
        self._dask = here = get_worker()
        self._worker = Worker(fit, make, threads=here.state.nthreads)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"costboost-{fit[:8]}")
        self._brought: dict[tuple[int, int], Any] = {}
        _HOLDERS[fit, here.address] = self

    async def greet(self) -> Identity:
        """Say what this process runs."""
        return identity()

    async def answer(self, bundle: Bundle) -> list[Outcome]:
        """Answer requests and pass others on; return replies, put together where they can be."""
        passed = [ask(self._dask.rpc, *child) for child in bundle.passed]
        done = await asyncio.gather(self._own(bundle.requests), *passed)
        return _merged(bundle, [outcome for outcomes in done for outcome in outcomes])

    async def close(self) -> None:
        """Let all parts go."""
        self._brought.clear()
        self._worker.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def bring(self, group: int, part: int, source: Any) -> None:
        """Store a part's rows, which a task has brought."""
        self._brought[group, part] = source

    async def _own(self, requests: Sequence[Request]) -> list[Outcome]:
        loop = asyncio.get_running_loop()
        work = [loop.run_in_executor(self._pool, self._one, request) for request in requests]
        return list(await asyncio.gather(*work))

    def _one(self, request: Request) -> Outcome:
        if request.build is not None:
            group, known = request.group, request.build.digests
            sources = {
                part: self._brought.pop((group, part), None) for part in request.build.sources
            }
            request = replace(request, build=Build(sources, known))
        return self._worker.answer(request)


def deliver(fit: str, group: int, part: int, make_source: Callable[..., Any], *pieces: Any) -> None:
    """Bring a part's rows to the actor of a fit on this worker: a task."""
    _HOLDERS[fit, get_worker().address].bring(group, part, make_source(*pieces))


def key_of(fit: str, name: str) -> str:
    """Return the key of a fit's actor on a worker."""
    return f"costboost-{fit}-{name}"


async def call(
    reach: Callable[[str], Any], address: str, key: str, method: str, *given: Any
) -> Any:
    """Call a method of an actor; `reach` gives what messages to a worker go by."""
    sent = [to_serialize(value) for value in given]
    reply = await reach(address).actor_execute(function=method, actor=key, args=sent, kwargs={})
    if reply["status"] != "OK":
        raise reply["exception"]
    return reply["result"]


async def ask(
    reach: Callable[[str], Any], name: str, address: str, bundle: Bundle
) -> list[Outcome]:
    """Have an actor answer a bundle; whatever happens, something comes back."""
    try:
        outcomes: list[Outcome] = await call(
            reach, address, key_of(bundle.fit, name), "answer", bundle
        )
    except Exception as error:
        return [Gone(name, f"{type(error).__name__}: {error}", bundle)]
    return outcomes


def _merged(bundle: Bundle, outcomes: list[Outcome]) -> list[Outcome]:
    """Merge replies to the same orders."""
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    others = [outcome for outcome in outcomes if not isinstance(outcome, Reply)]
    if len(replies) < 2 or not bundle.requests:
        return outcomes
    answers = put_together(bundle.requests[0].orders, [reply.answers for reply in replies])
    digests = {part: digest for reply in replies for part, digest in reply.digests.items()}
    groups = tuple(group for reply in replies for group in reply.groups)
    first = replies[0]
    return [Reply(first.fit, groups, first.number, answers, digests), *others]


# Roster: the live workers of a Dask cluster, and a fit's actor on each.

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
        self._replies: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._looked = 0.0

    def start(self) -> None:
        """Start an actor on every worker; connect directly, unless none can be reached so."""
        self._look()
        self._wait()
        if not self.known and self.lost:
            self.reach = partial(_ByScheduler, self.client.scheduler)
            self.lost.clear()
            self._look()
            self._wait()

    def look(self) -> None:
        """Update the list of live workers, unless that was just done."""
        if monotonic() - self._looked > _LOOK:
            self._look()
        while self._coming:
            try:
                self._take(*self._replies.get_nowait())
            except queue.Empty:
                break

    def _look(self) -> None:
        # Dask would try for half a minute to reach a scheduler that has gone; even if it came back,
        # it would know nothing of this fit's actors.
        if self.client.status != "running":
            raise ClusterError(
                f"The scheduler of the Dask cluster has gone (the client is {self.client.status}): "
                "start the cluster again, and fit again; checkpoint= keeps what was done so far."
            )
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
        """Wait until all have replied, have gone, or have timed out."""
        while self._coming:
            try:
                self._take(*self._replies.get(timeout=_LOOK))
            except queue.Empty:
                self._look()

    def _welcome(self, address: str) -> None:
        """Start an actor and request its versions, without waiting."""
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
            self._replies.put((name, await asyncio.wait_for(self._call(name, "greet"), _REACH)))
        except BaseException as error:
            self._replies.put((name, error))

    def _take(self, name: str, found: Any) -> None:
        """Record the answer of a new actor."""
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
        """Record that a worker is gone, and cancel its tasks: Dask must not recreate its actor."""
        self.lost.setdefault(name, why)
        self.known.pop(name, None)
        self._coming.discard(name)  # late replies are dropped
        futures = self._owed.pop(name, [])
        if name in self._actors:
            futures = [*futures, self._actors.pop(name)]
        if futures:
            self.client.cancel(futures, force=True)

    def close(self) -> None:
        """Shut the actors down."""
        with suppress(Exception):  # the scheduler is gone, then
            self.client.sync(self._close_all, callback_timeout=_REACH)
            if self.client.status == "running":
                for name in list(self._actors):
                    self.bury(name, "the fit has ended")

    async def _close_all(self) -> None:
        closing = [asyncio.wait_for(self._call(name, "close"), _CLOSE) for name in self.known]
        await asyncio.gather(*closing, return_exceptions=True)


class _ByScheduler:
    """Messages to a worker by way of the scheduler, where a client cannot reach workers."""

    def __init__(self, scheduler: Any, address: str) -> None:
        self.scheduler, self.address = scheduler, address

    async def actor_execute(self, **message: Any) -> Any:
        """Pass a message on."""
        return await self.scheduler.proxy(
            worker=self.address, msg={"op": "actor_execute", **message}
        )
