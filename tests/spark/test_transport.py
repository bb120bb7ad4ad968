"""The way to the tasks of a job: all of one attempt or nobody, whatever is lost on the way."""

import threading
import time

import pytest

pytest.importorskip("pyspark")

from costboost.clusters.driver import Driver
from costboost.clusters.protocol import ClusterError, PartLostError
from costboost.spark import transport as module
from costboost.spark.channel import Listener, connect
from costboost.spark.transport import BarrierTransport
from spark_tasks import Job, Stage
from toy_parts import CALLS, fail, naive, plain, sources, sum_numbers

TOKEN = b"t" * 32


@pytest.fixture
def stage(monkeypatch):
    return Stage(sources(), monkeypatch)


@pytest.fixture
def transport(stage):
    listener = Listener("127.0.0.1", 0, TOKEN)
    return BarrierTransport(listener, lambda: Job(stage, listener, TOKEN), len(stage.sources), 20.0)


def open_driver(transport, **options):
    return Driver(transport, [None] * 7, fit="fit", deadline=20.0, **options)


def hang_up(transport, partition):
    """Lose a task, as if its process had been killed."""
    (caller,) = [c for c in transport._callers.values() if c.hello.partition == partition]
    caller.channel.link.shutdown(2)


def test_calls_answer_as_on_all_rows_at_once(transport, stage):
    with open_driver(transport) as driver:
        assert [plain(driver.send(orders)) for orders in CALLS] == naive()
        assert transport.traffic > 0
    assert transport.starts == 1
    assert stage.errors == []  # all tasks were said goodbye to


def test_each_task_can_hold_its_own_part(transport):
    with open_driver(transport):
        offered = sorted(next(iter(one.parts)) for one in transport.workers().values())
        assert offered == list(range(7))
        assert all(len(one.parts) == 1 for one in transport.workers().values())
    assert transport.workers() == {}


@pytest.mark.parametrize("at", range(1, len(CALLS)))
def test_where_one_task_is_lost_all_are_started_again(transport, at):
    heard = []
    with open_driver(transport) as driver:
        for number, orders in enumerate(CALLS):
            if number == at:
                before = set(transport.workers())
                hang_up(transport, 3)
            heard.append(plain(driver.send(orders)))
        assert before <= set(transport.lost())
        assert not before & set(transport.workers())
    assert heard == naive()
    assert transport.starts == 2


def test_bytes_of_tasks_that_are_gone_still_count(transport):
    with open_driver(transport) as driver:
        driver.send([sum_numbers()])
        before = transport.traffic
        hang_up(transport, 0)
        driver.send([sum_numbers()])
        assert transport.traffic > 1.5 * before  # the new ones were told as much


def test_what_fails_every_time_ends_the_fit(transport, monkeypatch):
    monkeypatch.setattr(module, "_FAREWELL", 0.1)  # these tasks cannot be cancelled
    with (
        open_driver(transport) as driver,
        pytest.raises(PartLostError, match="15 is here"),
    ):
        driver.send([fail(number=15, kind=OSError)])
    assert transport.starts > 1


@pytest.mark.parametrize("partition", [0, 2, 6])
def test_the_task_that_always_dies_is_named_not_those_let_go_with_it(transport, partition):
    def go_on(driver):
        for _ in range(9):
            driver.send([sum_numbers()])
            hang_up(transport, partition)

    said = f"Part {partition} of 7 was built again 3 times"
    with open_driver(transport) as driver, pytest.raises(PartLostError, match=said):
        go_on(driver)


def test_errors_of_users_come_as_they_are(transport):
    with open_driver(transport) as driver, pytest.raises(ValueError, match="15 is here"):
        driver.send([fail(number=15, kind=ValueError)])


class Idle:
    """A job that starts no tasks, and does so many other things before it rests."""

    def __init__(self, steps=0):
        self.steps, self.error, self.cancelled = steps, None, False

    def check(self):
        if self.error is not None:
            raise self.error

    def progress(self):
        self.steps = max(self.steps - 1, 0)
        return self.steps

    def wait(self, timeout):
        return self.cancelled

    def cancel(self):
        self.cancelled = True


def idle_transport(job, n_tasks=2, deadline=0.2):
    listener = Listener("127.0.0.1", 0, TOKEN)
    return listener, BarrierTransport(listener, lambda: job, n_tasks, deadline)


def test_a_start_has_a_deadline_as_long_as_nothing_is_done():
    job = Idle(steps=4)
    _, transport = idle_transport(job)
    with pytest.raises(ClusterError, match=r"started 0 of 2 tasks, .* for 0\.2 s.*num_workers="):
        transport.start()
    assert job.steps == 0  # it waited while there was progress
    transport.close()
    assert job.cancelled


def test_a_job_that_has_ended_ends_the_wait():
    job = Idle()
    job.error = ClusterError("Spark has ended the job of this fit")
    _, transport = idle_transport(job, deadline=60.0)
    with pytest.raises(ClusterError, match="has ended the job"):
        transport.start()
    transport.close()


def arrive(listener, stage, transport, partition, attempt, **changes):
    """Let a task call, and the transport hear of it; return the task's end of the line."""
    channel = connect("127.0.0.1", listener.port, TOKEN)
    channel.send(stage.hello(partition, attempt, **changes))
    transport._admit(5.0)
    return channel


def test_the_tasks_of_one_attempt_are_taken_together(stage, monkeypatch):
    monkeypatch.setattr(module, "_STRAGGLERS", 600.0)
    listener, transport = idle_transport(Idle())
    transport._job = transport._launch()
    two = {"n_tasks": 2}
    lines = [arrive(listener, stage, transport, 0, 0, **two)]
    lines.append(arrive(listener, stage, transport, 1, 3, **two))  # 0 is of an older attempt
    assert transport.workers() == {}
    lines.append(arrive(listener, stage, transport, 1, 1, **two))  # so is this one, which is late
    assert transport.workers() == {}
    lines.append(arrive(listener, stage, transport, 0, 2, **two))
    assert [name[-8:] for name in transport.workers()] == ["(task 2)", "(task 3)"]
    for line in (lines[0], lines[2]):
        with pytest.raises(ConnectionError):
            line.receive(5.0)  # it was hung up on
    transport.close()
    for line in lines:
        line.close()


def test_a_job_of_another_number_of_tasks_is_refused(stage):
    listener, transport = idle_transport(Idle())
    transport._job = transport._launch()
    with pytest.raises(ClusterError, match="Spark runs 5 tasks where 2 were asked for"):
        arrive(listener, stage, transport, 0, 0, n_tasks=5)
    transport.close()


def test_a_task_that_does_not_answer_in_time_is_lost_with_the_others(stage):
    listener, transport = idle_transport(Idle(), n_tasks=1, deadline=0.5)
    transport._job = transport._launch()
    line = arrive(listener, stage, transport, 0, 0, n_tasks=1)
    (name,) = transport.workers()
    transport.submit([(name, "a request"), ("nobody", "another")])
    assert line.receive(5.0) == "a request"
    until = time.monotonic() + 10
    while transport.workers() and time.monotonic() < until:
        assert transport.collect(0.05) == []
    assert transport.lost()[name].endswith("did not answer within 0.45 s")
    transport.submit([(name, "too late")])  # is dropped
    transport.close()
    line.close()


def test_who_waits_for_tasks_is_woken_by_them(stage, transport):
    started = threading.Event()

    def start():
        transport.start()
        started.set()

    threading.Thread(target=start, daemon=True).start()
    assert started.wait(20.0)
    assert len(transport.workers()) == 7
    transport.close()
