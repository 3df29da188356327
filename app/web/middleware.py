"""One middleware, written both ways: a request id and the app's time, as response headers.

APP_MIDDLEWARE chooses; the talk's advice is to avoid BaseHTTPMiddleware, and this makes its cost measurable.
"""

from time import perf_counter
from uuid import uuid4

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def _mark(headers: MutableHeaders, started: float) -> None:
    headers["X-Request-ID"] = uuid4().hex
    headers["Server-Timing"] = f"app;dur={(perf_counter() - started) * 1000:.2f}"


class AsgiTiming:
    """As pure ASGI: a function around `send`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                _mark(MutableHeaders(scope=message), started)
            await send(message)

        await self._app(scope, receive, send_marked if scope["type"] == "http" else send)


class BaseHttpTiming(BaseHTTPMiddleware):
    """As Starlette's BaseHTTPMiddleware: a task group and a pair of memory streams for each request."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        started = perf_counter()
        response = await call_next(request)
        _mark(response.headers, started)
        return response


def add_middleware(app: FastAPI, name: str) -> None:
    """Adds the middleware that APP_MIDDLEWARE names."""
    if name == "asgi":
        app.add_middleware(AsgiTiming)
    elif name == "base_http":
        app.add_middleware(BaseHttpTiming)
