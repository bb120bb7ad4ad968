"""The job of a fit: it runs beside the driver, says how it ended, and can be cancelled."""

import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from costboost.clusters.protocol import ClusterError
from costboost.spark import job as module
from costboost.spark.job import BarrierJob


class Context:
    """What is asked of a classic session's context."""

    def __init__(self):
        self.tags, self.cancelled = [], []
        self.addJobTag, self.cancelJobsWithTag = self.tags.append, self.cancelled.append
        self.stages = {3: SimpleNamespace(stageId=3, numCompletedTasks=1), 4: None}

    def statusTracker(self):  # noqa: N802
        return SimpleNamespace(
            getActiveStageIds=lambda: list(self.stages), getStageInfo=self.stages.get
        )


class Rows:
    """A DataFrame whose job lasts until `end` is set, and raises `error` if there is one."""

    def __init__(self, session):
        self.sparkSession, self.asked = session, []
        self.end, self.error = threading.Event(), None

    def mapInArrow(self, task, schema, barrier):  # noqa: N802
        self.asked.append((task, schema, barrier))
        return self

    def repartition(self, n):
        self.asked.append(n)
        return self

    def collect(self):
        assert self.end.wait(20.0)
        if self.error is not None:
            raise self.error


class Remote:
    """A session of Spark Connect."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self):
        self.tags, self.cancelled = [], []
        self.addTag, self.interruptTag = self.tags.append, self.cancelled.append


@pytest.fixture(autouse=True)
def plain_threads(monkeypatch):
    """Threads without the properties that a JVM would give them."""

    def thread(target, session, daemon):
        return threading.Thread(target=target, daemon=daemon)

    monkeypatch.setattr(module, "InheritableThread", thread)


@pytest.fixture(params=["classic", "connect"])
def rows(request):
    classic = SimpleNamespace(sparkContext=Context())
    made = Rows(classic if request.param == "classic" else Remote())
    yield made
    made.end.set()


def session_of(rows):
    return getattr(rows.sparkSession, "sparkContext", rows.sparkSession)


def test_a_job_feeds_a_shuffle_so_that_its_tasks_are_tried_again(rows):
    BarrierJob(rows, "the task")
    assert rows.asked == [("the task", "nothing boolean", True), 1]


def test_a_job_runs_beside_until_it_ends(rows):
    job = BarrierJob(rows, "the task")
    job.check()
    assert not job.wait(0.0)
    rows.end.set()
    assert job.wait(10.0)
    with pytest.raises(ClusterError, match="ended the job of this fit before the fit was done"):
        job.check()


def test_what_ended_a_job_is_said(rows):
    rows.error = RuntimeError("Job aborted: stage 3 was cancelled")
    job = BarrierJob(rows, "the task")
    rows.end.set()
    assert job.wait(10.0)
    with pytest.raises(ClusterError, match=r"this fit: Job aborted: stage 3") as caught:
        job.check()
    assert caught.value.__cause__ is rows.error


def test_a_job_is_cancelled_by_a_tag_of_its_own(rows):
    session, first, second = session_of(rows), BarrierJob(rows, "one"), BarrierJob(rows, "other")
    rows.end.set()
    assert first.wait(10.0)
    assert second.wait(10.0)
    assert len(set(session.tags)) == 2
    first.cancel()
    (cancelled,) = session.cancelled
    assert cancelled in session.tags
    assert cancelled == first._tag != second._tag


def test_progress_changes_while_stages_do(rows):
    job, session = BarrierJob(rows, "the task"), session_of(rows)
    if isinstance(session, Remote):
        assert job.progress() is None  # nobody can tell
        return
    before = job.progress()
    assert job.progress() == before == [(3, 1)]  # a stage may be gone when it is asked about
    session.stages[3].numCompletedTasks = 2
    assert job.progress() != before
