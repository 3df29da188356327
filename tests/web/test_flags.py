"""Each flag is applied once, at assembly, and changes what really runs."""

import asyncio
import gc
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette

from app.errors import ConfigurationError
from app.settings import Release, Settings
from app.sqs import blocking
from app.telemetry.profiling import KEPT
from app.web.main import create_app
from app.web.releases import load
from app.web.server import graceful, listener
from app.web.server.acceptor import Acceptor
from app.web.server.graceful import GracefulServer
from app.web.server.serve import uvicorn_config
from loadtest.stage.queues import QueueProcess
from tests.harness.service import ASGI, CALLBACKS, Service


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a process's libraries are read from /proc")
@pytest.mark.parametrize(
    ("settings", "loaded"),
    [
        ({}, {"uvloop": True, "httptools": True}),
        ({"loop": "asyncio"}, {"uvloop": False, "httptools": True}),
        ({"http": "h11"}, {"uvloop": True, "httptools": False}),
    ],
    ids=str,
)
def test_loop_and_parser(
    aws: QueueProcess, queue_url: str, settings: dict[str, object], loaded: dict[str, bool]
) -> None:
    """APP_LOOP and APP_HTTP decide which libraries the process loads. (v10 needs httptools for SQS.)"""
    with Service(aws.endpoint, queue_url, release=Release.V09_GROUP_COMMIT, **settings) as service:
        libraries = [mapped.path for mapped in psutil.Process(service.process.pid).memory_maps()]
    assert {name: any(f"/{name}/" in path for path in libraries) for name in loaded} == loaded


@pytest.mark.parametrize("middleware", ["none", "asgi", "base_http"])
def test_middleware(aws: QueueProcess, queue_url: str, event: bytes, middleware: str) -> None:
    """APP_MIDDLEWARE: a middleware adds an id and the time to each answer. Refusals remain problems."""
    with Service(aws.endpoint, queue_url, release=ASGI, middleware=middleware) as service:
        answers = [service.post(body) for body in (event, b"{}", b"x" * 300_000)]
    assert [answer.status_code for answer in answers] == [200, 422, 413]
    types = [answer.headers["content-type"] for answer in answers]
    assert types == ["application/json", "application/problem+json", "application/problem+json"]
    for answer in answers:
        assert ("x-request-id" in answer.headers) == (middleware != "none")
        assert answer.headers.get("server-timing", "").startswith("app;dur=") == (middleware != "none")
    assert len({answer.headers.get("x-request-id") for answer in answers}) == (1 if middleware == "none" else 3)


def test_request_overhead(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """APP_REQUEST_OVERHEAD_MS: each webhook takes that much more CPU time."""
    with Service(aws.endpoint, queue_url, release=ASGI, request_overhead_ms=50) as service:
        before = sum(psutil.Process(service.process.pid).cpu_times()[:2])
        assert [service.post(event).status_code for _ in range(4)] == [200] * 4
        assert sum(psutil.Process(service.process.pid).cpu_times()[:2]) - before >= 4 * 0.05 - 0.02  # its resolution


def test_the_options_of_uvicorn() -> None:
    """uvicorn gets these options. A test could see their effect only after a time-out."""
    settings = Settings.model_validate({"release": ASGI, "keep_alive_timeout": 11, "graceful_timeout": 13})
    config = uvicorn_config(create_app(settings), settings)
    assert (config.timeout_keep_alive, config.timeout_graceful_shutdown) == (11, 13)


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ({"http": "h11"}, "APP_HTTP=h11: has no effect on a release without ASGI (v11); allowed is httptools"),
        ({"middleware": "asgi"}, "allowed is none"),
    ],
    ids=str,
)
def test_what_has_no_effect_without_asgi(setting: dict[str, object], allowed: str) -> None:
    """The process does not start with an option that the second door would ignore."""
    with pytest.raises(ConfigurationError) as raised:
        create_app(Settings.model_validate({"release": CALLBACKS, **setting}))
    assert allowed in str(raised.value)
    assert "\n" not in str(raised.value)
    create_app(Settings.model_validate({"release": ASGI, **setting}))


