"""`asgi_doctor.watch` reports findings with their routes and traces, in dependencies, tasks and threads."""

import asyncio
import copy
import gc
import hashlib
import json
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvloop
from fastapi import Depends, FastAPI
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

import asgi_doctor
from asgi_doctor import Finding, Kind, metrics
from asgi_doctor.advice import EXECUTOR, RELEASING
from asgi_doctor.finding import Cure
from asgi_doctor.garbage import GarbageTime
from asgi_doctor.pools import Pools
from asgi_doctor.stacks import in_app
from asgi_doctor.watched import WatchedThread

Run = Callable[[Coroutine[Any, Any, None]], None]
LOOPS: list[Run] = [asyncio.run, uvloop.run]
BLOCK = 1.0  # seconds, longer than the watchdog's thread waits for a core on a busy machine
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
    """Runs the lifespan, and sends the requests between its start-up and its shutdown."""
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
def test_the_doctor_does_not_report_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor may import AnyIO's backend on the loop, to find AnyIO's threads. A slow import is not a finding."""

    async def discover(_: Pools) -> None:
        time.sleep(BLOCK)  # noqa: ASYNC251  # in place of the import

    monkeypatch.setattr(Pools, "discover", discover)
    found: list[Finding] = []
    run(_serve(asgi_doctor.watch(FastAPI(), warn=0.1, on_finding=found.append), ["/openapi.json"]))
    assert not [one for one in found if one.function.endswith("discover")]


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_findings_of_an_application(run: Run) -> None:
    """Each line is reported once, with its route and the trace of its task. Lines that await are not reported."""
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
    """In a forked process, such as gunicorn's worker, the CPU time of the main thread is counted, too."""
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
    """The application starts although the callback fails, and the callback also receives later findings."""
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
    """A lifespan that awaits is not a finding, nor is the line that runs the loop. No executor thread is needed."""
    ended = threading.Event()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()  # the default executor has fewer threads than these forty calls
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


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda app: app])
def test_attributes_of_the_application(copied: Callable[[Any], Any]) -> None:
    """The wrapped application's other attributes are available, in a copy as well."""
    shop = _Blocks()
    shop.answers = ["shop"]
    app = copied(asgi_doctor.watch(shop))
    assert app.answers == ["shop"]
    with pytest.raises(AttributeError, match="price"):
        _ = app.price


async def _receive() -> dict[str, str]:
    return {"type": "http.request"}


class _Blocks:
    """An application without a lifespan. It blocks once and responds. `answers`: the messages that it has sent."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        time.sleep(0.3)  # noqa: ASYNC251  # the fault
        await send({"type": "http.response.body", "body": scope["path"]})

    async def send(self, message: Any) -> None:
        self.answers.append(message["body"])

    async def serve(self, app: Any) -> None:
        await app({"type": "http", "path": "/", "method": "GET"}, _receive, self.send)


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
def test_each_loop_is_watched(run: Run) -> None:
    """A line is reported once, and its blocks are counted on each loop, even if the loop ends after its request."""
    found: list[Finding] = []
    shop = _Blocks()
    app = asgi_doctor.watch(shop, on_finding=found.append)
    for _ in range(3):
        run(shop.serve(app))
    _wait_until(lambda: [one.count for one in app.findings] == [3])
    assert [(one.kind, one.route, one.in_app) for one in found] == [(Kind.WAITS, "GET /", True)]
    assert shop.answers == ["/"] * 3


def test_a_loop_that_runs_again() -> None:
    """A loop that stops after each request, as in a serverless function, is watched only while it runs."""
    shop = _Blocks()
    app = asgi_doctor.watch(shop)
    loop = asyncio.new_event_loop()
    for _ in range(2):
        loop.run_until_complete(shop.serve(app))
        time.sleep(0.3)
    loop.close()
    _wait_until(lambda: [one.count for one in app.findings] == [2])
    assert [one.function for one in app.findings] == ["_Blocks.__call__"]


def _fault(*_: Any) -> None:
    time.sleep(0.3)


def _ended(task: Any) -> None:
    _fault()


async def _in_call_soon(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon(_fault)


async def _in_call_later(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_later(0.01, _fault)


async def _from_a_thread(loop: asyncio.AbstractEventLoop) -> None:
    await asyncio.to_thread(loop.call_soon_threadsafe, _fault)


async def _after_a_task(loop: asyncio.AbstractEventLoop) -> None:
    task = loop.create_task(asyncio.sleep(0))
    task.add_done_callback(_ended)
    await task


async def _in_a_task(loop: asyncio.AbstractEventLoop) -> None:
    async def task() -> None:
        _fault()

    await asyncio.gather(task())


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("start", [_in_call_soon, _in_call_later, _from_a_thread, _after_a_task, _in_a_task])
def test_the_request_of_a_callback(run: Run, start: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """A finding has the right request in all ways in which a request can start work."""

    async def shop(scope: Any, receive: Any, send: Any) -> None:
        await start(asyncio.get_running_loop())
        await asyncio.sleep(0.05)

    app = asgi_doctor.watch(shop)
    run(_Blocks().serve(app))
    _wait_until(lambda: bool(app.findings))
    assert [one.route for one in app.findings] == ["GET /"]


def _hash() -> None:
    hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize(("call", "advice"), [(_fault, EXECUTOR), (_hash, RELEASING)], ids=["waits", "computes"])
def test_the_request_of_an_executor(run: Run, call: Callable[[], None], advice: Cure) -> None:
    """Calls of `run_in_executor` have no context, so the finding has the request of the task that awaits the call.

    The advice is to use more threads only if the calls wait, not if they compute.
    """

    async def shop(scope: Any, receive: Any, send: Any) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(None, call) for _ in range(100)))

    found: list[Finding] = []
    app = asgi_doctor.watch(shop, warn=0.05, on_finding=found.append)
    run(_Blocks().serve(app))
    starved = [one for one in found if one.kind is Kind.STARVES]
    assert [(one.route, one.function, one.cure) for one in starved] == [("GET /", call.__name__, advice)]


def _wait_until(true: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < latest:
        time.sleep(0.01)
    assert true()


def test_another_library_than_asyncio(caplog: pytest.LogCaptureFixture) -> None:
    """Under trio, the application works as without `watch`, and the log says once that nothing is watched."""
    shop = _Blocks()
    app = asgi_doctor.watch(shop)
    for scope in ({"type": "lifespan", "path": ""}, {"type": "http", "path": "/"}, {"type": "http", "path": "/"}):
        with pytest.raises(StopIteration):
            app(scope, _receive, shop.send).send(None)
    assert shop.answers == ["", "/", "/"]
    assert [record.message for record in caplog.records] == [
        "asgi_doctor does not watch this event loop: it is not asyncio's or uvloop's, but perhaps trio's"
    ]


def test_gevent(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log says that gevent's greenlets cannot be watched; the application answers."""
    patched = SimpleNamespace(is_module_patched=lambda name: name == "threading")
    monkeypatch.setitem(sys.modules, "gevent.monkey", patched)
    shop = _Blocks()
    asyncio.run(shop.serve(asgi_doctor.watch(shop)))
    assert shop.answers == ["/"]
    assert "does not watch this event loop: gevent has replaced threads by greenlets" in caplog.text


