"""Options for load tests: kinds of middleware (APP_MIDDLEWARE, APP_REQUEST_OVERHEAD_MS).

APP_MIDDLEWARE shows the effect of a tip from a talk. APP_REQUEST_OVERHEAD_MS stands for the middleware of the
published service. CHANGELOG.md describes the talk, and rebuilds its service step by step.
"""

from collections.abc import Callable
from time import perf_counter, thread_time
from uuid import uuid4

from starlette.datastructures import MutableHeaders
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def _mark(headers: MutableHeaders, started: float) -> None:
    headers["X-Request-ID"] = uuid4().hex
    headers["Server-Timing"] = f"app;dur={(perf_counter() - started) * 1000:.2f}"


class AsgiTiming:
    """Adds the headers X-Request-ID and Server-Timing to each response, as a pure ASGI middleware."""

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
    """Adds the headers of AsgiTiming as a BaseHTTPMiddleware, which needs a task group and two streams per request."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        started = perf_counter()
        response = await call_next(request)
        _mark(response.headers, started)
        return response


class Overhead(BaseHTTPMiddleware):
    """Spends `seconds` of CPU time on each request, as access logs, instrumentation and other middleware do."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        super().__init__(app)
        self._seconds = seconds

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        end = thread_time() + self._seconds
        while thread_time() < end:
            pass
        return await call_next(request)


# The middleware for each value of APP_MIDDLEWARE.
MIDDLEWARE: dict[str, list[Callable[[ASGIApp], ASGIApp]]] = {
    "none": [],
    "asgi": [AsgiTiming],
    "base_http": [BaseHttpTiming],
}
