"""The middleware handles webhooks, and passes all other requests on."""

import asyncio
import base64
import traceback
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest
from fastapi import Request
from loguru import logger
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import InvalidEvent
from app.settings import Release, WebSettings
from app.telemetry.logging import log_webhook
from app.telemetry.observers import Observers
from app.web import releases
from app.web.admission import Admission
from app.web.intake import Intake
from app.web.main import create_app
from app.web.middleware import PATH, WebhookMiddleware
from profiles.instruments import PROFILE, wrapped
from tests.harness.service import ASGI

pytestmark = pytest.mark.anyio

AUTH = ("user", "password")
AUTHORIZATION = b"Basic " + base64.b64encode(":".join(AUTH).encode())
SETTINGS = WebSettings.model_validate(
    {"basic_auth_username": AUTH[0], "basic_auth_password": AUTH[1], "sqs_queue_url": "http://127.0.0.1/1/q"}
)


def _client(app: ASGIApp) -> httpx.AsyncClient:
    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {}}, receive, send)  # a server with a lifespan adds the state

    return httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://service", auth=AUTH)


def _middleware(app: ASGIApp, admission: Admission | None = None) -> WebhookMiddleware:
    return WebhookMiddleware(app, Intake(SETTINGS, admission or Admission(SETTINGS), Observers(), log_webhook))


async def test_a_fault_while_admitting_keeps_no_permit() -> None:
    """After an unexpected exception during admission, the webhook no longer counts as in flight."""
    admission = Admission(SETTINGS)
    intake = Intake(SETTINGS, admission, Observers(), log_webhook)
    with pytest.raises(ValueError, match="invalid literal"):
        intake.head({b"authorization": AUTHORIZATION, b"content-length": b"many"})
    assert admission.in_flight == 0


@pytest.mark.parametrize("release", [Release.V07_SYNC_HANDLER, Release.V10_LEAN_CLIENT])
async def test_everything_else_goes_to_fastapi(release: Release) -> None:
    """FastAPI answers probes, 404 and 405; the middleware answers 401."""
    settings = SETTINGS.model_copy(update={"release": release})
    async with _client(create_app(settings)) as client:
        answers = [
            await client.get("/healthz", auth=("", "")),
            await client.get("/nothing", auth=("", "")),
            await client.get(PATH, auth=("", "")),
            await client.post(PATH, auth=("", "")),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 401]
    assert {answer.headers["content-type"] for answer in answers[1:]} == {"application/problem+json"}


async def test_profiles_show_the_way_of_production(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the profiler, a webhook passes the same frames as in production, with the profiler outside of them."""
    passed: list[list[str]] = []

    def read(request: Request, body: bytes) -> NoReturn:
        names = [frame.f_code.co_qualname for frame, _ in traceback.walk_stack(None)]
        passed.append(names[: names.index("AppBodyLimitMiddleware.__call__")])
        raise InvalidEvent("not read", [])

    monkeypatch.setattr(releases.load(ASGI), "read_event", read)
    for folder in ("", str(tmp_path)):
        monkeypatch.setenv(PROFILE, folder)
        async with _client(wrapped.create_app(SETTINGS.model_copy(update={"release": ASGI}))) as client:
            assert (await client.post(PATH)).status_code == 422
    plain, profiled = passed
    assert "WebhookMiddleware.__call__" in plain
    assert profiled == [*plain, "Profiling.__call__"]


@pytest.mark.parametrize(("begun", "status"), [(False, 500), (True, 200)])
async def test_an_unexpected_exception(begun: bool, status: int) -> None:
    """The exception is logged with its traceback. The answer is 500 if no response has begun."""

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        raise RuntimeError("a mistake")

    logged: list[str] = []
    sink = logger.add(logged.append)
    async with _client(_middleware(broken)) as client:
        answer = await client.post(PATH)
    logger.remove(sink)
    assert answer.status_code == status
    assert "a mistake" in logged[0]


async def test_a_client_that_disconnects() -> None:
    """The webhook is logged as unanswered, without a traceback, and releases its permit."""

    async def left(scope: Scope, receive: Receive, send: Send) -> None:
        raise ClientDisconnect

    logged: list[Any] = []
    sink = logger.add(logged.append)
    admission = Admission(SETTINGS)
    async with _client(_middleware(left, admission)) as client:
        await asyncio.gather(client.post(PATH), return_exceptions=True)
    logger.remove(sink)
    assert [line.record["message"] for line in logged] == ["webhook unanswered"]
    assert admission.in_flight == 0
