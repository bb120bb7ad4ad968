"""A DataFrame's rows as a cluster of parts: one barrier job, whose tasks answer the driver."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costboost.clusters.driver import Driver, new_fit
from costboost.clusters.worker import Make
from costboost.spark.channel import Listener
from costboost.spark.job import BarrierJob
from costboost.spark.slots import is_connect
from costboost.spark.task import Address, Task
from costboost.spark.transport import BarrierTransport

__all__ = ["Reach", "open_cluster"]


@dataclass(frozen=True)
class Reach:
    """How tasks reach the driver, and how long anything may take.

    Attributes
    ----------
    host : str or None
        The address that tasks call; None: what Spark itself uses.
    port : int
        0: any that is free.
    deadline : float
        Seconds.
    """

    host: str | None = None
    port: int = 0
    deadline: float = 600.0


def open_cluster(
    rows: Any,
    reader: Any,
    n_tasks: int,
    reach: Reach,
    make: Make,
    *,
    checkpoint: str | Path | None = None,
    about: Mapping[str, str] | None = None,
) -> Driver:
    """Start a job on the rows, and return who speaks to its parts.

    Parameters
    ----------
    rows : DataFrame
        In `n_tasks` partitions, in order: part i of the table is partition i.
    reader : RowReader
    n_tasks : int
    reach : Reach
    make : callable
        Makes a part of a source.
    checkpoint : path-like, optional
        Where the driver keeps its calls.
    about : mapping of str, optional
        What the checkpoint is about.
    """
    session = rows.sparkSession
    token = secrets.token_bytes(32)
    listener = Listener(_bind_address(session, reach.host), reach.port, token)
    fit = new_fit()

    def launch() -> BarrierJob:
        host = reach.host or _own_address(session)
        task = Task(Address(host, listener.port, token), fit, make, reader)
        return BarrierJob(rows, task)

    transport = BarrierTransport(listener, launch, n_tasks, reach.deadline)
    try:
        return Driver(
            transport,
            [None] * n_tasks,
            deadline=reach.deadline,
            fit=fit,
            checkpoint=checkpoint,
            about=about,
        )
    except BaseException:
        transport.close()
        raise


def _bind_address(session: Any, host: str | None) -> str:
    """Return where to listen: where Spark's driver does, or everywhere if told another name."""
    if host is not None or is_connect(session):
        return ""
    conf = session.sparkContext.getConf()
    return str(conf.get("spark.driver.bindAddress") or conf.get("spark.driver.host"))


def _own_address(session: Any) -> str:
    """Return the address by which the cluster knows this machine."""
    if not is_connect(session):
        return str(session.sparkContext.getConf().get("spark.driver.host"))
    server = session.client.host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((server, 9))  # nothing is sent: the system says which address it would use
        return str(probe.getsockname()[0])
