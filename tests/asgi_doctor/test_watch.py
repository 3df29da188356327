"""`asgi_doctor.watch` reports findings with their routes and traces, in dependencies, tasks and threads."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvloop
from fastapi import Depends, FastAPI
from opentelemetry.sdk.trace import TracerProvider

import asgi_doctor
from asgi_doctor import Finding, Kind

Run = Callable[[Coroutine[Any, Any, None]], None]
LOOPS: list[Run] = [asyncio.run, uvloop.run]
BLOCK = 1.0  # seconds: longer than a busy machine keeps the watching thread from a core
tracer = TracerProvider().get_tracer(__name__)


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    time.sleep(BLOCK)  # noqa: ASYNC251  # the fault
    yield


async def _dependency() -> None:
    time.sleep(BLOCK)  # noqa: ASYNC251  # the fault


def _shop() -> FastAPI:
    shop = FastAPI(lifespan=_lifespan)

    @shop.get("/dependency/{number}", dependencies=[Depends(_dependency)])
    async def with_dependency(number: int) -> int:
        return number

    @shop.get("/task")
    async def with_task() -> None:
        async def task() -> None:
            time.sleep(BLOCK)  # noqa: ASYNC251  # the fault

        with tracer.start_as_current_span("order") as span:
            trace_ids.append(f"{span.get_span_context().trace_id:032x}")
            await asyncio.create_task(task())

    @shop.get("/awaits")
    async def awaits() -> None:
        await asyncio.sleep(0.3)

    return shop


trace_ids: list[str] = []


async def _serve(app: Any, paths: list[str]) -> None:
    """Runs the lifespan, and sends the requests meanwhile."""
    messages: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    started = asyncio.Event()

    async def send(message: dict[str, str]) -> None:
        started.set()

    messages.put_nowait({"type": "lifespan.startup"})
    lifespan = asyncio.create_task(app({"type": "lifespan", "state": {}}, messages.get, send))
    await started.wait()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop") as client:
        for path in paths:
            assert (await client.get(path)).status_code == 200
            await asyncio.sleep(0.1)
    messages.put_nowait({"type": "lifespan.shutdown"})
    await lifespan


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_findings_of_an_application(run: Run) -> None:
    """Each line is reported once, with its route and the trace of its task; awaiting is not reported."""
    trace_ids.clear()
    found: list[Finding] = []
    app = asgi_doctor.watch(_shop(), warn=0.1, on_finding=found.append)
    run(_serve(app, ["/dependency/7", "/dependency/8", "/task", "/awaits"]))
    places = [(one.kind, one.route, one.function.rpartition(".")[2]) for one in found if one.in_app]
    assert places == [
        (Kind.STARTUP, "", "_lifespan"),
        (Kind.WAITS, "GET /dependency/{number}", "_dependency"),
        (Kind.WAITS, "GET /task", "task"),
    ]
    assert [one.trace_id for one in found if one.in_app][-1] == trace_ids[0]
    assert all("asgi_doctor/" not in call for one in found for call in one.chain if "tests" not in call)


def test_a_finding_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A finding is a warning in the log if there is no callback."""
    with caplog.at_level(logging.WARNING, logger="asgi_doctor"):
        asyncio.run(_serve(asgi_doctor.watch(_shop()), ["/dependency/7"]))
    assert "_dependency waits for " in caplog.text
    assert "(GET /dependency/{number})" in caplog.text


def test_attributes_of_the_application() -> None:
    """The wrapped application's other attributes are available."""
    shop = _shop()
    assert asgi_doctor.watch(shop).router is shop.router
