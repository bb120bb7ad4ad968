"""Sockets: who knows the token is let in, and nobody else's bytes are unpickled."""

import contextlib
import pickle
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("pyspark")

from costboost.spark.channel import Listener, NotAllowedError, connect

TOKEN = b"t" * 32


@pytest.fixture
def listener():
    with Listener("127.0.0.1", 0, TOKEN) as listener:
        yield listener


@pytest.fixture
def pair(listener):
    task = connect("127.0.0.1", listener.port, TOKEN)
    driver = listener.wait(5.0)
    yield task, driver
    task.close()
    driver.close()


def test_values_arrive_as_they_were_sent(pair):
    task, driver = pair
    large = np.arange(3_000_000)
    sender = threading.Thread(target=task.send, args=((large, {"a": None}),))
    sender.start()
    array, rest = driver.receive(5.0)
    sender.join()
    assert (array == large).all()
    assert rest == {"a": None}
    assert task.sent == driver.received - 64  # less what the greeting took
    driver.send("answer")
    assert task.receive(5.0) == "answer"


def test_a_caller_with_another_token_is_hung_up_on(listener):
    with pytest.raises(ConnectionError):
        connect("127.0.0.1", listener.port, b"x" * 32)
    assert listener.wait(0.2) is None


def test_a_task_hangs_up_on_another_driver():
    def pretend():
        link, _ = impostor.accept()
        with link:
            link.sendall(b"n" * 32)
            link.recv(64)
            link.sendall(b"s" * 32)  # it cannot sign with our token
            link.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as impostor:
        threading.Thread(target=pretend, daemon=True).start()
        with pytest.raises(NotAllowedError, match="is not the driver of this fit"):
            connect("127.0.0.1", impostor.getsockname()[1], TOKEN)


class Bomb:
    """Makes a list longer when it is unpickled."""

    exploded: list = []  # noqa: RUF012

    def __reduce__(self):
        return Bomb.exploded.append, (1,)


def test_nothing_is_unpickled_before_the_token_is_known(listener):
    content = pickle.dumps(Bomb())
    with socket.create_connection(("127.0.0.1", listener.port)) as link:
        link.recv(32)
        link.sendall(struct.pack("<Q", len(content)) + content + b"\0" * 64)
        time.sleep(0.2)
    assert listener.wait(0.2) is None
    assert not Bomb.exploded


def test_a_silent_caller_delays_nobody(listener):
    with socket.create_connection(("127.0.0.1", listener.port)):
        task = connect("127.0.0.1", listener.port, TOKEN)
        driver = listener.wait(5.0)
        assert driver is not None
        driver.close()
        task.close()


def test_who_was_let_in_but_not_waited_for_is_hung_up_on():
    with Listener("127.0.0.1", 0, TOKEN) as listener:
        early = connect("127.0.0.1", listener.port, TOKEN)
    with contextlib.closing(early), pytest.raises(ConnectionError):
        early.receive(5.0)


def test_who_waits_is_told_when_the_other_has_gone(pair):
    task, driver = pair
    with pytest.raises(TimeoutError):
        driver.receive(0.05)
    task.close()
    with pytest.raises(ConnectionError):
        driver.receive(5.0)


def test_a_driver_that_cannot_be_reached_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"127.0.0.1:{port}.*give host="):
        connect("127.0.0.1", port, TOKEN)


LISTENS = """
import resource, sys
from costboost.spark.channel import Listener
with Listener("127.0.0.1", 0, b"t" * 32) as listener:
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    print(listener.port, flush=True)
    for _ in range(3):
        print(listener.wait(60.0).receive(10.0), flush=True)
"""


def test_silent_callers_that_use_up_file_descriptors_keep_nobody_out():
    pytest.importorskip("resource")
    with contextlib.ExitStack() as stack:
        driver = subprocess.Popen(
            [sys.executable, "-c", LISTENS], stdout=subprocess.PIPE, text=True
        )
        stack.enter_context(driver)
        stack.callback(driver.kill)
        port = int(driver.stdout.readline())
        for k in range(3):
            for _ in range(100):
                silent = stack.enter_context(socket.socket())
                silent.connect(("127.0.0.1", port))
            task = connect("127.0.0.1", port, TOKEN)
            stack.callback(task.close)
            task.send(f"task {k}")
            assert driver.stdout.readline() == f"task {k}\n"
