"""Each flag is applied once, when the application is assembled, and has an effect."""

import gc
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from anyio.to_thread import current_default_thread_limiter

from app.errors import ConfigurationError
from app.server import run
from app.server.acceptor import Acceptor
from app.server.limits import Limits
from app.settings import Release, WebSettings
from app.sqs import blocking
from app.web.main import create_app
from app.web.releases import load
from app.web.serve import uvicorn_config
from tests.harness.service import ASGI, environment


def test_the_options_of_uvicorn() -> None:
    """uvicorn gets the options of the settings. Their effects are not tested, because they need a time-out."""
    settings = WebSettings.model_validate({"release": ASGI, "keep_alive_timeout": 11, "graceful_timeout": 13})
    config = uvicorn_config(create_app(settings), settings)
    assert (config.timeout_keep_alive, config.timeout_graceful_shutdown) == (11, 13)


def test_web_concurrency(monkeypatch: pytest.MonkeyPatch) -> None:
    """WEB_CONCURRENCY, a variable of uvicorn's command line, is not read. One process serves with any value of it."""
    monkeypatch.setenv("WEB_CONCURRENCY", "foo")
    settings = WebSettings()
    assert uvicorn_config(create_app(settings), settings).workers == 1


def test_the_server_tunes_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our server tunes the garbage collector before it accepts connections."""
    calls: list[str] = []
    monkeypatch.setattr(run, "tune_gc", lambda: calls.append("tuned"))
    monkeypatch.setattr(Acceptor, "start", lambda _: calls.append("accepts"))

    async def stop_at_once(*_: object) -> None: ...

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        yield

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = run.Server(listening, Limits(1, 1, 1), run.Stop(lambda: None, 0, 1), "http://127.0.0.1")
        monkeypatch.setattr(server, "serve_until_drained", stop_at_once)
        server.run(lifespan, lambda _: lambda request: None)
    assert calls == ["tuned", "accepts"]


def test_gc() -> None:
    """`tune_gc` freezes existing objects, and makes collections rare. The test runs in a separate interpreter."""
    code = """if True:
        import gc
        from app.server.run import tune_gc
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
    for variable, value in needed.items():  # only v01 needs these variables
        monkeypatch.setenv(f"APP_{variable}", value)
    chosen = {"release": release, "threadpool_tokens": 5, "sqs_queue_url": "http://127.0.0.1/1/q"}
    app = create_app(WebSettings.model_validate(chosen))
    async with module.lifespan(app):
        assert current_default_thread_limiter().total_tokens == 5
    assert len(built) == 1


def test_uvicorn_s_command_line_and_a_release_without_asgi(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn's command cannot create the application of a release without ASGI: every webhook would get 500."""
    for name, value in environment("http://127.0.0.1:9", "http://127.0.0.1:9/1/q").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="only `python -m app web` serves it"):
        create_app()
