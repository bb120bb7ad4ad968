"""How many tasks can run at once: a barrier job starts all of its tasks together, or never."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["choose_n_workers", "is_connect"]

_PATIENCE = 30.0  # seconds for executors to register
_QUIET = 1.0  # seconds without a new one after which no more are expected


def is_connect(session: Any) -> bool:
    """Whether a session is a client of Spark Connect, without a JVM of its own."""
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
    """Count the partitions that Spark makes where nobody says how many: one for each core."""
    from pyspark.sql import functions

    numbers = session.range(1 << 16).select(functions.spark_partition_id().alias("partition"))
    return int(numbers.distinct().count())
