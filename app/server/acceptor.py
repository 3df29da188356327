"""Accepts all waiting connections each time the event loop reports that the listener is readable.

uvloop 0.23 could also accept the connections, but only one per iteration of the loop, because libuv has had this limit
since 2022 (https://github.com/libuv/libuv/pull/3696). On a busy loop, an iteration takes long. New connections,
including those of probes, would then stay in the backlog for seconds.
"""

import asyncio
import errno
import socket
import time
from collections.abc import Callable

from loguru import logger

from app.server.limits import ConnectionLimits
from app.server.listener import BACKLOG

# The acceptor pauses for PAUSE_SECONDS if the maximum number of connections is open and `make_room` finds none to
# abort, or if no file descriptor or memory is free. It logs at most one pause per WARN_SECONDS.
PAUSE_SECONDS = 0.1
WARN_SECONDS = 60.0
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Acceptor:
    """Accepts connections on `listener` until `close` is called.

    `connect`: creates the asyncio protocol that serves a connection. `open_connections`: returns the number of
    connections that have a protocol. `bound`: the maximum number of open connections, or None for no limit.
    `connecting`: the tasks of accepted connections that do not have a protocol yet.
    """

    def __init__(
        self,
        listener: socket.socket,
        connect: Callable[[], asyncio.Protocol],
        limits: ConnectionLimits,
        open_connections: Callable[[], int],
        *,
        bound: int | None,
    ) -> None:
        self._listener = listener
        self._connect = connect
        self._limits = limits
        self._open_connections = open_connections
        self._bound = bound
        self._loop = asyncio.get_running_loop()
        self.connecting: set[asyncio.Task[object]] = set()
        self._resuming: asyncio.TimerHandle | None = None
        self._warned = -WARN_SECONDS
        listener.setblocking(False)

    def start(self) -> None:
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        """Closes the listener, but first accepts all connections in the backlog, because closing would reset them."""
        self._loop.remove_reader(self._listener)
        while self._accept_one():
            pass
        if self._resuming is not None:
            self._resuming.cancel()
        self._listener.close()

    def _accept(self) -> None:
        for accepted in range(BACKLOG):
            if self._full():
                if accepted:
                    return  # if more clients wait, the loop calls this method again, which then makes room
                if not self._limits.make_room():
                    self._pause(f"{self._bound} connections are open, and none of them is idle")
                    return
            if not self._accept_one():
                return

    def _full(self) -> bool:
        return self._bound is not None and self._open_connections() + len(self.connecting) >= self._bound

    def _accept_one(self) -> bool:
        """Accepts one connection. Returns False if the backlog is empty, or if no file descriptor or memory is free."""
        try:
            accepted, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionAbortedError:
            return True  # the client has disconnected; another client may be waiting
        except OSError as error:
            if error.errno not in _NO_DESCRIPTOR:
                raise
            self._limits.make_room()
            self._pause(f"accept failed: {error}")
            return False
        accepted.setblocking(False)
        task = self._loop.create_task(self._loop.connect_accepted_socket(self._connect, accepted))
        self.connecting.add(task)
        task.add_done_callback(self._connected)
        return True

    def _connected(self, task: asyncio.Task[object]) -> None:
        self.connecting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("A connection was accepted but lost before it could be served: {!r}", error)

    def _pause(self, reason: str) -> None:
        if time.monotonic() - self._warned >= WARN_SECONDS:
            self._warned = time.monotonic()
            logger.warning("Accepting is paused: {}", reason)
        self._loop.remove_reader(self._listener)
        self._resuming = self._loop.call_later(PAUSE_SECONDS, self.start)
