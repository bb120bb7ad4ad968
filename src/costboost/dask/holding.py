"""What lives on a Dask worker: an actor that holds parts, and the task that brings rows to it.

The actor's methods are coroutines, so that they run on the worker's event loop and not in the one
thread that Dask has for all actors: several fits at once do not wait for each other. The work
itself is done by a thread of the actor's own. Rows are delivered by an ordinary task on the same
worker, so that Dask moves, recomputes and frees them as it does for everybody.

Actors are asked by Dask's own message for that (`call`), on connections that it has open anyway:
its proxies would make an actor that was lost again, elsewhere and without its parts. Trips to many
workers go by a tree: a *bundle* is requests for one worker, and bundles that it passes on. Replies
come back put together; what could not be is passed up as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from distributed import get_worker
from distributed.protocol import to_serialize

from costboost.clusters.handshake import Identity, identity
from costboost.clusters.requests import Build, Failure, Reply, Request, put_together
from costboost.clusters.worker import Worker

__all__ = ["Bundle", "Gone", "Holder", "ask", "call", "deliver", "key_of"]


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
        """Take a part's rows, which a task has brought."""
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
    """Put replies to the same orders together."""
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    others = [outcome for outcome in outcomes if not isinstance(outcome, Reply)]
    if len(replies) < 2 or not bundle.requests:
        return outcomes
    answers = put_together(bundle.requests[0].orders, [reply.answers for reply in replies])
    digests = {part: digest for reply in replies for part, digest in reply.digests.items()}
    groups = tuple(group for reply in replies for group in reply.groups)
    first = replies[0]
    return [Reply(first.fit, groups, first.number, answers, digests), *others]
