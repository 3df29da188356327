"""Runs an ASGI app under uvicorn, with this package's listener, protocols and graceful shutdown."""

from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from app.settings import Settings
from app.web.server import listener
from app.web.server.graceful import GracefulServer

# Import strings, so that only the chosen parser is imported.
HTTP_PROTOCOLS = {
    "httptools": "app.web.server.protocol:BoundedHttpToolsProtocol",
    "h11": "app.web.server.protocol_h11:BoundedH11Protocol",
}


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """Returns uvicorn's configuration, which depends on `settings` only."""
    return uvicorn.Config(
        app,
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
        workers=1,  # without it, uvicorn reads WEB_CONCURRENCY, which has no effect here
        timeout_keep_alive=settings.keep_alive_timeout,
        timeout_graceful_shutdown=settings.graceful_timeout,
    )


def serve(app: ASGIApp, settings: Settings, *, drain: Callable[[], None]) -> None:
    """Serves `app` until a signal. Logging must be configured. Raises ConfigurationError.

    `drain` is called at the signal, while the process still listens.
    """
    GracefulServer(uvicorn_config(app, settings), settings, listener.bind(settings), drain).run()
