"""Extends uvicorn's server with a graceful shutdown that drops no accepted connection.

On SIGTERM, plain uvicorn closes its listener at once. A load balancer that still sends requests then cannot connect.
`UvicornServer` drains first: for APP_DRAIN_DELAY seconds, it continues to listen, and answers webhooks with 503. It
resets connections that nobody has accepted when it closes its listener, and `GracefulServer` does not.
"""

import asyncio
import gc
import socket
import time
from collections.abc import Callable

import uvicorn

from app.settings import WebSettings
from app.web.server import listener
from app.web.server.acceptor import Acceptor
from app.web.server.connections import ConnectionLimits
from app.web.uvicorn_server import UvicornServer

# Seconds for which the server waits before it closes the listener, so that TCP handshakes that have begun can complete.
# A handshake takes one round trip.
LAST_ACCEPT_SECONDS = 0.2
# Seconds in which clients can send their first request on the connections that were accepted last.
LAST_CALL_SECONDS = 3.0


class GracefulServer(UvicornServer):
    """Accepts connections with `Acceptor`, and drops none of them when it stops. `door`: see `serve`."""

    def __init__(
        self,
        config: uvicorn.Config,
        settings: WebSettings,
        listening: socket.socket,
        drain: Callable[[], None],
        door: object = None,
    ) -> None:
        super().__init__(config, drain, settings.drain_delay, listener.described(listening, settings.release))
        self._settings = settings
        self._socket = listening
        self._max_connections = listener.max_connections(settings)
        self._arguments = {} if door is None else {"door": door}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Runs the application's start-up. Then accepts connections with `Acceptor` instead of asyncio's servers."""
        await super().startup(sockets=[])
        if not self.started:
            return
        loop, settings = asyncio.get_running_loop(), self._settings
        self._limits = ConnectionLimits(
            loop, settings.head_timeout, settings.keep_alive_timeout, self.server_state.connections
        )
        self._acceptor = Acceptor(
            self._socket,
            self._connect,
            self._limits,
            lambda: len(self.server_state.connections),
            bound=self._max_connections,
        )
        tune_gc()
        self._acceptor.start()

    def _connect(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]  # one of this package's
            limits=self._limits,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            _loop=asyncio.get_running_loop(),
            **self._arguments,
        )
        return protocol

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
        await super().shutdown(sockets=[])
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

    v01 to v10 keep CPython's thresholds. v01 to v05 need frequent collections, because each request leaves a boto3
    client that only the collector can free.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
