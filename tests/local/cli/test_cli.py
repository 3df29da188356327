"""Runs `python -m local` as separate processes, and tests output, errors and exit codes."""

import base64
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.settings import Release, WebSettings
from app.sqs.message import Seen
from local import lessons
from local.chargebee.load_generator import LoadResult
from local.cli import COMMANDS, ON_THE_LOCAL_RUN
from local.demo import burst
from local.demo.output import Output
from local.local_run import LocalRun
from local.sample_events import SAMPLES
from tests.harness.commands import LocalRunProcess, run_local
from tests.harness.processes import alive
from tests.harness.raw import RawSender
from tests.harness.service import Web, clean_environment, without_coverage

DEFAULT = SAMPLES / "default.json"

DEMO = "Basic " + base64.b64encode(b"demo:demo").decode()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Web]:
    """A local run that accepts webhooks however long the machine pauses."""
    with LocalRunProcess(tmp_path, sqs_timeout=60, max_wait=0) as web:
        yield web


# help and wrong input


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], *([name] for name in (*COMMANDS, *ON_THE_LOCAL_RUN))], ids=str)
def test_help(command: list[str]) -> None:
    """Every command explains itself."""
    shown = run_local(*command, "--help")
    assert shown.returncode == 0
    assert "usage: python -m local" in shown.stdout.lower()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serve"], "run, demo, send, queue, invoices"),
        (["send", "--count", "0"], "x>=1"),
        (["send", "no-such-file.json"], "no-such-file.json"),
        (["send", "--url", "localhost"], "--url localhost: allowed is a URL of scheme and host only"),
        (
            ["send", "--url", "http://127.0.0.1:9/x/"],
            "--url http://127.0.0.1:9/x/: allowed is a URL of scheme and host",
        ),
        (["queue", "--limit", "many"], "'many' is not a valid integer"),
        (["queue", "--limit", "3"], "--limit and --json have no effect without --peek"),
        (["send", "--concurrency", "3"], "--concurrency has no effect without --count"),
        (["demo", "--rate", "3"], "--concurrency and --rate have no effect without --count"),
        (["demo", "--count", "9", "--rate", "3", "--concurrency", "2"], "--concurrency has no effect with --rate"),
        (["demo", "--count", "9", "--rate", "nan"], "--rate=nan: allowed is 0.1 or more"),
        (["compare", "v08,APP_RELEASE=v02"], "compare sets this variable itself"),
        (["compare", "v02", "v03", "--svg", "no-such-folder/x.svg"], "--svg no-such-folder/x.svg: allowed is a file"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused(arguments: list[str], expected: str, tmp_path: Path) -> None:
    """The error has the value and what is allowed; the exit code is 2."""
    ended = run_local(*arguments, run_dir=tmp_path)
    assert ended.returncode == 2
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr


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


def test_releases() -> None:
    """The list has name, version and change, and says how to switch."""
    shown = run_local("releases").stdout
    for release in Release:
        assert f"{release.value}" in shown
        assert release.version in shown
    assert "APP_RELEASE=" in shown


@pytest.mark.parametrize("arguments", [["releases"], ["diff", "v03", "v04"]], ids=" ".join)
def test_a_listing_loads_no_service(arguments: list[str]) -> None:
    """The releases are read as texts, so neither FastAPI nor an AWS SDK is imported."""
    command = [sys.executable, "-X", "importtime", "-m", "local", *arguments]
    ended = subprocess.run(
        command, env=clean_environment(), capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines()}
    assert "click" in imported
    assert imported & {"fastapi", "starlette", "uvicorn", "boto3", "botocore", "aiohttp"} == set()


def test_diff() -> None:
    """`diff` shows only the lines that differ, and accepts short names."""
    shown = run_local("diff", "v03", "v04_more_tokens").stdout
    assert "-TOKENS = 40\n+TOKENS = 100\n" in shown
    assert "thread limiter has 100 tokens" in shown
    refused = run_local("diff", "v03", "v99")
    assert refused.returncode == 2
    assert "v99 is not a release: allowed are v01_inline" in refused.stderr


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


@pytest.mark.parametrize("release", Release)
def test_the_reason_why_webhooks_wait(release: Release) -> None:
    """The live page gives the reason for the releases that build a client in a thread, and send in a thread."""
    code = "\n".join(lessons.code(release))
    builds_in_a_thread = "\ndef open_queue(" in code and "build_queue(service.queue" in code
    assert (release in lessons.WAITS) == (builds_in_a_thread and "run_in_threadpool(" in code)


# demo


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_demo() -> None:
    """The demo shows answers, messages and closed invoices, ends with 0, and leaves no process behind.

    A worker closes the invoices and ends with the demo; the audit is on the last line.
    """
    before = set(children())
    ended = run_local("demo")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count('"status":"queued"') == 10
    assert ended.stdout.count('"status":"ignored"') == 4
    assert "10 messages in the queue" in ended.stdout
    assert "9 of 10 invoices closed, with 14 charges, and 1 left pending" in ended.stdout
    last = "OK: every invoice of a renewal is closed once, and has each of its charges exactly once.\n"
    assert ended.stdout.endswith(last)
    assert set(children()) == before


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


@pytest.mark.slow
def test_demo_of_a_release() -> None:
    """A burst on a slow queue shows times, the probe and the audit. (The course has bursts of a closed loop.)"""
    command = ("demo", "--count", "40", "--rate", "100")
    ended = run_local(*command, release="v03_threadpool", local_sqs_delay=0.05, sqs_timeout=60, max_wait=0)
    assert ended.returncode == 0, ended.stderr
    assert "v03_threadpool on http://" in ended.stdout
    assert "200: 40 in " in ended.stdout
    assert "/healthz meanwhile: " in ended.stdout
    assert "audit: 40 got 200, 40 in the queue, 0 lost" in ended.stdout


@pytest.mark.slow
def test_demo_and_ctrl_c() -> None:
    """Service and queue end with the demo, even if the user presses Ctrl-C twice."""
    before = set(children())
    command = [sys.executable, "-u", "-m", "local", "demo", "--count", "1000", "--rate", "20"]  # it starts no worker
    environment = without_coverage(clean_environment())
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    ) as demo:
        assert demo.stdout is not None
        demo.stdout.readline()  # the service is up
        group = set(children()) - before
        assert len(group) == 4  # the demo, the service, the embedded AWS, Chargebee's stand-in
        for _ in range(2):
            demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=60)
    assert alive(group) == []
    assert set(children()) <= before