def test_web_concurrency(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn's variable for its own command line is not read: one process serves, and any value of it is fine."""
    monkeypatch.setenv("WEB_CONCURRENCY", "foo")
    settings = Settings()
    assert uvicorn_config(create_app(settings), settings).workers == 1


@pytest.mark.parametrize(
    ("setting", "tuned"),
    [
        ({"release": Release.V07_SYNC_HANDLER}, False),
        ({"release": Release.V07_SYNC_HANDLER, "gc": "tuned"}, True),
        ({"release": ASGI}, True),
        ({"release": ASGI, "gc": "default"}, False),
    ],
    ids=str,
)
def test_who_tunes_the_collector(monkeypatch: pytest.MonkeyPatch, setting: dict[str, object], tuned: bool) -> None:
    """The server tunes the garbage collector before it accepts, from v08 on or as APP_GC says."""
    calls: list[str] = []
    monkeypatch.setattr(graceful, "tune_gc", lambda: calls.append("tuned"))
    monkeypatch.setattr(Acceptor, "start", lambda _: calls.append("accepts"))
    settings = Settings.model_validate({"port": 0, **setting})

    async def start() -> None:
        with listener.bind(settings) as listening:
            server = GracefulServer(uvicorn_config(Starlette(), settings), settings, listening, lambda: None)
            server.config.load()
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup()
            await server.lifespan.shutdown()

    before = signal.getsignal(signal.SIGHUP)
    try:
        asyncio.run(start())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert calls == (["tuned", "accepts"] if tuned else ["accepts"])


def test_gc() -> None:
    """`tune_gc` freezes existing objects, and makes collections rare. The test runs in a separate interpreter."""
    code = """if True:
        import gc
        from app.web.server.graceful import tune_gc
        tune_gc()
        print(gc.get_freeze_count(), *gc.get_threshold())
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    frozen, *thresholds = map(int, ended.stdout.split())
    assert frozen > 1_000
    assert thresholds > list(gc.get_threshold())


@pytest.mark.anyio
@pytest.mark.parametrize("release", [release for release in Release if release < Release.V06_SHARED_QUEUE], ids=str)
@pytest.mark.parametrize("warm", [True, False])
async def test_warm_clients(monkeypatch: pytest.MonkeyPatch, release: Release, warm: bool) -> None:
    """APP_WARM_CLIENTS decides whether the lifespan builds a client before the first request does."""
    built: list[object] = []
    module = load(release)
    where, name = (blocking, "build_queue") if release.enqueues else (module, "build_clients")
    monkeypatch.setattr(where, name, lambda *needed: built.append(needed[0]))
    needed = {"billing_table": "table", "chargebee_url": "http://127.0.0.1:1", "chargebee_api_key": "key"}
    chosen = {"release": release, "warm_clients": warm, "threadpool_tokens": 5, "sqs_queue_url": "http://127.0.0.1/1/q"}
    app = create_app(Settings.model_validate(needed | chosen))
    async with module.lifespan(app):
        assert current_default_thread_limiter().total_tokens == 5
    assert len(built) == warm


@pytest.mark.parametrize("release", [ASGI, CALLBACKS])
def test_profile(aws: QueueProcess, queue_url: str, event: bytes, tmp_path: Path, release: Release) -> None:
    """APP_PROFILE writes four files for each webhook, keeps only the newest, and writes none for a probe."""
    with Service(aws.endpoint, queue_url, release=release, profile=tmp_path / "profiles") as service:
        httpx.get(f"{service.url}/healthz", timeout=60)
        for _ in range(KEPT + 2):
            assert service.post(event).status_code == 200
        service.wait_for(f"Profile {KEPT + 2} written")
    numbers = {int(file.name.partition(".")[0]) for file in (tmp_path / "profiles").iterdir()}
    endings = {file.name.partition(".")[2] for file in (tmp_path / "profiles").iterdir()}
    assert numbers == set(range(3, KEPT + 3))
    assert endings == {"html", "txt", "speedscope.json", "pyisession"}
    # Frames are not checked: which ones a sampler sees, if any, is random.
    assert "Samples:" in (tmp_path / "profiles" / f"{KEPT + 2}.txt").read_text()


def test_without_profile(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """The profiler is off by default, and is not even loaded."""
    with Service(aws.endpoint, queue_url) as service:
        service.post(event)
        libraries = [mapped.path for mapped in psutil.Process(service.process.pid).memory_maps()]
    assert not any("pyinstrument" in path for path in libraries)
