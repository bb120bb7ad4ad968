"""The barrier job of a fit, run from a thread of its own while the driver trains.

Spark starts all tasks of a barrier stage together, and starts all of them again where one is lost
(at most `spark.stage.maxConsecutiveAttempts` times in a row), but only if the stage feeds a
shuffle: a stage whose rows go straight to the driver is not tried again. Hence `repartition(1)`
after it, over no rows at all.
"""

from __future__ import annotations

import secrets
from typing import Any

from pyspark import InheritableThread

from costboost.clusters.errors import ClusterError
from costboost.spark.slots import is_connect
from costboost.spark.task import Task

__all__ = ["BarrierJob"]


class BarrierJob:
    """One job of Spark that lasts as long as the fit.

    Parameters
    ----------
    rows : DataFrame
        As many partitions as there are tasks to be.
    task : Task
        What every task does with its partition.
    """

    def __init__(self, rows: Any, task: Task) -> None:
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
        """Return something that changes while Spark works; None where nobody can tell."""
        if is_connect(self._session):
            return None
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return [(stage.stageId, stage.numCompletedTasks) for stage in stages if stage is not None]

    def wait(self, timeout: float) -> bool:
        """Wait for the job's end; say whether it has come."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """End the job, whatever its tasks are doing."""
        if is_connect(self._session):
            self._session.interruptTag(self._tag)
        else:
            self._session.sparkContext.cancelJobsWithTag(self._tag)
