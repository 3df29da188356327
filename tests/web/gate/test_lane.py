"""The lane of a bare release: the webhook's answers are those of the whole app."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from loguru import logger
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from app.settings import Release, Settings
from app.web.endpoint import entrance
from app.web.gate.lane import Lane
from app.web.gate.shed import Shed
from app.web.main import create_app
from app.web.webhook import PATH

pytestmark = pytest.mark.anyio

SETTINGS = {"basic_auth_username": "user", "basic_auth_password": "password", "sqs_queue_url": "http://127.0.0.1/1/q"}


def _client(app: Any) -> httpx.AsyncClient:
    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {}}, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://service")


@pytest.mark.parametrize(
    ("release", "middleware", "lane"), [("v10", "none", True), ("v10", "asgi", False), ("v09", "none", False)]
)
async def test_who_has_a_lane(release: str, middleware: str, lane: bool) -> None:
    """A bare release, unless middleware of ours has to run."""
    settings = Settings.model_validate({**SETTINGS, "release": Release(release), "middleware": middleware})
    served = entrance(create_app(settings), settings)
    assert isinstance(served, Shed)
    assert isinstance(served._app, Lane) is lane


async def test_everything_else_goes_to_the_app() -> None:
    """Probes, 404 and 405 are FastAPI's; the webhook's 401 is the gate's, as everywhere."""
    settings = Settings.model_validate({**SETTINGS, "release": Release.V10_LEAN_CLIENT})
    async with _client(entrance(create_app(settings), settings)) as client:
        answers = [
            await client.get("/healthz"),
            await client.get("/nothing"),
            await client.get(PATH),
            await client.post(PATH),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 401]
    assert {answer.headers["content-type"] for answer in answers[1:]} == {"application/problem+json"}


@pytest.mark.parametrize(("begun", "status"), [(False, 500), (True, 200)])
async def test_an_unexpected_exception(begun: bool, status: int) -> None:
    """It is logged with its traceback, and answered 500 where no response has begun."""

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        raise RuntimeError("a mistake")

    logged: list[str] = []
    sink = logger.add(logged.append)
    async with _client(Lane(FastAPI(), broken)) as client:
        answer = await client.post(PATH)
    logger.remove(sink)
    assert answer.status_code == status
    assert "a mistake" in logged[0]


async def test_a_client_that_disconnects() -> None:
    """Is no error."""

    async def left(scope: Scope, receive: Receive, send: Send) -> None:
        raise ClientDisconnect

    logged: list[str] = []
    sink = logger.add(logged.append)
    await Lane(FastAPI(), left)({"type": "http", "path": PATH, "method": "POST"}, None, None)  # type: ignore[arg-type]
    logger.remove(sink)
    assert logged == []
