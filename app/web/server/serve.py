"""Runs an ASGI app under uvicorn, with this package's listener, protocols and graceful shutdown."""

from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from app.settings import Settings
from app.web.server import listener
from app.web.server.exchange import Door
from app.web.server.graceful import GracefulServer

# The values are import strings, so that uvicorn imports only the chosen parser.
HTTP_PROTOCOLS = {
    "httptools": "app.web.server.protocol:BoundedHttpToolsProtocol",
    "h11": "app.web.server.protocol_h11:BoundedH11Protocol",
}


# The protocol for a release without ASGI.
CALLBACKS = "app.web.server.protocol_callbacks:CallbackProtocol"


def uvicorn_config(app: ASGIApp, settings: Settings, door: Door | None = None) -> uvicorn.Config:
    """Returns uvicorn's configuration. Its options do not depend on the environment."""
    return uvicorn.Config(
        app,
        loop=settings.loop,
        http=HTTP_PROTOCOLS[settings.http] if door is None else CALLBACKS,
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


def serve(app: ASGIApp, settings: Settings, *, drain: Callable[[], None], door: Door | None = None) -> None:
    """Serves `app` until a signal stops the server. Raises ConfigurationError if the address is not available.

    `door` gets the requests that are served without ASGI.

    Configure logging before the call. The server calls `drain` when it receives the signal, while it still listens.
    """
    GracefulServer(uvicorn_config(app, settings, door), settings, listener.bind(settings), drain, door).run()
