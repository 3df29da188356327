"""A route behind the gate."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.settings import Settings
from app.telemetry.logging import log_webhook
from app.web.gate.admission import Admission, Admit
from app.web.gate.auth import Auth
from app.web.gate.body import LimitBody
from app.web.gate.outcome import Log, Outcome


def gate(inner: ASGIApp, settings: Settings, admission: Admission, log: Log = log_webhook) -> ASGIApp:
    """`inner` behind all parts of the gate; webhooks are logged with `log`."""
    return Outcome(Auth(Admit(LimitBody(inner, settings), admission), settings), admission, log)


def bare(endpoint: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    """`endpoint` without FastAPI's machinery (dependencies, validation, serialisation)."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    return respond


def gated_route(settings: Settings, admission: Admission, gated: ASGIApp | None = None) -> type[APIRoute]:
    """A class for FastAPI's `route_class`, whose requests pass the gate first; or which calls `gated` instead of both.

    The gate is inside the router, around one route: probes, 404 and 405 need neither credentials nor admission. It is
    in `handle`, which FastAPI also calls for a route of an included router; there, `route.app` is ignored
    (fastapi 0.165, routing.py, APIRoute.handle: `effective_context.app`).
    """

    class GatedRoute(APIRoute):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._gate = gated or gate(super().handle, settings, admission)

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            allowed = self.methods is None or scope["method"] in self.methods
            await (self._gate if allowed else super().handle)(scope, receive, send)  # else 405

    return GatedRoute
