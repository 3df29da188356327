"""Errors → `application/problem+json` (RFC 9457); the only place that knows how."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app.errors import InvalidEvent, WebhookRefused
from app.web.server.connections import LINGER_SECONDS

# Of what a sender asked for, in an answer that says it is not here.
LONGEST_PATH = 200


class ProblemResponse(JSONResponse):
    """A problem. With `linger`, the answer goes out at once and the connection closes when the sender is done.

    Closing a socket that holds unread bytes resets it, and the sender may never read the answer.
    """

    media_type = "application/problem+json"

    def __init__(
        self, status: int, detail: str, headers: Mapping[str, str] | None = None, linger: bool = False, **extra: Any
    ) -> None:
        title = HTTPStatus(status).phrase
        content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **extra}
        closing = {"Connection": "close"} if linger else {}
        super().__init__(content, status, headers={**(headers or {}), **closing})
        self.linger = linger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.linger:
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body", False):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _refused(request: Request, error: WebhookRefused) -> ProblemResponse:
    request.state.refused = error
    request.state.answered = perf_counter()
    if (place := getattr(request.state, "place", None)) is not None:
        place.leave()
    extra = {"errors": error.flaws} if isinstance(error, InvalidEvent) else {}
    return ProblemResponse(error.status, error.detail, error.headers, linger=error.body_unread, **extra)


async def _http_error(request: Request, error: HTTPException) -> ProblemResponse:
    """404 and 405, from the router."""
    path = request.url.path[:LONGEST_PATH]
    return ProblemResponse(error.status_code, f"{request.method} {path}: {error.detail}", error.headers)


async def _disconnected(request: Request, error: ClientDisconnect) -> ProblemResponse:
    """The sender left before its body was complete; nobody reads this."""
    return ProblemResponse(HTTPStatus.BAD_REQUEST, "The body was not complete")


async def _unexpected(request: Request, error: Exception) -> ProblemResponse:
    """A fault of ours; the traceback is in the log."""
    return ProblemResponse(HTTPStatus.INTERNAL_SERVER_ERROR, "Not expected; send it again")


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    WebhookRefused: _refused,
    HTTPException: _http_error,
    ClientDisconnect: _disconnected,
    Exception: _unexpected,
}
