"""Runs an ASGI app under uvicorn as people install it, or under this package's listener and protocols."""

from collections.abc import Callable

import uvicorn
from loguru import logger
from starlette.types import ASGIApp

from app import open_files
from app.settings import WebSettings
from app.web.server import listener
from app.web.server.exchange import Door
from app.web.server.graceful import GracefulServer
from app.web.server.listener import is_loopback
from app.web.uvicorn_server import UvicornServer

# Import strings, so that a process imports only the protocol that it needs.
HTTP = "app.web.server.protocol:BoundedHttpToolsProtocol"
CALLBACKS = "app.web.server.protocol_callbacks:CallbackProtocol"  # for a release without ASGI


def uvicorn_config(app: ASGIApp, settings: WebSettings, http: str = "auto") -> uvicorn.Config:
    """Returns uvicorn's configuration. Its options do not depend on the environment. `http`: the protocol."""
    return uvicorn.Config(
        app,
        http=http,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,  # without this option, uvicorn would read WEB_CONCURRENCY
        timeout_keep_alive=settings.keep_alive_timeout,
        timeout_graceful_shutdown=settings.graceful_timeout,
    )


def serve_by_uvicorn(app: ASGIApp, settings: WebSettings, *, drain: Callable[[], None]) -> None:
    """Serves `app` by uvicorn's own protocols. See `serve`. Logs a warning unless it listens on loopback only."""
    if not is_loopback(settings.host):
        release = settings.release.value
        logger.warning("{}: uvicorn lacks bounds that the newest release has: docs/contract.md lists them", release)
    open_files.raise_limit()
    listening = listener.bind(settings)
    started_as = listener.described(listening, settings.release)
    config = uvicorn_config(app, settings)
    UvicornServer(config, drain, settings.drain_delay, started_as).run(sockets=[listening])


def serve(app: ASGIApp, settings: WebSettings, *, drain: Callable[[], None], door: Door | None = None) -> None:
    """Serves `app` until a signal stops the server. Raises ConfigurationError if the address is not available.

    `door` gets the requests that are served without ASGI.

    Configure logging before the call. The server calls `drain` when it receives the signal, while it still listens.
    """
    config = uvicorn_config(app, settings, HTTP if door is None else CALLBACKS)
    GracefulServer(config, settings, listener.bind(settings), drain, door).run()
