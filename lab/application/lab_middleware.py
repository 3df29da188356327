"""The same middleware as pure ASGI and as BaseHTTPMiddleware. It adds the header `x-process-time`, in seconds.

APP_LAB_MIDDLEWARE selects one of them, or none. The talk advises against BaseHTTPMiddleware, so `python -m lab measure`
compares both with no middleware.
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
    """Adds the header `x-process-time` as pure ASGI middleware, with a function around `send`."""

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
    """Adds the header as a BaseHTTPMiddleware of Starlette.

    Such a middleware opens a task group and a pair of memory streams for each request.
    """

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        started = perf_counter()
        response = await call_next(request)
        response.headers[HEADER] = f"{perf_counter() - started:.6f}"
        return response


def add_middleware(app: FastAPI, name: str) -> None:
    """Adds the middleware that APP_LAB_MIDDLEWARE names."""
    if name == "asgi":
        app.add_middleware(AsgiTime)
    elif name == "base_http":
        app.add_middleware(BaseHttpTime)
