"""Tests the service with the profiler, and with CPU time for each request. tests/local has those of the timeline."""

import sys
from pathlib import Path

import boto3
import httpx
import psutil
import pytest

from app.errors import ConfigurationError
from app.settings import Release, WebSettings
from app.sqs.blocking import BlockingQueue
from loadtest.stage.queues import QueueProcess
from profiles.instruments import COLD_CLIENTS, OUR_SERVER, OVERHEAD_MS, PROFILE
from profiles.instruments.profiler import KEPT
from profiles.instruments.wrapped import create_app
from tests.harness.service import ASGI, CALLBACKS, NO_CAS, Web, environment

COMMAND = [sys.executable, "-m", "profiles.instruments"]


def _service(aws: QueueProcess, queue_url: str, release: Release, **instrument: str) -> Web:
    return Web(environment(aws.endpoint, queue_url, release=release) | instrument, command=COMMAND)


@pytest.mark.parametrize("release", [ASGI, CALLBACKS])
def test_profile(aws: QueueProcess, queue_url: str, event: bytes, tmp_path: Path, release: Release) -> None:
    """The profiler writes four files for each webhook, keeps only the newest, and writes none for a probe."""
    with _service(aws, queue_url, release, **{PROFILE: str(tmp_path / "profiles")}) as service:
        httpx.get(f"{service.url}/healthz", verify=NO_CAS, timeout=60)
        for _ in range(KEPT + 2):
            assert service.post(event).status_code == 200
        service.wait_for(f"Profile {KEPT + 2} written")
    numbers = {int(file.name.partition(".")[0]) for file in (tmp_path / "profiles").iterdir()}
    endings = {file.name.partition(".")[2] for file in (tmp_path / "profiles").iterdir()}
    assert numbers == set(range(3, KEPT + 3))
    assert endings == {"html", "txt", "speedscope.json", "pyisession"}
    # Frames are not checked: which ones a sampler sees, if any, is random.
    assert "Samples:" in (tmp_path / "profiles" / f"{KEPT + 2}.txt").read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_cold_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the start, boto3's session is another one than that in which the release has built its client."""
    monkeypatch.setenv(COLD_CLIENTS, "1")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    used: list[object] = []
    monkeypatch.setattr(BlockingQueue, "warm", lambda *_: used.append(boto3._get_default_session()))
    app = create_app(WebSettings.model_validate({"release": Release.V02_BLOCKING, "sqs_queue_url": "http://h/0/q"}))
    async with app.router.lifespan_context(app):
        assert boto3.DEFAULT_SESSION not in [None, *used]


def test_overhead(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """Each webhook takes that much more CPU time."""
    with _service(aws, queue_url, ASGI, **{OVERHEAD_MS: "50"}) as service:
        before = sum(psutil.Process(service.process.pid).cpu_times()[:2])
        assert [service.post(event).status_code for _ in range(4)] == [200] * 4
        assert sum(psutil.Process(service.process.pid).cpu_times()[:2]) - before >= 4 * 0.05 - 0.02  # its resolution


def test_overhead_without_middleware(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release whose webhooks pass no middleware does not start with an overhead that it would not have."""
    monkeypatch.setenv(OVERHEAD_MS, "1")
    with pytest.raises(ConfigurationError, match=f"{OVERHEAD_MS}: has no effect"):
        create_app(WebSettings.model_validate({"release": CALLBACKS}))


def test_the_release_before_on_this_server(aws: QueueProcess, queue_url: str, event: bytes) -> None:
    """The control of the newest releases: an ordinary FastAPI handler, with the bounds of this project's server."""
    with _service(aws, queue_url, ASGI, **{OUR_SERVER: "1"}) as service:
        assert service.post(event).json()["status"] == "queued"
        assert service.post(b"{}").status_code == 422
        assert service.post(b"x" * 300_000).status_code == 413
        ambiguous = httpx.post(service.url, headers={"Host": "a b"}, verify=NO_CAS, timeout=60)
        assert ambiguous.status_code == 400
        assert service.stop() == 0
