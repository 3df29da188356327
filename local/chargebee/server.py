"""Creates the stand-in's application, and serves it on a socket that already listens."""

import socket
import time
from collections.abc import Callable, Iterable

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from local.chargebee.api import Api
from local.chargebee.behaviour import Behaviour
from local.chargebee.control import ControlPaths
from local.chargebee.invoices_page import Page
from local.chargebee.operations import Site
from local.chargebee.routing import PREFIX
from local.local_guard import LOOPBACK, SameOriginGuard

# When the server stops, uvicorn closes open connections after this many seconds, because the page's event
# streams never end by themselves.
_GRACE_SECONDS = 1
BACKLOG = 2048


def create_app(
    behaviour: Behaviour, clock: Callable[[], float] | None = None, hosts: Iterable[str] = LOOPBACK
) -> Starlette:
    """Returns an application that serves the API, the control paths (`/_/…`) and the web page.

    The application rejects requests whose Host header is not one of `hosts`. `clock` returns the unix time in seconds.
    """
    api = Api(Site(), behaviour, clock or steady_clock())
    return Starlette(
        routes=[
            Route(f"{PREFIX}/{{path:path}}", api.answer, methods=["GET", "POST", "PUT", "DELETE"]),
            *ControlPaths(api).routes(),
            *Page(api).routes(),
        ],
        middleware=[Middleware(SameOriginGuard, hosts=hosts)],
    )


def steady_clock() -> Callable[[], float]:
    """Returns a clock of unix seconds that does not jump when the system's clock is corrected."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serves `app` until SIGTERM or SIGINT."""
    # The level `critical` hides the error that uvicorn logs for each answer that the stand-in cuts off on purpose.
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, ws="none", timeout_graceful_shutdown=_GRACE_SECONDS
    )
    uvicorn.Server(config).run(sockets=[listener])
