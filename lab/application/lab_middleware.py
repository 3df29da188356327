"""A middleware in two forms, pure ASGI and BaseHTTPMiddleware. It adds the header `x-process-time`, in seconds.

APP_LAB_MIDDLEWARE selects one form, or none. One tip of the talk (see `lab.application.tips`) is to avoid
BaseHTTPMiddleware, so `python -m lab measure` compares each form with a lab without middleware.
"""

from time import perf_counter

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-process-time"


class AsgiTime:
    """Adds the header `x-process-time` as pure ASGI middleware, by a function that wraps `send`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()

        async def send_timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = f"{perf_counter() - started:.6f}"
            await send(message)

        await self._app(scope, receive, send_timed if scope["type"] == "http" else send)


class BaseHttpTime(BaseHTTPMiddleware):
    """Adds the header `x-process-time` as a BaseHTTPMiddleware of Starlette.

    A BaseHTTPMiddleware opens a task group and a pair of memory streams for each request.
    """

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        started = perf_counter()
        response = await call_next(request)
        response.headers[HEADER] = f"{perf_counter() - started:.6f}"
        return response


def add_middleware(app: FastAPI, name: str) -> None:
    """Adds the middleware `name`, a value of APP_LAB_MIDDLEWARE: `asgi`, `base_http`, or `none` to add nothing."""
    if name == "asgi":
        app.add_middleware(AsgiTime)
    elif name == "base_http":
        app.add_middleware(BaseHttpTime)
