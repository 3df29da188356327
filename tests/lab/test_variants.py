"""Tests what APP_LAB_ settings change: the middleware, the loop and the parser, uvicorn's limit."""

from time import thread_time

import httpx
import pytest
from fastapi import FastAPI

from lab.application.main import create_app
from lab.lab_settings import LabSettings


def app(**settings: object) -> FastAPI:
    return create_app(LabSettings(**settings))  # type: ignore[arg-type]  # of any field


async def get(app: FastAPI, path: str) -> httpx.Response:
    """Requests `path` without the lifespan of the application, which opens what experiments need."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lab") as client:
        return await client.get(path)


@pytest.mark.anyio
async def test_overhead() -> None:
    """APP_LAB_REQUEST_OVERHEAD_MS is the least CPU time that each request takes."""
    before = thread_time()
    await get(app(request_overhead_ms=50), "/async_endpoint_async_processing?ms=0")
    assert thread_time() - before >= 0.05  # of CPU, so a busy machine changes nothing
