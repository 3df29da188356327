"""Runs an app with uvicorn under the watchdog, until a signal or for a given time."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import FrameType
from typing import Any

import uvicorn

from asgi_doctor.errors import DoctorError
from asgi_doctor.tokens import Tokens
from asgi_doctor.watchdog import Watchdog

# Time that requests in flight may take after the first signal.
GRACEFUL_SECONDS = 10


class WatchedServer(uvicorn.Server):
    """Stops at the first SIGINT or SIGTERM. The second one ends the process at once, even if the loop is blocked."""

    def __init__(
        self,
        config: uvicorn.Config,
        watchdog: Watchdog,
        tokens: Tokens,
        seconds: float | None,
        *,
        measuring: AbstractContextManager[None],
        started: Callable[[], None],
        stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._measuring = measuring
        self._watchdog, self._tokens, self._seconds = watchdog, tokens, seconds
        self._started, self._stopping = started, stopping

    async def main_loop(self) -> None:
        """Watches the loop from here on. What blocks the loop before, during start-up, delays no request."""
        if self._seconds is not None:
            asyncio.get_running_loop().call_later(self._seconds, self._stop)
        with self._watchdog, self._measuring:
            async with self._tokens.watched():
                self._started()
                await super().main_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Replaces uvicorn's handler, which would raise the signal again at its end, before the summary is printed."""
        if self.should_exit:
            self.force_exit = True
            raise KeyboardInterrupt
        self._stop()
        self._stopping()

    def _stop(self) -> None:
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Raises DoctorError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise DoctorError(f"--host {host} --port {port}: cannot listen there: {error}; 0 takes a free port") from None


def serve(
    asgi: Any,
    listener: socket.socket,
    watchdog: Watchdog,
    tokens: Tokens,
    *,
    measuring: AbstractContextManager[None],
    started: Callable[[], None],
    stopping: Callable[[], None],
    seconds: float | None = None,
) -> int:
    """Serves until SIGINT or SIGTERM, or for `seconds`. Returns the number of requests.

    `measuring` is entered on the event loop. `started` is called as soon as the server accepts requests. `stopping` is
    called at the first signal, before requests in flight are finished.
    """
    config = uvicorn.Config(asgi, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACEFUL_SECONDS)
    server = WatchedServer(config, watchdog, tokens, seconds, measuring=measuring, started=started, stopping=stopping)
    with suppress(KeyboardInterrupt):  # the second signal
        server.run(sockets=[listener])
    return server.server_state.total_requests
