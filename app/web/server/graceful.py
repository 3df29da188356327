"""Extends uvicorn's server with a graceful shutdown that drops no accepted connection.

On SIGTERM, plain uvicorn closes its listener at once. A load balancer that still sends requests then cannot connect.
This server drains first: for APP_DRAIN_DELAY seconds, it continues to listen, and answers webhooks with 503.
"""

import asyncio
import gc
import logging
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from loguru import logger

from app.settings import Settings
from app.web.server import listener
from app.web.server.acceptor import Acceptor
from app.web.server.connections import ConnectionLimits

# Seconds for which the server waits before it closes the listener, so that TCP handshakes that have begun can complete.
# A handshake takes one round trip.
LAST_ACCEPT_SECONDS = 0.2
# Seconds in which clients can send their first request on the connections that were accepted last.
LAST_CALL_SECONDS = 3.0


class GracefulServer(uvicorn.Server):
    """Drains and then stops after SIGTERM. Stops without a drain delay after SIGINT or SIGHUP.

    A second SIGTERM or SIGINT ends the server at once. After signals, the exit code is 0. If the application's start-up
    fails, uvicorn ends the process with its own exit code, 3.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        settings: Settings,
        listening: socket.socket,
        drain: Callable[[], None],
        door: object = None,
    ) -> None:
        super().__init__(config)
        self._settings = settings
        self._socket = listening
        self._max_connections = listener.max_connections(settings)
        self._drain = drain
        self._arguments = {} if door is None else {"door": door}  # of the protocol
        self._loop: asyncio.AbstractEventLoop | None = None
        self._signalled = False
        self._closing: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Passes a signal to the event loop. If it arrives before `startup`, the server stops right after `startup`."""
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._on_signal, sig)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Runs the application's start-up. Then accepts connections with `Acceptor` instead of asyncio's servers."""
        self._loop = asyncio.get_running_loop()
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
            signal.signal(signal.SIGHUP, self.handle_exit)
        await super().startup(sockets=[])
        if not self.started:
            return
        settings = self._settings
        self._limits = ConnectionLimits(
            self._loop, settings.head_timeout, settings.keep_alive_timeout, self.server_state.connections
        )
        self._acceptor = Acceptor(
            self._socket,
            self._connect,
            self._limits,
            lambda: len(self.server_state.connections),
            bound=self._max_connections,
            at_once=listener.accepted_at_once(settings),
        )
        if (settings.gc or ("default" if settings.release.published else "tuned")) == "tuned":
            tune_gc()
        self._acceptor.start()
        logger.info(
            "Listening on {} with {} ({})", listener.url(self._socket), settings.release.value, settings.release.version
        )

    def _connect(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]  # of HTTP_PROTOCOLS
            limits=self._limits,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            _loop=self._loop,
            **self._arguments,
        )
        return protocol

    def _on_signal(self, sig: int) -> None:
        assert self._loop is not None
        if self._signalled:
            if sig == signal.SIGHUP:
                return  # SIGHUP means that the terminal has closed, which is no reason to end at once
            logger.warning("Second signal: ending now")
            self.should_exit = self.force_exit = True
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            self.lifespan.logger.setLevel(logging.CRITICAL)  # a cancelled lifespan would log a traceback
            if self._closing is not None:
                self._closing.cancel()
            return
        self._signalled = True
        self._drain()
        delay = self._settings.drain_delay if sig == signal.SIGTERM else 0
        logger.info("Draining for {:g} s", delay)
        self._loop.call_later(delay, self._stop)

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accepts pending connections, closes the listener, and waits for requests on these connections.

        The wait takes at most LAST_CALL_SECONDS. Then calls uvicorn's shutdown, which waits for the requests in flight.
        """
        if not self.force_exit:
            listener.drop_new(self._socket)
            await asyncio.sleep(LAST_ACCEPT_SECONDS)
        self._acceptor.close()
        last_call = time.monotonic() + LAST_CALL_SECONDS
        # uvicorn would immediately close a connection that has had no request, although a request may be on its way.
        while self._silent() and time.monotonic() < last_call and not self.force_exit:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.01)
        # A task, because uvicorn does not notice a second signal while it waits for the application's shutdown.
        self._closing = asyncio.create_task(super().shutdown(sockets=[]))
        await asyncio.wait([self._closing])
        if not self._closing.cancelled():
            self._closing.result()
        self._limits.close()

    def _silent(self) -> bool:
        """Returns True if at least one client has opened a connection but has not sent a request yet."""
        return self._acceptor.connecting > 0 or any(
            getattr(connection, "silent", False) for connection in self.server_state.connections
        )


def tune_gc() -> None:
    """Makes Python collect garbage less often: freezes the objects that exist now, and raises the thresholds.

    A full collection visits every object that is not frozen, so its pause grows with the number of waiting requests.
    loadtest/RESULTS.md shows what CPython's own thresholds (700, 10, 10 in Python 3.11) cost under overload.

    By default, the server calls this function for v08 and later. v01 to v07 keep CPython's thresholds, as the service
    of the talk did. v01 to v05 need frequent collections, because each request leaves a boto3 client that only the
    collector can free. APP_GC overrides the default of a release.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
