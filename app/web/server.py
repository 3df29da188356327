"""uvicorn, started by us, and a stop that drops nobody.

On SIGTERM plain uvicorn closes its listener at once, and a load balancer that has not noticed yet runs into
refused connections. Ours first drains: for APP_DRAIN_DELAY it goes on listening, and answers 503.
"""

import asyncio
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from loguru import logger

from app.settings import Settings
from app.sqs.account import require_region
from app.web import listener, workers

# How long the last accepted connections have to be seen, and to send their request.
LAST_ACCEPT_SECONDS = 0.1
LAST_CALL_SECONDS = 1.0

# Import strings: a parser that is not chosen is not loaded.
HTTP_PROTOCOLS = {"httptools": "app.web.protocol:BoundedHttpToolsProtocol", "h11": "h11"}


class Server(uvicorn.Server):
    """First SIGTERM: drain, then stop. SIGINT: stop. A second signal: end now. Exit code 0."""

    _loop: asyncio.AbstractEventLoop | None = None
    _signalled = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal handler: it only leaves word for the event loop."""
        if sig == signal.SIGINT and _is_worker():
            return  # Ctrl-C reaches the whole terminal group; a worker waits for its parent's word.
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._on_signal, sig)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        if _is_worker():
            self._loop.add_signal_handler(workers.HURRY, self._on_signal, workers.HURRY)
        await super().startup(sockets)
        if self.started and sockets:
            release = self.config.loaded_app.state.settings.release
            logger.info("Listening on {} with {} ({})", listener.url(sockets[0]), release.value, release.version)

    def _on_signal(self, sig: int) -> None:
        assert self._loop is not None
        if self._signalled:
            logger.warning("Second signal: ending now")
            self.should_exit = self.force_exit = True
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            return
        self._signalled = True
        state = self.config.loaded_app.state
        state.admission.draining = True
        delay = state.settings.drain_delay if sig == signal.SIGTERM else 0
        if _is_worker():
            delay += workers.HEAD_START_SECONDS
        logger.info("Draining for {:g} s", delay)
        self._loop.call_later(delay, setattr, self, "should_exit", True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes in who is at the door, closes it, lets them ask and be answered, then ends as uvicorn does."""
        if not self.force_exit:
            if sockets and not _is_worker():
                listener.turn_away(sockets[0])
            await asyncio.sleep(LAST_ACCEPT_SECONDS)
            for server in self.servers:
                server.close()
            last_call = time.monotonic() + LAST_CALL_SECONDS
            # uvicorn would close these at once, and their request may be under way.
            while self._silent_connections() and time.monotonic() < last_call:  # noqa: ASYNC110  # nothing to await
                await asyncio.sleep(0.01)
        await super().shutdown(sockets)

    def _silent_connections(self) -> bool:
        """Whether a connection has not asked anything yet."""
        return any(getattr(connection, "cycle", self) is None for connection in self.server_state.connections)


def _is_worker() -> bool:
    return multiprocessing.parent_process() is not None


def uvicorn_config(settings: Settings) -> uvicorn.Config:
    """What uvicorn is told; our part of it all comes from Settings."""
    return uvicorn.Config(
        "app.web.main:app_from_env",
        factory=True,
        workers=settings.workers,
        loop=settings.loop,
        http=HTTP_PROTOCOLS[settings.http],
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=settings.access_log,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=settings.limit_concurrency,
        backlog=settings.backlog,
        timeout_keep_alive=settings.keep_alive_timeout,
        timeout_graceful_shutdown=settings.graceful_timeout,
    )


def serve(settings: Settings, on_bound: Callable[[str], None] | None = None) -> None:
    """Serves until a signal; `on_bound` hears the URL once the port is ours. Raises ConfigurationError."""
    require_region()
    listener.raise_open_files_limit()
    door = listener.bind(settings)
    if on_bound is not None:
        on_bound(listener.url(door))
    config = uvicorn_config(settings)
    if settings.workers > 1:
        workers.supervise(config, door, settings.drain_delay)
    else:
        Server(config).run(sockets=[door])
