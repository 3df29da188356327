"""Tests what APP_LAB_ settings change: the middleware, the loop and the parser, uvicorn's limit."""

import re
from time import thread_time

import httpx
import pytest
from fastapi import FastAPI

from app.errors import LabUnavailable
from lab.application.main import create_app
from lab.application.upstream import Upstream
from lab.settings import LabSettings
from tests.harness.lab import Lab


def app(**settings: object) -> FastAPI:
    return create_app(LabSettings(**settings))  # type: ignore[arg-type]  # of any field


async def get(app: FastAPI, path: str) -> httpx.Response:
    """Requests `path` without the lifespan of the application, which opens what experiments need."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lab") as client:
        return await client.get(path)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "times"), [("none", 0), ("asgi", 1), ("base_http", 1)])
async def test_middleware(name: str, times: int) -> None:
    """Either middleware adds a header with the seconds."""
    answer = await get(app(middleware=name), "/async_endpoint_async_processing?ms=0")
    headers = answer.headers.get_list("x-process-time")
    assert len(headers) == times
    assert all(re.fullmatch(r"\d+\.\d{6}", seconds) for seconds in headers)


@pytest.mark.anyio
async def test_overhead() -> None:
    """APP_LAB_REQUEST_OVERHEAD_MS is the least CPU time that each request takes."""
    before = thread_time()
    await get(app(request_overhead_ms=50), "/async_endpoint_async_processing?ms=0")
    assert thread_time() - before >= 0.05  # of CPU, so a busy machine changes nothing


def test_without_an_upstream() -> None:
    """The error says what to do."""
    with pytest.raises(LabUnavailable, match="APP_LAB_UPSTREAM_URL is not set: `python -m lab` starts"):
        Upstream(None, 1).after(0)


@pytest.mark.parametrize("settings", [{"loop": "asyncio", "http": "h11"}, {"loop": "uvloop", "http": "httptools"}])
def test_loop_and_parser(settings: dict[str, str]) -> None:
    """The answer is the same with each loop and parser."""
    with Lab(**settings) as lab:
        assert lab.get("/outbound/async?ms=1&client=shared").json() == {"waited_ms": 1}


def test_limit_concurrency() -> None:
    """uvicorn's own 503 is text/plain. The connection itself counts, so the limit 1 rejects every request."""
    with Lab(limit_concurrency=1) as lab:
        answer = lab.get("/threads")
    assert (answer.status_code, answer.text) == (503, "Service Unavailable")


@pytest.mark.slow
def test_the_access_log() -> None:
    """uvicorn logs a line for each request only if APP_LAB_ACCESS_LOG is set."""
    for access_log in (False, True):
        with Lab(access_log=access_log) as lab:
            lab.get("/threads")
            lab.stop()
            assert lab.process.stdout is not None
            assert ("GET /threads" in lab.process.stdout.read()) is access_log