def test_a_thread_that_cannot_start(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the watchdog cannot start, for example because there are too many threads, the application still responds."""

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    shop = _Blocks()
    app = asgi_doctor.watch(shop)
    monkeypatch.setattr(threading.Thread, "start", fail)
    asyncio.run(shop.serve(app))
    assert shop.answers == ["/"]
    assert "can't start new thread" in caplog.text


def test_asgi_2() -> None:
    """An application of ASGI 2, which is called with the scope only, works, too."""

    class Shop:
        def __init__(self, scope: Any) -> None:
            self.scope = scope

        async def __call__(self, receive: Any, send: Any) -> None:
            await send({"body": self.scope["path"]})

    shop = _Blocks()
    asyncio.run(shop.serve(asgi_doctor.watch(Shop)))  # type: ignore[arg-type]  # ASGI 2
    assert shop.answers == ["/"]


def test_an_installed_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that calls `watch` is the user's, although it is among installed packages."""
    monkeypatch.setattr("asgi_doctor.stacks._claimed", ())
    package = tmp_path / "site-packages" / "bookshop"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "main.py").write_text(
        "import time, asgi_doctor\n"
        "async def serve(scope, receive, send):\n"
        "    time.sleep(0.3)\n"
        "app = asgi_doctor.watch(serve)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(package.parent))
    app = import_module("bookshop.main").app
    asyncio.run(_Blocks().serve(app))
    _wait_until(lambda: [(one.line, one.in_app) for one in app.findings] == [(3, True)])
    in_app.cache_clear()


def test_the_histogram_of_the_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """With OpenTelemetry, a histogram has the delays in seconds. The timers keep no request in memory."""
    reader = InMemoryMetricReader()
    meter = MeterProvider(metric_readers=[reader]).get_meter("test")
    monkeypatch.setattr("opentelemetry.metrics.get_meter", lambda name: meter)

    async def main() -> None:
        await shop.serve(app)
        await asyncio.sleep(2 * metrics.INTERVAL_SECONDS)  # the first timer of the delay starts after the block
        await shop.serve(app)
        await asyncio.sleep(2 * metrics.INTERVAL_SECONDS)

    shop = _Blocks()
    app = asgi_doctor.watch(shop)
    asyncio.run(main())
    data = json.loads(reader.get_metrics_data().to_json())  # type: ignore[union-attr]  # there are metrics
    [metric] = data["resource_metrics"][0]["scope_metrics"][0]["metrics"]
    assert (metric["name"], metric["unit"]) == ("asgi_doctor.event_loop.delay", "s")
    assert metric["data"]["data_points"][0]["max"] > 0.1


@pytest.mark.parametrize("warn", [0, -1, 61, float("nan")])
def test_a_limit_that_is_not_allowed(warn: float) -> None:
    """A limit of 0 would keep a core busy, so it is an error when the application is created."""
    with pytest.raises(ValueError, match=r"allowed is a number of seconds, from 0\.01 to 60"):
        asgi_doctor.watch(_shop(), warn=warn)
