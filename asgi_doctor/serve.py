"""uvicorn, with an app's lifespan, under the watchdog until a signal or for a time."""

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

# That requests in flight may take when it stops.
GRACEFUL_SECONDS = 10


class Server(uvicorn.Server):
    """First SIGINT or SIGTERM: stops. Second: ends now, even where the loop does not turn any more."""

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
        """What blocks the start delays nobody: it is watched from then on."""
        if self._seconds is not None:
            asyncio.get_running_loop().call_later(self._seconds, self._stop)
        with self._watchdog, self._measuring:
            async with self._tokens.watched():
                self._started()
                await super().main_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn would repeat the signal in the end, before the summary."""
        if self.should_exit:
            self.force_exit = True
            raise KeyboardInterrupt
        self._stop()
        self._stopping()

    def _stop(self) -> None:
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """The listening socket. Raises DoctorError."""
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
    """Serves until SIGINT or SIGTERM, or for `seconds`; the number of requests.

    `measuring` is entered on the event loop. `started` is called as soon as requests are accepted, `stopping` at the
    first signal, while requests in flight may still be finished.
    """
    config = uvicorn.Config(asgi, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACEFUL_SECONDS)
    server = Server(config, watchdog, tokens, seconds, measuring=measuring, started=started, stopping=stopping)
    with suppress(KeyboardInterrupt):  # the second signal
        server.run(sockets=[listener])
    return server.server_state.total_requests
