"""The gate stands around its route wherever FastAPI puts it."""

from itertools import pairwise

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from starlette.types import Receive, Scope, Send

from app.settings import Settings
from app.telemetry.logging import log_webhook
from app.web.gate.admission import Admission
from app.web.gate.outcome import Told
from app.web.gate.route import gated_route
from app.web.problems import HANDLERS

SETTINGS = Settings.model_validate({"basic_auth_username": "user", "basic_auth_password": "password"})


def _app(depth: int) -> FastAPI:
    """A gated route in the app's own router (depth 0), or in one that is included, `depth` deep."""
    app = FastAPI(exception_handlers=HANDLERS)
    routers = [app.router, *(APIRouter() for _ in range(depth))]
    told = Told(log_webhook, lambda _: None)
    gated = gated_route(SETTINGS, Admission(SETTINGS), told)
    routers[-1].add_api_route("/hook", lambda: "passed", methods=["POST"], route_class_override=gated)
    for outer, inner in reversed(list(pairwise(routers))):
        outer.include_router(inner)
    return app


@pytest.mark.anyio
@pytest.mark.parametrize("depth", [0, 1, 2])
async def test_no_credentials_no_answer(depth: int) -> None:
    """Without credentials nothing behind the gate is called; with them it is; 405 needs none."""
    app = _app(depth)

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {}}, receive, send)  # as a server with a lifespan has it

    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://service") as client:
        refused = await client.post("/hook")
        passed = await client.post("/hook", auth=("user", "password"))
        other = await client.get("/hook")
    assert (refused.status_code, passed.status_code, other.status_code) == (401, 200, 405)
    assert passed.json() == "passed"
