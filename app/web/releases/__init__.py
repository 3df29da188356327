"""The optimisation history: one lesson a file, one of them chosen at the start by APP_RELEASE.

A release is a module with `lifespan(app)`, which opens what it needs and yields the state that its
handler reads from `request.state`, and `receive(…)`, the handler. Releases never see each other.
"""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Protocol, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.settings import Release, Settings
from app.web import responses
from app.web.gate.admission import Admission, Admit
from app.web.gate.auth import Auth
from app.web.gate.body import LimitBody
from app.web.gate.outcome import Outcome
from app.web.openapi import EXTRA, RESPONSES
from app.web.webhook import PATH


class ReleaseModule(Protocol):
    """What a file of this folder exports."""

    def lifespan(self, app: FastAPI) -> AbstractAsyncContextManager[dict[str, Any]]: ...

    def receive(self, *args: Any, **kwargs: Any) -> Any: ...


def load(release: Release) -> ReleaseModule:
    """Imports the chosen release and no other: what a release does not use costs it nothing."""
    return cast(ReleaseModule, import_module(f"{__name__}.{release.value}"))


def register(app: FastAPI, module: ReleaseModule, settings: Settings, admission: Admission) -> None:
    """Puts the release's handler on the contract's path, behind auth, admission and the body's limits."""
    app.add_api_route(
        PATH,
        module.receive,
        methods=["POST"],
        name="receive",
        summary="Take a Chargebee event",
        description="Answers 200 once SQS has acknowledged the message, never before.",
        tags=["webhooks"],
        responses=RESPONSES,
        openapi_extra=EXTRA,
        **responses.RESPONSES[settings.response],
    )
    route = app.routes[-1]
    assert isinstance(route, APIRoute)
    # Around this one route, inside the router: probes, 404 and 405 need neither credentials nor admission.
    limited = LimitBody(route.app, settings)
    route.app = Outcome(Auth(Admit(limited, admission), settings), admission)
