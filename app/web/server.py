"""uvicorn, started by us: one process or several, and a stop that drops nobody.

On SIGTERM plain uvicorn closes its listener at once, and a load balancer that has not noticed yet runs into
refused connections. Ours goes on listening for APP_DRAIN_DELAY and answers 503; see `Server.handle_exit`.
"""

import asyncio
import multiprocessing
import resource
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from loguru import logger
from uvicorn.supervisors import multiprocess

from app.errors import ConfigurationError
from app.settings import Settings

# How long accepted connections have for their request after the listener is closed.
LAST_CALL_SECONDS = 1.0


class Server(uvicorn.Server):
    """First SIGTERM: drain, then stop. SIGINT: stop. A second signal: end now."""

    _loop: asyncio.AbstractEventLoop | None = None
    _signalled = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal handler: it only leaves word for the event loop."""
        if sig == signal.SIGINT and multiprocessing.parent_process() is not None:
            return  # Ctrl-C reaches the whole terminal group; a worker waits for its parent's SIGTERM.
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._on_signal, sig)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

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
        logger.info("Draining for {:g} s", delay)
        self._loop.call_later(delay, setattr, self, "should_exit", True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closes the listener, lets accepted connections ask and be answered, then ends as uvicorn does."""
        for server in self.servers:
            server.close()
        last_call = time.monotonic() + LAST_CALL_SECONDS
        # uvicorn would close these at once, and their request may be under way.
        while time.monotonic() < last_call and self._silent_connections():  # noqa: ASYNC110  # nothing to wait for
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)

    def _silent_connections(self) -> bool:
        """Whether a connection has not asked anything yet."""
        return any(getattr(connection, "cycle", self) is None for connection in self.server_state.connections)


class Worker(multiprocess.Process):
    """One of several processes behind the port, with our Server."""

    @property
    def server(self) -> uvicorn.Server:
        if self._server is None:
            self._server = Server(config=self.config)
        return self._server


def serve(settings: Settings, on_bound: Callable[[str], None] | None = None) -> None:
    """Serves until a signal; `on_bound` hears the URL once the port is ours. Raises ConfigurationError."""
    _raise_open_files_limit()
    config = uvicorn.Config(
        "app.web.main:app_from_env",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop=settings.loop,
        http=settings.http,
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
    listener = _bind(settings)
    url = _url(listener)
    if on_bound is not None:
        on_bound(url)
    logger.info("Listening on {} with {} ({})", url, settings.release.value, settings.release.version)
    if settings.workers > 1:
        multiprocess.Process = Worker  # type: ignore[misc]  # uvicorn's supervisor offers no other way
        multiprocess.Multiprocess(config, sockets=[listener]).run()
    else:
        Server(config).run(sockets=[listener])


def _bind(settings: Settings) -> socket.socket:
    """The listening socket-to-be. Raises ConfigurationError where the address is not to be had."""
    try:
        candidates = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = candidates[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise ConfigurationError(
            f"APP_HOST={settings.host}, APP_PORT={settings.port}: cannot listen there: {error.strerror};"
            " allowed is an address of this machine and a free port (0 takes one)"
        ) from None
    listener.set_inheritable(True)  # for the workers
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # what is compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _raise_open_files_limit() -> None:
    """One socket a connection: the usual soft limit (1,024; macOS 256) is below APP_MAX_IN_FLIGHT."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
