"""The barrier job of a fit, run from a thread of its own while the driver trains.

Spark starts all tasks of a barrier stage together, and starts all of them again where one is lost
(at most `spark.stage.maxConsecutiveAttempts` times in a row), but only if the stage feeds a
shuffle: a stage whose rows go straight to the driver is not tried again. Hence `repartition(1)`
after it, over no rows at all.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark import InheritableThread

from costboost.clusters import protocol
from costboost.clusters.protocol import ClusterError
from costboost.clusters.worker import Make, Worker
from costboost.spark.channel import Channel, connect

__all__ = ["choose_n_workers", "is_connect", "Address", "Hello", "HoldRows", "BarrierJob"]


# Number of tasks: a barrier job starts all of its tasks together, or never.

_PATIENCE = 30.0  # seconds for executors to register
_QUIET = 1.0  # seconds without a new one after which no more are expected


def is_connect(session: Any) -> bool:
    """Return whether a session is a client of Spark Connect, without a JVM of its own."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def choose_n_workers(session: Any, wanted: int | None) -> int:
    """Return how many tasks a fit has; refuse more than the cluster can run at once.

    Parameters
    ----------
    session : SparkSession
    wanted : int or None
        None: as many as there are slots.
    """
    if wanted is not None and wanted < 1:
        raise ValueError(f"num_workers={wanted} must be at least 1, or None for all slots.")
    if is_connect(session):
        # The server does not tell its slots, and the start of the job has a deadline.
        return _default_parallelism(session) if wanted is None else wanted
    _refuse_dynamic_allocation(session)
    slots = _wait_for_slots(session, wanted)
    if slots < (wanted or 1):
        raise ValueError(
            f"num_workers={wanted or 1} tasks have to run at once, but this cluster has {slots} "
            "slots (cores of executors over spark.task.cpus). Ask for fewer workers or start more "
            "executors; the model does not depend on their number."
        )
    return slots if wanted is None else wanted


def _refuse_dynamic_allocation(session: Any) -> None:
    conf = session.sparkContext.getConf()
    if conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        raise ValueError(
            "spark.dynamicAllocation.enabled is true, and Spark starts no barrier job then: all "
            "tasks of a fit run at once and talk to the driver. Set it to false."
        )


def _wait_for_slots(session: Any, wanted: int | None) -> int:
    """Count the slots, once there are as many as wanted, or no more come: executors take seconds.

    A local master has its slots from the start.
    """
    slots = _count_slots(session)
    if session.sparkContext.master.startswith("local["):
        return slots
    until = time.monotonic() + _PATIENCE
    settled = time.monotonic() + _QUIET
    while time.monotonic() < until and (wanted is None or slots < wanted):
        if wanted is None and slots and time.monotonic() > settled:
            break
        time.sleep(0.1)
        before, slots = slots, _count_slots(session)
        if slots != before:
            settled = time.monotonic() + _QUIET
    return slots


def _count_slots(session: Any) -> int:
    context = session.sparkContext._jsc.sc()
    profile = context.resourceProfileManager().resourceProfileFromId(0)
    return int(context.maxNumConcurrentTasks(profile))


def _default_parallelism(session: Any) -> int:
    """Count the partitions that Spark makes by default: one for each core."""
    from pyspark.sql import functions

    numbers = session.range(1 << 16).select(functions.spark_partition_id().alias("partition"))
    return int(numbers.distinct().count())


# A task of the barrier job keeps the rows of its partition and answers the driver.


@dataclass(frozen=True)
class Address:
    """Address of the driver, and the token of its tasks."""

    host: str
    port: int
    token: bytes


@dataclass(frozen=True)
class Hello:
    """A task's first message: who it is."""

    partition: int
    n_tasks: int
    attempt: int  # larger in tasks that were started later
    where: str
    process: int
    identity: protocol.Identity


@dataclass(frozen=True)
class HoldRows:
    """The function that Spark calls with the rows of a partition; yields nothing.

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
        """Hold the rows until the driver closes the connection."""
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
        protocol.identity(),
    )


def _serve(channel: Channel, worker: Worker) -> None:
    """Answer requests until there are no more."""
    while (request := channel.receive()) is not None:
        channel.send(worker.answer(request))


class BarrierJob:
    """One job of Spark that lasts as long as the fit.

    Parameters
    ----------
    rows : DataFrame
        As many partitions as there are tasks to be.
    task : HoldRows
        What every task does with its partition.
    """

    def __init__(self, rows: Any, task: HoldRows) -> None:
        self._session = rows.sparkSession
        self._tag = f"costboost-{secrets.token_hex(8)}"
        self._frame = rows.mapInArrow(task, "nothing boolean", barrier=True).repartition(1)
        self._error: BaseException | None = None
        # It has the caller's properties: the pool, the group to cancel by.
        self._thread = InheritableThread(self._run, session=self._session, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._mark()
            self._frame.collect()
        except BaseException as error:
            self._error = error

    def _mark(self) -> None:
        """Tag what this thread starts, to be cancelled by."""
        if is_connect(self._session):
            self._session.addTag(self._tag)
        else:  # tags of a classic session do not reach its jobs
            self._session.sparkContext.addJobTag(self._tag)

    def check(self) -> None:
        """Raise what ended the job, if it has ended."""
        if self._thread.is_alive():
            return
        raise ClusterError(
            "Spark has ended the job of this fit"
            + (f": {self._error}" if self._error is not None else " before the fit was done.")
        ) from self._error

    def progress(self) -> Any:
        """Return something that changes while Spark works; None where that is unknown."""
        if is_connect(self._session):
            return None
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return [(stage.stageId, stage.numCompletedTasks) for stage in stages if stage is not None]

    def wait(self, timeout: float) -> bool:
        """Wait for the job's end; return whether it has come."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """End the job, whatever its tasks are doing."""
        if is_connect(self._session):
            self._session.interruptTag(self._tag)
        else:
            self._session.sparkContext.cancelJobsWithTag(self._tag)
