"""Translates errors into HTTP responses of type `application/problem+json` (RFC 9457).

Only this module knows which status and which headers belong to an error.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app import errors
from app.errors import BodyTooLarge, InvalidEvent, WebhookRefused
from app.server.limits import LINGER_SECONDS

# The body of a 404 or 405 repeats at most this many characters of the requested path.
LONGEST_PATH = 200


class Refusal(NamedTuple):
    """The status and headers of the response to one class of errors. `slug` names the error in logs and metrics.

    `linger`: the client may still be sending the body. The service then sends the response at once, but keeps the
    connection open until the client has finished, for at most LINGER_SECONDS. Closing a socket that has unread bytes
    resets the connection, and the client may lose the response.
    """

    slug: str
    status: int
    headers: Mapping[str, str] = {}
    linger: bool = False


REFUSALS: dict[type[WebhookRefused], Refusal] = {
    errors.Unauthorized: Refusal(
        "unauthorized", 401, {"WWW-Authenticate": 'Basic realm="invoice-webhook", charset="UTF-8"'}, linger=True
    ),
    errors.BodyTimeout: Refusal("body-timeout", 408, linger=True),
    errors.BodyTooLarge: Refusal("body-too-large", 413, linger=True),
    errors.UnsupportedEncoding: Refusal("unsupported-encoding", 415, {"Accept-Encoding": "identity"}, linger=True),
    errors.InvalidEvent: Refusal("invalid-event", 422),
    # After `Connection: close`, the client opens a new connection, which reaches a process that is not stopping.
    errors.Draining: Refusal("draining", 503, {"Retry-After": "1", "Connection": "close"}, linger=True),
    errors.Overloaded: Refusal("overloaded", 503, {"Retry-After": "1"}, linger=True),
    errors.QueueUnavailable: Refusal("queue-unavailable", 503, {"Retry-After": "5"}),
    errors.BillingUnavailable: Refusal("billing-unavailable", 503, {"Retry-After": "5"}),
}


class ProblemResponse(JSONResponse):
    """A response with a problem document of RFC 9457.

    `linger`: closes the connection when the whole body of the request has arrived, at the latest after LINGER_SECONDS.
    `unread`: the application has not read the body. A response with `unread` lingers, too, but only if the request's
    head makes the server close the connection.
    """

    media_type = "application/problem+json"

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        linger: bool = False,
        unread: bool = False,
        **extra: Any,
    ) -> None:
        title = HTTPStatus(status).phrase
        content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **extra}
        closing = {"Connection": "close"} if linger else {}
        super().__init__(content, status, headers={**(headers or {}), **closing})
        self.linger = linger
        self.unread = unread

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not (self.linger or (self.unread and _closes(scope))):
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body", False):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _closes(scope: Scope) -> bool:
    """Returns True if the request's head makes the server close the connection after the response."""
    if scope["http_version"] == "1.0":
        return True
    names = (b"connection", b"proxy-connection")  # the HTTP parser (llhttp) treats both names alike
    options = b",".join([value for name, value in scope["headers"] if name in names]).lower()
    return b"close" in options or b"upgrade" in options


def problem(error: WebhookRefused, *, complete: bool = False) -> ProblemResponse:
    """Returns the response to a webhook that is rejected with `error`. `complete`: the whole body has arrived."""
    refusal = REFUSALS[type(error)]
    linger = error.unread if isinstance(error, BodyTooLarge) else refusal.linger
    extra: dict[str, Any] = {"errors": error.errors} if isinstance(error, InvalidEvent) else {}
    return ProblemResponse(refusal.status, error.detail, refusal.headers, linger and not complete, **extra)


async def _http_error(request: Request, error: HTTPException) -> ProblemResponse:
    """Returns the response to a request that the router rejects with 404 or 405."""
    path = request.url.path[:LONGEST_PATH]
    # Starlette builds the Allow header from a set, whose order may differ between two starts of the process.
    headers = {name: ", ".join(sorted(value.split(", "))) for name, value in (error.headers or {}).items()}
    return ProblemResponse(error.status_code, f"{request.method} {path}: {error.detail}", headers, unread=True)


def unexpected() -> ProblemResponse:
    """Returns the response after an unexpected exception. Only the log contains the exception and its traceback."""
    return ProblemResponse(HTTPStatus.INTERNAL_SERVER_ERROR, "An unexpected error occurred; send the request again")


async def _unexpected(request: Request, error: Exception) -> ProblemResponse:
    return unexpected()


# Exception handlers, which FastAPI calls for errors outside of webhooks.
HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    HTTPException: _http_error,
    Exception: _unexpected,
}
