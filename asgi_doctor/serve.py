"""Runs an app with uvicorn under the watchdog, until a signal or for a given time."""

import asyncio
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from types import FrameType
from typing import Any

import uvicorn

from asgi_doctor.errors import START_FAILED, DoctorError
from asgi_doctor.watchdog import Watchdog

# Seconds that requests in flight may take after the first signal.
GRACEFUL_SECONDS = 10


class WatchedServer(uvicorn.Server):
    """Stops at the first SIGINT or SIGTERM.

    After a second signal, `serve` returns when the default executor's threads have ended, even if the loop is stuck.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        watchdog: Watchdog,
        seconds: float | None,
        *,
        measuring: AbstractContextManager[None],
        started: Callable[["WatchedServer"], None],
        stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._watchdog, self._seconds = watchdog, seconds
        self._measuring, self._started, self._stopping = measuring, started, stopping

    async def main_loop(self) -> None:
        """Serves requests, and watches the loop. Before this method is called, `Startup` watches the loop's thread."""
        if self._seconds is not None:
            asyncio.get_running_loop().call_later(self._seconds, self.stop)
        await self._watchdog.pools.discover()  # not watched, because it may import AnyIO's backend
        with self._watchdog, self._measuring:
            self._started(self)
            await super().main_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Replaces uvicorn's handler, because uvicorn would raise the signal again before the summary is printed."""
        if self.should_exit:
            self.force_exit = True
            raise KeyboardInterrupt
        self.stop()
        self._stopping()

    def finish(self) -> None:
        """Waits for background tasks, at most GRACEFUL_SECONDS, then stops. Call this outside the loop's thread."""
        latest = time.monotonic() + GRACEFUL_SECONDS
        while self.server_state.tasks and time.monotonic() < latest:
            time.sleep(0.1)
        self.stop()

    def stop(self) -> None:
        """Ends the server as soon as the loop is free. Any thread may call this."""
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Raises DoctorError if the process cannot listen at the address."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError, UnicodeError) as error:
        raise DoctorError(f"--host {host} --port {port}: cannot listen there: {error}; 0 takes a free port") from None


def serve(
    asgi: Any,
    listener: socket.socket,
    watchdog: Watchdog,
    *,
    started: Callable[[WatchedServer], None],
    stopping: Callable[[], None],
    loop: str = "auto",
    seconds: float | None = None,
    measuring: AbstractContextManager[None] | None = None,
) -> int:
    """Serves until SIGINT or SIGTERM, or for `seconds`. Returns the number of requests that were answered completely.

    `loop` is uvicorn's option: auto, asyncio or uvloop. The event loop runs the server within the context `measuring`.
    `started` is called when the server begins to accept requests. `stopping` is called at the first signal, before
    requests in flight are finished. Raises SystemExit if the application's start-up fails.
    """
    config = uvicorn.Config(
        asgi, loop=loop, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACEFUL_SECONDS
    )
    measuring = measuring or nullcontext()
    server = WatchedServer(config, watchdog, seconds, measuring=measuring, started=started, stopping=stopping)
    with suppress(KeyboardInterrupt):  # the second signal
        server.run(sockets=[listener])
        if not server.started and server.lifespan.should_exit:  # newer versions of uvicorn raise SystemExit
            sys.exit(START_FAILED)
    return server.server_state.total_requests
