"""One socket between the driver and a task: who is there is settled before anything is unpickled.

    driver                           task
    32 random bytes           ->
                              <-     HMAC(token, "task" + those), 32 random bytes
    HMAC(token, "driver" + those) ->
    8 bytes of length, a pickle  <->  8 bytes of length, a pickle

The token is made for one fit and travels with Spark's own closure; it is never sent. Whoever does
not know it (a port scanner, a task of another fit) is hung up on, and no byte of it is unpickled.
Nothing is encrypted: rows do not travel, but sums and trees do.
"""

from __future__ import annotations

import contextlib
import hmac
import pickle
import queue
import secrets
import socket
import struct
import threading
import time
from typing import Any, Self

__all__ = ["Channel", "Listener", "NotAllowedError", "connect"]

_NONCE = 32
_LENGTH = struct.Struct("<Q")
_PATIENCE = 20.0  # seconds in which the other side has to identify itself
_MOMENT = 0.02  # seconds before another caller is looked for, where one could not be taken


class NotAllowedError(ConnectionError):
    """The other side does not know the token."""


class Channel:
    """Values over a socket, each as a pickle behind its length.

    Attributes
    ----------
    link : socket
    sent, received : int
        Bytes so far.
    """

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.sent = self.received = 0
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def send(self, value: Any, timeout: float | None = None) -> None:
        """Send one value; `TimeoutError` if the other side takes nothing for so many seconds."""
        content = pickle.dumps(value, protocol=5)
        self.link.settimeout(timeout)
        self.link.sendall(_LENGTH.pack(len(content)))
        self.link.sendall(content)
        self.sent += _LENGTH.size + len(content)

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for one value.

        Parameters
        ----------
        timeout : float or None, default=None
            Seconds without a single byte after which `TimeoutError` is raised.
        """
        self.link.settimeout(timeout)
        (length,) = _LENGTH.unpack(self.read(_LENGTH.size))
        return pickle.loads(self.read(length))

    def read(self, length: int) -> bytearray:
        """Read so many bytes; `ConnectionError` where the other side has gone."""
        content = bytearray(length)
        left = memoryview(content)
        while left:
            n_read = self.link.recv_into(left)
            if n_read == 0:
                raise ConnectionResetError("The other side has closed the connection.")
            left = left[n_read:]
        self.received += length
        return content

    def write(self, content: bytes) -> None:
        """Send plain bytes."""
        self.link.sendall(content)

    def limit(self, timeout: float | None) -> None:
        """Set the patience of `read` and `write`."""
        self.link.settimeout(timeout)

    def close(self) -> None:
        """Close the connection; threads that wait at either end are woken."""
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)
        self.link.close()


def _sign(token: bytes, who: bytes, nonce: bytes | bytearray) -> bytes:
    return hmac.digest(token, who + bytes(nonce), "sha256")


def _admit(channel: Channel, token: bytes) -> None:
    """Authenticate both ends by the token; raises NotAllowedError."""
    channel.limit(_PATIENCE)
    nonce = secrets.token_bytes(_NONCE)
    channel.write(nonce)
    signed, theirs = channel.read(_NONCE), channel.read(_NONCE)
    if not hmac.compare_digest(signed, _sign(token, b"task", nonce)):
        raise NotAllowedError("A caller does not know the token of this fit.")
    channel.write(_sign(token, b"driver", theirs))


def connect(host: str, port: int, token: bytes) -> Channel:
    """Call the driver, and make sure that it is the one that started this fit."""
    try:
        channel = Channel(socket.create_connection((host, port), timeout=_PATIENCE))
    except OSError as error:
        raise ConnectionError(
            f"This task cannot reach the driver at {host}:{port} ({error}). Executors must be able "
            "to open a connection to the driver: give host= an address of the driver that they "
            "reach, and port= a port that is open to them."
        ) from error
    try:
        nonce = channel.read(_NONCE)
        ours = secrets.token_bytes(_NONCE)
        channel.write(_sign(token, b"task", nonce) + ours)
        if not hmac.compare_digest(channel.read(_NONCE), _sign(token, b"driver", ours)):
            raise NotAllowedError(f"{host}:{port} is not the driver of this fit.")
    except BaseException:
        channel.close()
        raise
    return channel


class Listener:
    """The driver's port: tasks that know the token come out of `wait`, others are hung up on.

    Every caller is verified in a thread of its own, so that a silent one delays nobody.

    Examples
    --------
    >>> with Listener("127.0.0.1", 0, b"secret") as listener:
    ...     task = connect("127.0.0.1", listener.port, b"secret")
    ...     driver = listener.wait(5.0)
    ...     task.send({"rows": 3})
    ...     driver.receive(5.0)
    {'rows': 3}
    >>> task.close(), driver.close()
    (None, None)
    """

    def __init__(self, host: str, port: int, token: bytes) -> None:
        self._token = token
        try:
            self._server = socket.create_server((host, port), backlog=1024)
        except OSError as error:
            raise OSError(
                f"The driver cannot listen on port {port} ({error}). Give port= one that is free, "
                "or 0 for any."
            ) from error
        self.port: int = self._server.getsockname()[1]
        self._arrived: queue.SimpleQueue[Channel] = queue.SimpleQueue()
        self._closed = False
        self._asked: dict[
            socket.socket, None
        ] = {}  # connections that have not sent the token yet, oldest first
        threading.Thread(target=self._accept, name="costboost-listener", daemon=True).start()

    def _accept(self) -> None:
        while not self._closed:
            try:
                link, _ = self._server.accept()
            except OSError:
                # Closed; or something else was in the way, such as callers who say nothing and use
                # up the file descriptors of this process: the one that waits longest makes room.
                self._hang_up_on_oldest()
                time.sleep(_MOMENT)
                continue
            self._asked[link] = None
            try:
                threading.Thread(target=self._ask, args=(link,), daemon=True).start()
            except RuntimeError:  # no thread can be started
                self._forget(link)
                self._hang_up_on_oldest()

    def _ask(self, link: socket.socket) -> None:
        try:
            channel = Channel(link)
            _admit(channel, self._token)
        except OSError:
            self._forget(link)
            return
        self._asked.pop(link, None)
        self._arrived.put(channel)
        if self._closed:
            self._hang_up()

    def wait(self, timeout: float) -> Channel | None:
        """Return the next task that has been let in; None if there is none in so many seconds."""
        try:
            return self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Stop listening, and hang up on tasks that nobody has waited for."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept
        self._server.close()
        self._hang_up()

    def _forget(self, link: socket.socket) -> None:
        self._asked.pop(link, None)
        link.close()

    def _hang_up_on_oldest(self) -> None:
        for link in list(self._asked)[:1]:
            self._asked.pop(link, None)
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)  # wakes the thread that asks it, which closes it

    def _hang_up(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._arrived.get_nowait().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
