"""Runs an ASGI app under uvicorn, with our listener, protocols and graceful shutdown."""

from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from app.settings import Settings
from app.web.server import listener
from app.web.server.graceful import Server

# Import strings: a parser that is not chosen is not loaded.
HTTP_PROTOCOLS = {
    "httptools": "app.web.server.protocol:BoundedHttpToolsProtocol",
    "h11": "app.web.server.protocol_h11:BoundedH11Protocol",
}


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """uvicorn's configuration, from `settings` alone."""
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
        workers=1,  # else uvicorn reads WEB_CONCURRENCY, which has no effect here
        timeout_keep_alive=settings.keep_alive_timeout,
        timeout_graceful_shutdown=settings.graceful_timeout,
    )


def serve(app: ASGIApp, settings: Settings, *, drain: Callable[[], None]) -> None:
    """Serves `app` until a signal, in logging that is configured already. Raises ConfigurationError.

    `drain` is called when the process begins to stop and still listens.
    """
    Server(uvicorn_config(app, settings), settings, listener.bind(settings), drain).run()
