"""Each flag is applied once, at assembly, and changes what really runs."""

import asyncio
import gc
import signal
import subprocess
import sys

import pytest
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette

from app.settings import Release, WebSettings
from app.sqs import blocking
from app.web.main import create_app
from app.web.releases import load
from app.web.server import graceful, listener
from app.web.server.acceptor import Acceptor
from app.web.server.graceful import GracefulServer
from app.web.server.serve import HTTP, uvicorn_config
from tests.harness.service import ASGI


def test_the_options_of_uvicorn() -> None:
    """uvicorn gets these options. A test could see their effect only after a time-out."""
    settings = WebSettings.model_validate({"release": ASGI, "keep_alive_timeout": 11, "graceful_timeout": 13})
    config = uvicorn_config(create_app(settings), settings)
    assert (config.timeout_keep_alive, config.timeout_graceful_shutdown) == (11, 13)


def test_web_concurrency(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn's variable for its own command line is not read: one process serves, and any value of it is fine."""
    monkeypatch.setenv("WEB_CONCURRENCY", "foo")
    settings = WebSettings()
    assert uvicorn_config(create_app(settings), settings).workers == 1


def test_the_server_tunes_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our server tunes the garbage collector before it accepts."""
    calls: list[str] = []
    monkeypatch.setattr(graceful, "tune_gc", lambda: calls.append("tuned"))
    monkeypatch.setattr(Acceptor, "start", lambda _: calls.append("accepts"))
    settings = WebSettings.model_validate({"port": 0})

    async def start() -> None:
        with listener.bind(settings) as listening:
            server = GracefulServer(uvicorn_config(Starlette(), settings, HTTP), settings, listening, lambda: None)
            server.config.load()
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup()
            await server.lifespan.shutdown()

    before = signal.getsignal(signal.SIGHUP)
    try:
        asyncio.run(start())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert calls == ["tuned", "accepts"]


def test_gc() -> None:
    """`tune_gc` freezes existing objects, and makes collections rare. The test runs in a separate interpreter."""
    code = """if True:
        import gc
        from app.web.server.graceful import tune_gc
        tune_gc()
        print(gc.get_freeze_count(), *gc.get_threshold())
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    frozen, *thresholds = map(int, ended.stdout.split())
    assert frozen > 1_000
    assert thresholds > list(gc.get_threshold())


@pytest.mark.anyio
@pytest.mark.parametrize("release", [release for release in Release if release < Release.V06_SHARED_QUEUE], ids=str)
async def test_warm_clients(monkeypatch: pytest.MonkeyPatch, release: Release) -> None:
    """The lifespan builds a client before the first request does, and APP_THREADPOOL_TOKENS sets the threads."""
    built: list[object] = []
    module = load(release)
    where, name = (blocking, "build_queue") if release.enqueues else (module, "build_clients")
    monkeypatch.setattr(where, name, lambda *needed: built.append(needed[0]))
    needed = {"BILLING_TABLE": "table", "CHARGEBEE_URL": "http://127.0.0.1:1", "CHARGEBEE_API_KEY": "key"}
    for variable, value in needed.items():  # v01's
        monkeypatch.setenv(f"APP_{variable}", value)
    chosen = {"release": release, "threadpool_tokens": 5, "sqs_queue_url": "http://127.0.0.1/1/q"}
    app = create_app(WebSettings.model_validate(chosen))
    async with module.lifespan(app):
        assert current_default_thread_limiter().total_tokens == 5
    assert len(built) == 1
