"""Serves an application with uvicorn (v01 to v10), or with this project's server (later releases)."""

import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from loguru import logger

from app import open_files
from app.errors import ConfigurationError, cannot_listen
from app.server import listener
from app.server.bridge import Bridge
from app.server.limits import Limits
from app.server.request import Exchange, Handler, Request
from app.server.run import Server, Stop
from app.settings import WebSettings
from app.settings.text import http_url, shown
from app.web.middleware import PATH
from app.web.service import Service
from app.web.uvicorn_server import UvicornServer
from app.web.webhooks import Webhooks

# Number of file descriptors to reserve, for example for the log. Connections from clients and to SQS are not included.
_RESERVED_FILES = 100
# The service does not start if the limit of open files allows fewer connections, because the server would then close
# senders' connections to accept the connections of probes. If APP_MAX_CONNECTIONS is lower, it replaces this number.
_LEAST_CONNECTIONS = 32


def serve(app: FastAPI, *, ours: bool = False) -> None:
    """Serves `app` until a signal stops the process. Raises ConfigurationError if the address is not available.

    Uses this project's server if the release handles webhooks without ASGI or if `ours` is True, otherwise uvicorn.
    From the first signal on, the process rejects new webhooks, but still listens. Configure logging before the call.
    """
    service = Service.of(app)
    settings, webhooks, drain = service.settings, service.webhooks, service.admission.drain
    listening = bind(settings)
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # an address to open in a browser
    started_as = f"{http_url(host, port)} with {settings.release.value} ({settings.release.version})"
    if webhooks is None and not ours:
        _serve_by_uvicorn(app, settings, drain, listening, started_as)
        return
    limits = Limits(
        settings.head_timeout, settings.body_timeout, settings.keep_alive_timeout, max_connections(settings)
    )
    stop = Stop(drain, settings.drain_delay, settings.graceful_timeout)
    Server(listening, limits, stop, started_as).run(
        partial(app.router.lifespan_context, app), partial(routed, app, webhooks)
    )


def bind(settings: WebSettings) -> socket.socket:
    """Returns a socket that listens on the configured address. Raises ConfigurationError if this is not possible."""
    try:
        return listener.bind(settings.host, settings.port)
    except (OSError, UnicodeError) as error:
        raise cannot_listen(shown(settings.host), settings.port, error) from None


def max_connections(settings: WebSettings) -> int | None:
    """Increases the process's limit of open files. Returns the maximum number of connections, or None for no limit.

    The maximum is APP_MAX_CONNECTIONS, or less if the process may open fewer files. Raises ConfigurationError if the
    process may open too few files even for _LEAST_CONNECTIONS.
    """
    files = open_files.raise_limit()
    if files is None:
        return settings.max_connections or None
    reserved = _RESERVED_FILES + max(settings.sqs_max_connections or 0, 64)
    needed = reserved + min(settings.max_connections or _LEAST_CONNECTIONS, _LEAST_CONNECTIONS)
    if files < needed:
        raise ConfigurationError(
            f"ulimit -n {files}: allowed are {needed} or more open files, because the service reserves {reserved} for"
            " everything except connections from clients"
        )
    return min(settings.max_connections or files, files - reserved)


def routed(app: FastAPI, webhooks: Webhooks | None, state: Mapping[str, Any] | None) -> Handler:
    """Returns a handler that passes webhooks to `webhooks`, and all other requests to `app`.

    If `webhooks` is None, `app` gets all requests. `state`: the value that the lifespan of `app` has yielded.
    """
    bridge = Bridge(app, state or {})
    if webhooks is None:
        return bridge
    webhooks.begin(state or {})

    def handle(request: Request) -> Exchange | None:
        if request.path == PATH and request.method == "POST":
            return webhooks(request)
        return bridge(request)

    return handle


def uvicorn_config(app: FastAPI, settings: WebSettings) -> uvicorn.Config:
    """Returns uvicorn's configuration. Environment variables of uvicorn have no effect on it."""
    return uvicorn.Config(
        app,
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


def _serve_by_uvicorn(
    app: FastAPI, settings: WebSettings, drain: Callable[[], None], listening: socket.socket, started_as: str
) -> None:
    """Serves all requests with uvicorn. Logs a warning unless only this machine can connect to `listening`."""
    if not listener.is_loopback(settings.host):
        release = settings.release.value
        logger.warning("{}: uvicorn lacks bounds that the newest release has: docs/history.md lists them", release)
    open_files.raise_limit()
    UvicornServer(uvicorn_config(app, settings), drain, settings.drain_delay, started_as).run(sockets=[listening])