# a local run, seen from another terminal


@pytest.mark.slow
def test_peek_shows_the_exact_bytes_any_number_of_times(local: Web, tmp_path: Path) -> None:
    """`--peek` shows a message any number of times, and never receives it."""
    body = DEFAULT.read_bytes()
    with local.client(auth=("demo", "demo")) as client:
        assert client.post("/webhooks/chargebee", content=body).status_code == 200
    for _ in range(6):
        shown = run_local("queue", "--peek", run_dir=tmp_path)
        assert shown.stdout.encode() == body + b"\n"
        assert "event_type=pending_invoice_created" in shown.stderr
    line = json.loads(run_local("queue", "--peek", "--json", run_dir=tmp_path).stdout)
    assert line["body"].encode() == body
    assert "1 messages" in run_local("queue", run_dir=tmp_path).stderr


@pytest.mark.slow
def test_send(local: Web, tmp_path: Path) -> None:
    """`send` posts the samples, a file, or many events to the local run's service."""
    shown = run_local("send", run_dir=tmp_path)
    assert (shown.returncode, shown.stdout.count('"status":"queued"')) == (0, 10)
    assert run_local("send", str(DEFAULT), run_dir=tmp_path).stdout.endswith("200: 1\n")
    many = run_local("send", "--count", "500", run_dir=tmp_path)
    assert "200: 500 in " in many.stdout
    looked = run_local("queue", "--peek", "--limit", "3", "--json", run_dir=tmp_path)
    assert len(looked.stdout.splitlines()) == 3
    assert ": 511 messages" in looked.stderr
    assert "… and 508 more (--limit)" in looked.stderr
    refused = run_local("send", str(DEFAULT), run_dir=tmp_path, basic_auth_username="demo", basic_auth_password="wrong")
    assert (refused.returncode, refused.stdout.splitlines()[-1]) == (1, "401: 1")


def test_send_without_a_service(tmp_path: Path) -> None:
    """The exit code is 1 if there is no answer, and the output has the reason."""
    ended = run_local("send", str(DEFAULT), "--url", "http://127.0.0.1:9", run_dir=tmp_path)
    assert ended.returncode == 1
    assert "no answer: Cannot connect" in ended.stdout


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
def test_a_second_ctrl_c_while_the_loop_is_blocked(tmp_path: Path, event: bytes) -> None:
    """The service can handle no signal meanwhile, so the command kills it."""
    settings: dict[str, Any] = {"release": "v02_blocking", "local_sqs_delay": 4, "block_warn": 0.1}
    with LocalRunProcess(tmp_path, **settings) as run, RawSender(run.address) as sender:
        sender.head(f"Content-Length: {len(event)}", authorization=DEMO, body=event)
        run.wait_for("Event loop blocked")
        while run.process.poll() is None:  # two signals at once may count as one
            with suppress(subprocess.TimeoutExpired):
                run.stop(signal.SIGINT, 0.5)
    assert run.process.returncode != 0


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


@pytest.mark.parametrize("command", ["redrive", "reconcile"])
def test_commands_on_the_local_run(command: str) -> None:
    """The help of both commands says that the variables of `python -m app` have no effect."""
    shown = run_local(command, "--help")
    assert (shown.returncode, "these variables have no effect" in " ".join(shown.stdout.split())) == (0, True)


@pytest.mark.parametrize("release", [*Release][1:])
def test_a_step_is_said_in_a_few_words(release: Release) -> None:
    """README's table says in at most ten words what was wrong before each release, and what the release changes."""
    wrong, change = lessons.STEPS[release]
    assert 3 <= len(wrong.split()) <= 10
    assert 2 <= len(change.split()) <= 10
