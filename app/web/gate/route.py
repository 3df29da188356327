"""A route behind the gate."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.settings import Settings
from app.web.gate.admission import Admission, Admit
from app.web.gate.auth import Auth
from app.web.gate.body import LimitBody
from app.web.gate.outcome import Outcome, Told


def gate(inner: ASGIApp, settings: Settings, admission: Admission, told: Told) -> ASGIApp:
    """`inner` behind all parts of the gate; `told` is told of the webhooks."""
    return Outcome(Auth(Admit(LimitBody(inner, settings), admission), settings), admission, told)


def bare(endpoint: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    """`endpoint` without FastAPI's machinery (dependencies, validation, serialisation)."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    return respond


def gated_route(settings: Settings, admission: Admission, told: Told, gated: ASGIApp | None = None) -> type[APIRoute]:
    """A class for FastAPI's `route_class`, whose requests pass the gate first; or which calls `gated` instead of both.

    The gate is inside the router, around one route: probes, 404 and 405 need neither credentials nor admission. It is
    in `handle`, which FastAPI also calls for a route of an included router; there, `route.app` is ignored
    (fastapi 0.165, routing.py, APIRoute.handle: `effective_context.app`).
    """

    class GatedRoute(APIRoute):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._gate = gated or gate(super().handle, settings, admission, told)

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            allowed = self.methods is None or scope["method"] in self.methods
            await (self._gate if allowed else super().handle)(scope, receive, send)  # else 405

    return GatedRoute
