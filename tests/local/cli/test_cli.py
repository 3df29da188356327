"""Runs `python -m local` as separate processes, and tests output, errors and exit codes."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from app.settings import Release, WebSettings
from app.sqs.message import Seen
from local import lessons
from local.chargebee.load_generator import LoadResult
from local.demo import burst
from local.demo.output import Output
from local.local_run import LocalRun
from local.sample_events import SAMPLES
from tests.harness.commands import LocalRunProcess, run_local
from tests.harness.processes import alive
from tests.harness.service import Web

DEFAULT = SAMPLES / "default.json"


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Web]:
    """A local run that accepts webhooks however long the machine pauses."""
    with LocalRunProcess(tmp_path, sqs_timeout=60, max_wait=0) as web:
        yield web


# help and wrong input


@pytest.mark.parametrize("command", ["run", "send", "demo"])
def test_a_secret_in_the_queues_url_is_not_shown(command: str) -> None:
    """No command repeats the secret in its error."""
    ended = run_local(command, sqs_queue_url="https://user:s3cret@sqs.example/0/invoices")
    assert ended.returncode == 2
    assert "APP_SQS_QUEUE_URL=(hidden): allowed is an http(s) URL without credentials" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("url", ["http://user:s3cret@127.0.0.1:9", "user:s3cret@127.0.0.1", "http://user:s3cret@/x"])
def test_a_secret_in_an_option_is_not_shown(url: str, tmp_path: Path) -> None:
    """`send --url` takes credentials from the settings only."""
    ended = run_local("send", str(DEFAULT), "--url", url, run_dir=tmp_path)
    assert ended.returncode == 2
    assert "error: --url (hidden): allowed is a URL of scheme and host only, as in http://127.0.0.1" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(("old", "new"), list(pairwise(Release)), ids=str)
def test_neighbours_differ_in_one_lesson(old: Release, new: Release) -> None:
    """Neighbours differ in at most 26 lines (60 for the new designs from v08 on), and a release fits on one screen.

    v02 leaves the whole billing work to the worker, so its diff removes the lines that do this work.
    """
    changed = [line for line in lessons.diff(old, new) if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    added = [line for line in changed if line[0] == "+"] if new is Release.V02_BLOCKING else changed
    assert len(added) <= (26 if new < Release.V08_NATIVE_ASYNC else 60)
    code = [line for line in lessons.code(new) if line.strip()]
    assert len(code) <= 60


# demo


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_demo_names_what_failed() -> None:
    """The demo fails with a service that accepts at most 3,000 bytes, and `--count` with one that accepts none."""
    ended = run_local("demo", max_body_bytes=3000)
    assert ended.returncode == 1
    assert "FAILED: pending_invoice_created_05_sixty_line_items.json" in ended.stderr
    assert "FAILED: 2 messages arrived; expected 10" in ended.stderr
    burst = run_local("demo", "--count", "5", max_body_bytes=1000)
    assert burst.returncode == 1
    assert "FAILED: none of the 5 webhooks got 200" in burst.stderr


def test_a_lost_webhook_fails_a_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    """A webhook with a 200 is lost if the queue does not have it byte for byte."""

    async def send(run: LocalRun, settings: WebSettings, bodies: list[bytes], *_: object, **__: object) -> LoadResult:
        arrived.extend(Seen(body.decode(), {}) for body in (*bodies[2:], bodies[1] + b" "))
        return LoadResult(Counter({200: len(bodies)}), bodies, [0.1] * len(bodies), seconds=1.0)

    arrived: list[Seen] = []
    said: list[str] = []
    monkeypatch.setattr(burst, "_send", send)
    monkeypatch.setattr(burst, "peek", lambda *_: arrived)
    output = Output(said.append, said.append, lambda label, steps: nullcontext(lambda done: None))
    run = LocalRun(0, *["-"] * 6)
    problems = burst.burst(run, WebSettings(), output, 5, concurrency=1, rate=None)
    assert problems == ["2 webhooks got 200 but are not in the queue"]
    assert said[-1] == "audit: 5 got 200, 4 in the queue, 2 lost"


# a local run, seen from another terminal


@pytest.mark.slow
def test_a_run_that_ends(local: Web, tmp_path: Path) -> None:
    """After Ctrl-C, the exit code is 0, and no child process or file is left.

    Until then, a second run in the same folder ends with one line, and does not affect the first one.
    """
    second = run_local("run", port=0, run_dir=tmp_path)
    assert second.returncode == 2
    assert f"in use by another local run, process {local.process.pid}: stop that process" in second.stderr
    assert run_local("queue", run_dir=tmp_path).returncode == 0
    stand_ins = psutil.Process(local.process.pid).children()
    assert len(stand_ins) == 4  # AWS, Chargebee, the live page, the service
    assert local.stop(signal.SIGINT) == 0
    assert alive(stand_ins) == []
    ended = run_local("queue", run_dir=tmp_path)
    assert ended.returncode == 2
    assert "does not exist; start one with `make run`" in ended.stderr


@pytest.mark.slow
def test_a_run_that_is_killed(local: Web, tmp_path: Path) -> None:
    """After SIGKILL, the stand-ins end too; commands report the stale file, and the next start replaces it."""
    stand_ins = psutil.Process(local.process.pid).children()
    local.stop(signal.SIGKILL)
    assert alive(stand_ins) == []
    ended = run_local("queue", run_dir=tmp_path)
    assert ended.returncode == 2
    assert f"has ended (process {local.process.pid} is gone)" in ended.stderr
    with LocalRunProcess(tmp_path):
        assert run_local("queue", run_dir=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_local_run_shields_the_real_account(tmp_path: Path) -> None:
    """The user's AWS profile, endpoint and proxy do not reach a local run."""
    real = {
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }
    with (
        LocalRunProcess(tmp_path, real) as web,
        web.client(auth=("demo", "demo")) as client,
    ):
        assert client.post("/webhooks/chargebee", content=DEFAULT.read_bytes()).status_code == 200


@pytest.mark.parametrize("release", [*Release][1:])
def test_a_step_is_said_in_a_few_words(release: Release) -> None:
    """README's table says in at most ten words what was wrong before each release, and what the release changes."""
    wrong, change, _ = lessons.STEPS[release]
    assert 3 <= len(wrong.split()) <= 10
    assert 2 <= len(change.split()) <= 10
