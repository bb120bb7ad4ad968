"""The way to the tasks of a barrier job, as `costboost.clusters.driver.Driver` takes it.

A task is a worker that can hold one part, its partition. Spark loses tasks together: where one is
gone, all are let go (they fail, and Spark starts all of them again), so that every part is built
again by the new ones.
"""

from __future__ import annotations

import pickle
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from costboost.clusters.protocol import Candidate, ClusterError, Failure, Reply, Request
from costboost.spark.channel import Channel, Listener
from costboost.spark.job import BarrierJob, Hello

__all__ = ["BarrierTransport"]

_STRAGGLERS = 2.0  # seconds in which all tasks of one attempt have called
_FAREWELL = 10.0  # seconds in which tasks have ended after goodbye


@dataclass
class _Caller:
    """A task that has called."""

    hello: Hello
    channel: Channel
    sent_at: float | None = None  # when it was sent a request that it has not answered

    @property
    def name(self) -> str:
        hello = self.hello
        return f"{hello.where}:{hello.process} (task {hello.attempt})"


class BarrierTransport:
    """Requests and replies over one socket for each task.

    Parameters
    ----------
    listener : Listener
    launch : callable
        Starts the job.
    n_tasks : int
    deadline : float
        Seconds in which a request is answered, and in which Spark does something on the way to
        the start of all tasks.

    Attributes
    ----------
    traffic : int
        Bytes sent and received.
    starts : int
        How often the tasks were started.
    """

    def __init__(
        self,
        listener: Listener,
        launch: Callable[[], BarrierJob],
        n_tasks: int,
        deadline: float,
    ) -> None:
        self._listener, self._launch = listener, launch
        self._n_tasks, self._deadline = n_tasks, deadline
        self._job: BarrierJob | None = None
        self._callers: dict[str, _Caller] = {}  # all of one attempt, or nobody
        self._arriving: dict[int, _Caller] = {}
        self._last_arrival = 0.0
        self._lost: dict[str, str] = {}
        self.let_go: set[str] = set()  # tasks that were lost only because another one was
        self._spoiled: _Caller | None = None  # one that has failed
        self._selector = selectors.DefaultSelector()
        self._past_traffic = 0
        self.starts = 0

    # Who is there.

    def start(self) -> None:
        """Start the job, and wait until all of its tasks have called.

        The rows have to be made first, which may take as long as it likes, as long as it goes on.
        """
        self._job = self._launch()
        since, seen = time.monotonic(), self._job.progress()
        while not self._callers:
            self._admit(0.05)
            if time.monotonic() < since + self._deadline:
                continue
            before, seen = seen, self._job.progress()
            if seen == before:
                self._give_up()
            since = time.monotonic()

    def _give_up(self) -> None:
        raise ClusterError(
            f"Spark has started {len(self._arriving)} of {self._n_tasks} tasks, and done nothing "
            f"else for {self._deadline:g} s. They have to run at once: wait until other jobs have "
            "left so many slots free, ask for fewer with num_workers=, or give deadline= more "
            "seconds."
        )

    def workers(self) -> Mapping[str, Candidate]:
        """Return the tasks that can be spoken to."""
        return {
            name: Candidate(caller.hello.identity, frozenset([caller.hello.partition]))
            for name, caller in self._callers.items()
        }

    def lost(self) -> Mapping[str, str]:
        """Return the tasks that are gone, and why."""
        return self._lost

    def _admit(self, timeout: float) -> None:
        """Accept tasks that call within `timeout` seconds."""
        assert self._job is not None
        self._job.check()
        channel = self._listener.wait(timeout)
        if channel is not None:
            try:
                self._greet(channel)
            except OSError:
                channel.close()
        newest = self._arriving.values()
        if len(newest) < self._n_tasks:
            return
        attempts = [caller.hello.attempt for caller in newest]
        # The tasks of one attempt have consecutive numbers; one of an older attempt is hung up on
        # when its successor calls.
        together = max(attempts) - min(attempts) < self._n_tasks
        if together or time.monotonic() > self._last_arrival + _STRAGGLERS:
            self._welcome()

    def _greet(self, channel: Channel) -> None:
        hello = channel.receive(_FAREWELL)
        if hello.n_tasks != self._n_tasks:
            raise ClusterError(
                f"Spark runs {hello.n_tasks} tasks where {self._n_tasks} were asked for."
            )
        older = self._arriving.get(hello.partition)
        if older is not None and older.hello.attempt > hello.attempt:
            channel.close()
            return
        if older is not None:
            older.channel.close()
        self._arriving[hello.partition] = _Caller(hello, channel)
        self._last_arrival = time.monotonic()

    def _welcome(self) -> None:
        """Register the tasks that have called as the workers of this attempt."""
        if self._callers:
            self._drop("Spark has started the tasks again")
        self._callers = {caller.name: caller for caller in self._arriving.values()}
        self._arriving = {}
        self.starts += 1
        for caller in self._callers.values():
            self._selector.register(caller.channel.link, selectors.EVENT_READ, caller)

    def _drop(self, why: str, *culprits: _Caller) -> None:
        """Close the connections to all tasks: they fail, and Spark starts them again."""
        self._spoiled = None
        for name, caller in self._callers.items():
            self._lost[name] = why
            if culprits and caller not in culprits:
                self.let_go.add(name)
            self._selector.unregister(caller.channel.link)
            self._past_traffic += caller.channel.sent + caller.channel.received
            caller.channel.close()
        self._callers = {}

    # Requests and replies.

    def submit(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Send requests; one to a task that is lost is dropped."""
        for name, request in requests:
            caller = self._callers.get(name)
            if caller is None:
                continue
            caller.sent_at = time.monotonic()
            try:
                caller.channel.send(request, self._deadline)
            except OSError as error:
                self._drop(f"{name} has gone ({error})", caller)

    def collect(self, timeout: float) -> Sequence[Reply | Failure]:
        """Wait for replies, or for tasks that go or come."""
        if self._spoiled is not None:
            self._drop("a task of the same attempt has failed", self._spoiled)
        if not self._callers:
            self._admit(timeout)
            return []
        replies: list[Reply | Failure] = []
        ready = self._selector.select(timeout)
        gone: dict[str, _Caller] = {}  # by why: of several, nobody knows which was the first
        for key, _ in ready:
            caller: _Caller = key.data
            try:
                replies.append(self._read(caller))
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                gone[f"{caller.name} has gone ({error})"] = caller
        if gone:
            self._drop("; ".join(gone), *gone.values())
        if not ready:
            self._look_around()
        return replies

    def _read(self, caller: _Caller) -> Reply | Failure:
        reply: Reply | Failure = caller.channel.receive(self._deadline)
        caller.sent_at = None
        if isinstance(reply, Failure):
            # Its rows are let go: whether the fit goes on is for the driver to say.
            self._spoiled = caller
        return reply

    def _look_around(self) -> None:
        """While nobody answers: has the job ended, are tasks late, have others called."""
        self._admit(0.0)
        late = time.monotonic() - 0.9 * self._deadline  # before the driver gives them up
        for caller in self._callers.values():
            if caller.sent_at is not None and caller.sent_at < late:
                self._drop(
                    f"{caller.name} did not answer within {0.9 * self._deadline:g} s", caller
                )
                return

    @property
    def traffic(self) -> int:
        """Bytes sent and received."""
        channels = [caller.channel for caller in self._callers.values()]
        return self._past_traffic + sum(channel.sent + channel.received for channel in channels)

    def close(self) -> None:
        """Close the connections of all tasks, and end the job if they do not."""
        self._listener.close()
        for caller in self._callers.values():
            self._say_goodbye(caller)
        clean = bool(self._callers) and all(c.sent_at is None for c in self._callers.values())
        if self._job is not None and not self._job.wait(_FAREWELL if clean else 0.0):
            self._job.cancel()
            self._job.wait(_FAREWELL)
        for caller in [*self._callers.values(), *self._arriving.values()]:
            caller.channel.close()
        self._callers, self._arriving = {}, {}
        self._selector.close()

    def _say_goodbye(self, caller: _Caller) -> Any:
        try:
            caller.channel.send(None, _FAREWELL)
        except OSError:
            caller.channel.close()
