"""A route behind the gate."""

from typing import Any

from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.settings import Settings
from app.web.gate.admission import Admission, Admit
from app.web.gate.auth import Auth
from app.web.gate.body import LimitBody
from app.web.gate.outcome import Outcome


def gated_route(settings: Settings, admission: Admission) -> type[APIRoute]:
    """A class for FastAPI's `route_class`, whose requests pass the gate first.

    The gate is inside the router, around one route: probes, 404 and 405 need neither credentials nor admission. It is
    in `handle`, which FastAPI also calls for a route of an included router; there, `route.app` is ignored
    (fastapi 0.165, routing.py, APIRoute.handle: `effective_context.app`).
    """

    class GatedRoute(APIRoute):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            limited = LimitBody(super().handle, settings)
            self._gate = Outcome(Auth(Admit(limited, admission), settings), admission)

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            allowed = self.methods is None or scope["method"] in self.methods
            await (self._gate if allowed else super().handle)(scope, receive, send)  # else 405

    return GatedRoute
