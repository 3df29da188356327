"""Runs the server: accepts connections, and stops after a signal without dropping an accepted connection.

After SIGTERM, a load balancer still opens connections for some seconds. If the listener closed at once, the kernel
would refuse these connections. Therefore, the server continues to listen for `Stop.delay` seconds, and then accepts the
connections in the backlog.
"""

import asyncio
import gc
import signal
import socket
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import NamedTuple, TypeVar

import uvloop
from loguru import logger

from app.server import listener
from app.server.acceptor import Acceptor
from app.server.connection import Connection
from app.server.limits import ConnectionLimits, Limits
from app.server.request import Handler
from app.server.states import State

# Seconds for which the server waits before it closes the listener, so that TCP handshakes that have begun can complete.
# A handshake takes one round trip.
LAST_ACCEPT_SECONDS = 0.2
# Seconds in which clients can send their first request on the connections that were accepted last.
LAST_CALL_SECONDS = 3.0
# Seconds between two cancellations of the server's task after a second signal.
CANCEL_SECONDS = 0.02
_State = TypeVar("_State")


class Stop(NamedTuple):
    """Says how the server stops. `drain` is called at the first signal, while the server still listens.

    `delay`: seconds from SIGTERM until the listener closes. After SIGINT and SIGHUP, the listener closes at once.
    `patience`: maximum seconds that the server waits for requests in flight after the listener has closed.
    """

    drain: Callable[[], None]
    delay: float
    patience: float


class Server:
    """Serves the connections that the socket `listening` accepts. `url` is logged when the server starts."""

    def __init__(self, listening: socket.socket, limits: Limits, stop: Stop, url: str) -> None:
        self._listening, self._limits, self._stop, self._url = listening, limits, stop, url
        self.connections: set[Connection] = set()
        self._signal: int | None = None  # the first signal
        self._signalled = asyncio.Event()

    def run(
        self, lifespan: Callable[[], AbstractAsyncContextManager[_State]], handler: Callable[[_State], Handler]
    ) -> None:
        """Serves until a signal stops the server.

        `handler`: a function that takes the value that `lifespan` yields, and returns the handler of the requests.
        """
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, suppress(asyncio.CancelledError):
            runner.run(self._serve(lifespan, handler))
        logger.info("Finished server process")

    async def _serve(
        self, lifespan: Callable[[], AbstractAsyncContextManager[_State]], make: Callable[[_State], Handler]
    ) -> None:
        loop = asyncio.get_running_loop()
        self._catch_signals(loop)
        async with lifespan() as state:
            limits = ConnectionLimits(loop, self._limits)
            connect = partial(Connection, make(state), limits, self.connections)
            bound = self._limits.connections
            acceptor = Acceptor(self._listening, connect, limits, lambda: len(self.connections), bound=bound)
            tune_gc()
            acceptor.start()
            logger.info("Listening on {}", self._url)
            await self.serve_until_drained(connect, limits)
            await self._close(acceptor)
        for connection in list(self.connections):
            connection.transport.abort()
        limits.close()

    def _catch_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # nohup sets SIG_IGN
        serving = asyncio.current_task(loop)
        assert serving is not None
        for sig in (signal.SIGTERM, signal.SIGINT, *(() if ignored else (signal.SIGHUP,))):
            loop.add_signal_handler(sig, self._on_signal, sig, serving)

    def _on_signal(self, sig: int, serving: "asyncio.Task[None]") -> None:
        if self._signal is None:
            self._signal = sig
            self._stop.drain()
            self._signalled.set()
        elif sig != signal.SIGHUP:  # a closed terminal (SIGHUP) is no reason to end at once
            logger.warning("Second signal: ending now")
            for connection in list(self.connections):
                connection.transport.abort()
            self._end_now(serving)

    def _end_now(self, serving: "asyncio.Task[None]") -> None:
        """Cancels the task `serving` again and again until it ends.

        One cancellation may not be enough: at its end, the lifespan may await several calls to other services.
        """
        if not serving.done():
            serving.cancel()
            asyncio.get_running_loop().call_later(CANCEL_SECONDS, self._end_now, serving)

    async def serve_until_drained(self, connect: Callable[[], Connection], limits: ConnectionLimits) -> None:
        """Waits until the listener should close. The load test replaces this method, and uses both parameters."""
        await self._signalled.wait()
        delay = self._stop.delay if self._signal == signal.SIGTERM else 0
        logger.info("Draining for {:g} s", delay)
        await asyncio.sleep(delay)

    async def _close(self, acceptor: Acceptor) -> None:
        """Accepts pending connections, closes the listener, and waits for the requests on all connections.

        New connections have LAST_CALL_SECONDS for their first request, which may be on its way.
        """
        listener.drop_new(self._listening)
        await asyncio.sleep(LAST_ACCEPT_SECONDS)
        acceptor.close()
        await _wait_until(lambda: not (acceptor.connecting or any(map(is_silent, self.connections))), LAST_CALL_SECONDS)
        for connection in list(self.connections):
            connection.shutdown()
        if self.connections:
            logger.info("Waiting for connections to close")
        await _wait_until(lambda: not self.connections, self._stop.patience)
        for connection in list(self.connections):
            connection.stop_waiting()
        logger.info("Waiting for application shutdown")


def is_silent(connection: Connection) -> bool:
    """Returns True if the client has opened the connection but has not begun to send a request yet."""
    return connection.state is State.NEW


async def _wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Returns when `condition` returns True, or after `seconds`."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110  # no event: several things end these waits
        await asyncio.sleep(0.01)


def tune_gc() -> None:
    """Makes garbage collection rarer and shorter: raises the thresholds, and freezes the objects that exist now.

    A full collection visits every object that is not frozen, so its pause grows with the number of waiting requests.
    CPython's own thresholds are 700, 10 and 10 in Python 3.11.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
