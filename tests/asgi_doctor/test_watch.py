"""`asgi_doctor.watch` reports findings with their routes and traces, in dependencies, tasks and threads."""

import asyncio
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop
from fastapi import Depends, FastAPI
from opentelemetry.sdk.trace import TracerProvider

import asgi_doctor
from asgi_doctor import Finding, Kind
from asgi_doctor.garbage import GarbageTime
from asgi_doctor.watched import WatchedThread

Run = Callable[[Coroutine[Any, Any, None]], None]
LOOPS: list[Run] = [asyncio.run, uvloop.run]
BLOCK = 1.0  # seconds: longer than a busy machine keeps the watching thread from a core
PATIENCE = 30.0
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


def test_collections_in_a_forked_process() -> None:
    """A process that the application forks, as a process pool does, collects garbage without errors."""
    garbage = GarbageTime(threading.get_ident())
    garbage.start()
    try:
        if (child := os.fork()) == 0:
            sys.unraisablehook = lambda _: os._exit(1)
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        garbage.stop()


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs the CPU time of a thread")
def test_cpu_time_in_a_forked_process() -> None:
    """A worker of gunicorn is a forked process: the time that its main thread computes is counted there, too."""
    if (child := os.fork()) == 0:
        computed = 0.0
        try:
            watched = WatchedThread()
            watched.start()
            end = time.thread_time() + 0.1
            while time.thread_time() < end:
                pass
            computed = watched.passed(0.1).computing
        finally:
            os._exit(0 if computed else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_finding_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A finding is a warning in the log if there is no callback."""
    with caplog.at_level(logging.WARNING, logger="asgi_doctor"):
        asyncio.run(_serve(asgi_doctor.watch(_shop()), ["/dependency/7"]))
    assert "_dependency waits for " in caplog.text
    assert "(GET /dependency/{number})" in caplog.text


def test_a_callback_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    """The application starts, and later findings arrive as well."""
    found: list[Finding] = []

    def fail(finding: Finding) -> None:
        found.append(finding)
        raise ConnectionError

    app = asgi_doctor.watch(_shop(), on_finding=fail)
    asyncio.run(asyncio.wait_for(_serve(app, ["/dependency/7", "/task"]), PATIENCE))
    assert [one.function.rpartition(".")[2] for one in found if one.in_app] == ["_lifespan", "_dependency", "task"]
    assert "on_finding has failed for " in caplog.text


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_a_start_that_awaits(run: Run) -> None:
    """A lifespan that awaits is no finding, neither is the line that runs the loop. No executor's thread is needed."""
    ended = threading.Event()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()  # forty calls are more than the default executor has threads
        waits = [loop.run_in_executor(None, ended.wait, 6 * BLOCK) for _ in range(40)]
        await asyncio.sleep(BLOCK)
        yield
        ended.set()
        in_time.append(await waits[0])

    found: list[Finding] = []
    in_time: list[bool] = []
    app = asgi_doctor.watch(FastAPI(lifespan=lifespan), on_finding=found.append)
    run(_serve(app, ["/docs"]))
    assert [one for one in found if one.kind is Kind.STARTUP] == []
    assert in_time == [True]


def test_attributes_of_the_application() -> None:
    """The wrapped application's other attributes are available."""
    shop = _shop()
    assert asgi_doctor.watch(shop).router is shop.router
