"""What a task of the barrier job does: keep the rows of its partition, and answer the driver.

The driver speaks first to nobody: every task calls it, says who it is (`Hello`), and then gets
requests of `costboost.clusters` until the driver says goodbye (None). A task whose driver hangs up
without that fails, and Spark starts all tasks again. Python's processes are used again by other
tasks, so that nothing here is kept in a module.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from costboost.clusters import handshake
from costboost.clusters.worker import Make, Worker
from costboost.spark.channel import Channel, connect

__all__ = ["Address", "Hello", "Task"]


@dataclass(frozen=True)
class Address:
    """Where the driver listens, and how its tasks are known."""

    host: str
    port: int
    token: bytes


@dataclass(frozen=True)
class Hello:
    """Who calls: a task says so before anything else."""

    partition: int
    n_tasks: int
    attempt: int  # larger in tasks that were started later
    where: str
    process: int
    identity: handshake.Identity


@dataclass(frozen=True)
class Task:
    """What Spark calls with the rows of a partition; yields nothing.

    Parameters
    ----------
    address : Address
    fit : str
    make : callable
        Makes a part of a source, as `costboost.clusters.worker.Worker` has it.
    reader : object
        ``reader.source(batches)`` makes the source of a partition's rows.
    """

    address: Address
    fit: str
    make: Make
    reader: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Hold the rows until the driver says goodbye."""
        address, hello = self.address, _hello()
        channel = connect(address.host, address.port, address.token)
        try:
            channel.send(hello)
            sources = {hello.partition: self.reader.source(batches)}
            worker = Worker(self.fit, self.make, 1, sources)
            try:
                _serve(channel, worker)
            finally:
                worker.close()
        finally:
            channel.close()
        return iter(())


def _hello() -> Hello:
    from pyspark import BarrierTaskContext

    context = BarrierTaskContext.get()
    return Hello(
        context.partitionId(),
        len(context.getTaskInfos()),
        context.taskAttemptId(),
        socket.gethostname(),
        os.getpid(),
        handshake.identity(),
    )


def _serve(channel: Channel, worker: Worker) -> None:
    """Answer requests until there are no more."""
    while (request := channel.receive()) is not None:
        channel.send(worker.answer(request))
