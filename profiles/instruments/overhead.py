"""A middleware that costs CPU time. It stands for the middleware of the published service (CHANGELOG.md, Sources)."""

from time import thread_time

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp


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
