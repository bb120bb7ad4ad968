"""A task holds the rows of its partition until the driver says goodbye, and fails without that."""

import pytest

pytest.importorskip("pyspark")

from costboost.clusters.protocol import Build, Failure, Request
from costboost.spark.channel import Listener
from costboost.spark.job import Address
from spark_tasks import Stage
from toy_parts import Numbers, add, fail, fetch_rows, sum_numbers

TOKEN = b"t" * 32


@pytest.fixture
def listener():
    with Listener("127.0.0.1", 0, TOKEN) as listener:
        yield listener


@pytest.fixture
def stage(monkeypatch):
    return Stage([Numbers((1, 2)), Numbers((30,))], monkeypatch)


def call_in(stage, listener, partition=1):
    """Start one task; return it, the driver's end of its line, and what it said of itself."""
    (thread,) = stage.start(Address("127.0.0.1", listener.port, TOKEN), [partition])
    channel = listener.wait(10.0)
    return thread, channel, channel.receive(10.0)


def ask(channel, number, *orders, **given):
    channel.send(Request("fit", 0, number, orders, **given))
    return channel.receive(10.0)


def test_a_task_says_who_it_is_and_answers_until_goodbye(stage, listener):
    thread, channel, hello = call_in(stage, listener)
    assert hello == stage.hello(1, 1)
    build = Build({1: None}, {})  # its rows are there already
    assert ask(channel, 1, sum_numbers(), build=build).answers == (30,)
    assert ask(channel, 2, add(number=3), fetch_rows()).answers[1][1].tolist() == [33]
    channel.send(None)
    thread.join(10.0)
    assert not thread.is_alive()
    assert stage.errors == []
    channel.close()


def test_a_part_that_fails_does_not_end_its_task(stage, listener):
    thread, channel, _ = call_in(stage, listener)
    failure = ask(channel, 1, fail(number=30, kind=ValueError), build=Build({1: None}, {}))
    assert isinstance(failure, Failure)
    assert (failure.part, str(failure.error)) == (1, "30 is here")
    assert isinstance(ask(channel, 2, sum_numbers()).error, LookupError)
    channel.send(None)
    thread.join(10.0)
    assert stage.errors == []
    channel.close()


def test_a_task_whose_driver_hangs_up_fails_so_that_spark_starts_it_again(stage, listener):
    thread, channel, _ = call_in(stage, listener)
    ask(channel, 1, sum_numbers(), build=Build({1: None}, {}))
    channel.close()
    thread.join(10.0)
    (error,) = stage.errors
    assert isinstance(error, ConnectionError)


def test_a_task_that_reaches_nobody_fails_and_names_the_driver(stage):
    with Listener("127.0.0.1", 0, TOKEN) as gone:
        address = Address("127.0.0.1", gone.port, TOKEN)
    (thread,) = stage.start(address, [0])
    thread.join(30.0)
    (error,) = stage.errors
    assert isinstance(error, ConnectionError)
