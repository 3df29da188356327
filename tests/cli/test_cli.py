"""The command line in processes of its own: output, errors, exit codes."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from app.cli import COMMANDS
from app.local.sample_events import SAMPLES
from app.settings import Release
from app.web.releases import lessons
from loadtest.stage.queues import QueueProcess
from tests.harness import queues
from tests.harness.service import Web, clean_environment

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

DEFAULT = SAMPLES / "default.json"


def run(*arguments: str, extra: dict[str, str] | None = None, **settings: object) -> subprocess.CompletedProcess[str]:
    """`python -m app …`, to its end."""
    command = [sys.executable, "-m", "app", *arguments]
    environment = clean_environment(**settings) | (extra or {})
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Web]:
    """`make run`, on a free port, which accepts webhooks however long the machine pauses."""
    with Web(clean_environment(local=1, port=0, run_dir=tmp_path, sqs_timeout=60, max_wait=0)) as web:
        yield web


# help and wrong input


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help(command: list[str]) -> None:
    """Every command explains itself."""
    shown = run(*command, "--help")
    assert shown.returncode == 0
    assert "Usage: python -m app" in shown.stdout


def test_help_of_web_lists_every_setting() -> None:
    """The variables, their defaults, what is allowed."""
    assert "APP_MAX_BODY_BYTES [245760]: 1 to 1,044,480" in run("web", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serve"], "web, worker, setup, redrive, reconcile, demo, send"),
        (["send", "--count", "0"], "x>=1"),
        (["send", "no-such-file.json"], "no-such-file.json"),
        (["send", "--url", "localhost"], "--url localhost: allowed is scheme and host"),
        (["queue", "--limit", "many"], "'many' is not a valid integer"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused(arguments: list[str], expected: str, tmp_path: Path) -> None:
    """Exit code 2, the value, what is allowed."""
    ended = run(*arguments, run_dir=tmp_path)
    assert ended.returncode == 2
    assert expected in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_wrong_setting_stops_the_start() -> None:
    """One line, exit code 2."""
    ended = run("web", port="http")
    assert (ended.returncode, ended.stderr) == (2, "error: APP_PORT=http: allowed is 0 to 65,535\n")


@pytest.mark.parametrize("command", ["web", "queue", "send", "demo"])
def test_a_secret_in_the_queues_url_is_not_shown(command: str) -> None:
    """The refusal does not repeat it, whichever command reads the setting."""
    ended = run(command, sqs_queue_url="https://user:s3cret@sqs.example/0/invoices")
    assert ended.returncode == 2
    assert "APP_SQS_QUEUE_URL=(hidden): allowed is an http(s) URL without credentials" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("url", ["http://user:s3cret@127.0.0.1:9", "user:s3cret@127.0.0.1", "http://user:s3cret@/x"])
def test_a_secret_in_an_option_is_not_shown(url: str, tmp_path: Path) -> None:
    """`send --url` takes its credentials from the settings alone."""
    ended = run("send", str(DEFAULT), "--url", url, run_dir=tmp_path)
    assert ended.returncode == 2
    assert "error: --url (hidden): allowed is scheme and host, as in http://127.0.0.1:8000" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


def test_a_secret_in_an_sdk_error_is_not_shown(tmp_path: Path) -> None:
    """An AWS SDK's error about the endpoint of a configuration file is shown without the credentials in it."""
    file = tmp_path / "config"
    file.write_text("[default]\nendpoint_url = http://user:s3cret@127.0.0.1:9\n")
    sdk = {
        "AWS_CONFIG_FILE": str(file),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_MAX_ATTEMPTS": "1",
    }
    ended = run("queue", sqs_queue_url="http://127.0.0.1:9/0/invoices", extra=sdk)
    assert ended.returncode == 2
    assert "http://***@127.0.0.1:9" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


def test_releases() -> None:
    """Name, version, change, and how to switch."""
    shown = run("releases").stdout
    for release in Release:
        assert f"{release.value}" in shown
        assert release.version in shown
    assert "APP_RELEASE=" in shown


@pytest.mark.parametrize("arguments", [["releases"], ["diff", "v03", "v04"]], ids=" ".join)
def test_a_listing_loads_no_service(arguments: list[str]) -> None:
    """The releases are read as texts: neither FastAPI nor an AWS SDK is imported for it."""
    command = [sys.executable, "-X", "importtime", "-m", "app", *arguments]
    ended = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=True, timeout=60)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines()}
    assert "click" in imported
    assert imported & {"fastapi", "starlette", "uvicorn", "boto3", "botocore", "aiohttp"} == set()


def test_diff() -> None:
    """A lesson in the terminal: the lines that differ, and no others; short names will do."""
    shown = run("diff", "v03", "v04_more_tokens").stdout
    assert "-TOKENS = 40\n+TOKENS = 100\n" in shown
    assert "the thread limiter has 100 tokens" in shown
    refused = run("diff", "v03", "v99")
    assert refused.returncode == 2
    assert "v99 is not a release: allowed are v01_inline" in refused.stderr


@pytest.mark.parametrize(("old", "new"), list(pairwise(Release)), ids=str)
def test_neighbours_differ_in_one_lesson(old: Release, new: Release) -> None:
    """At most 25 lines of code; v07 to v09 are new designs. And a release is one screen."""
    changed = [line for line in lessons.diff(old, new) if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert len(changed) <= (25 if new < Release.V08_NATIVE_ASYNC else 60)
    code = [line for line in lessons.code(new) if line.strip()]
    assert len(code) <= 60


# demo


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


def test_demo() -> None:
    """Ends with 0, shows answers and messages, leaves nothing behind."""
    before = set(children())
    ended = run("demo")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count('"status":"queued"') == 10
    assert ended.stdout.count('"status":"ignored"') == 4
    assert "10 messages in the queue" in ended.stdout
    assert set(children()) == before


@pytest.mark.slow
def test_demo_closes_the_invoices() -> None:
    """By a worker, which is left to nobody; the audit is on the last line."""
    before = set(children())
    ended = run("demo")
    assert "10 of 10 invoices closed, with 15 charges" in ended.stdout
    assert ended.stdout.endswith("OK: every invoice is closed once, and has each of its charges exactly once.\n")
    assert set(children()) == before


@pytest.mark.slow
def test_demo_names_what_failed() -> None:
    """The demo fails with a service that accepts at most 3,000 bytes."""
    ended = run("demo", max_body_bytes=3000)
    assert ended.returncode == 1
    assert "FAILED: pending_invoice_created_05_sixty_line_items.json" in ended.stderr
    assert "FAILED: 2 messages arrived; expected 10" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--concurrency", "20"], ["--rate", "100"]], ids=str)
def test_demo_of_a_release(options: list[str]) -> None:
    """A burst on a slow queue: times, the probe, the audit."""
    command = ("demo", "--count", "40", *options)
    ended = run(*command, release="v03_threadpool", local_sqs_delay=0.05, sqs_timeout=60, max_wait=0)
    assert ended.returncode == 0, ended.stderr
    assert "v03_threadpool on http://" in ended.stdout
    assert "200: 40 in " in ended.stdout
    assert "/healthz meanwhile: " in ended.stdout
    assert "audit: 40 got 200, 40 in the queue, 0 lost" in ended.stdout


@pytest.mark.slow
def test_demo_and_ctrl_c() -> None:
    """Service and queue end with it."""
    before = set(children())
    command = [sys.executable, "-u", "-m", "app", "demo", "--count", "1000", "--rate", "20"]  # it starts no worker
    with subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    ) as demo:
        assert demo.stdout is not None
        demo.stdout.readline()  # the service is up
        group = set(children()) - before
        assert len(group) == 4  # the demo, the service, the embedded AWS, Chargebee's stand-in
        for process in group - set(psutil.Process(demo.pid).children(recursive=True)):
            process.send_signal(signal.SIGINT)
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=60)
    psutil.wait_procs(group, timeout=60)
    assert set(children()) == before


# a local run, seen from another terminal


@pytest.mark.slow
def test_peek_shows_the_exact_bytes_any_number_of_times(local: Web, tmp_path: Path) -> None:
    """After several looks, the message is still there and has not been received once."""
    body = DEFAULT.read_bytes()
    with local.client(auth=("demo", "demo")) as client:
        assert client.post("/webhooks/chargebee", content=body).status_code == 200
    for _ in range(6):
        shown = run("queue", "--peek", run_dir=tmp_path)
        assert shown.stdout.encode() == body + b"\n"
        assert "event_type=pending_invoice_created" in shown.stderr
    line = json.loads(run("queue", "--peek", "--json", run_dir=tmp_path).stdout)
    assert line["body"].encode() == body
    assert "1 messages" in run("queue", run_dir=tmp_path).stderr


def test_send(local: Web, tmp_path: Path) -> None:
    """The samples, a file, many events, each to the running local service."""
    shown = run("send", run_dir=tmp_path)
    assert (shown.returncode, shown.stdout.count('"status":"queued"')) == (0, 10)
    assert run("send", str(DEFAULT), run_dir=tmp_path).stdout.endswith("200: 1\n")
    many = run("send", "--count", "500", run_dir=tmp_path)
    assert "200: 500 in " in many.stdout
    assert ": 511 messages" in run("queue", run_dir=tmp_path).stderr
    refused = run("send", str(DEFAULT), run_dir=tmp_path, basic_auth_username="demo", basic_auth_password="wrong")
    assert (refused.returncode, refused.stdout.splitlines()[-1]) == (1, "401: 1")


def test_send_without_a_service(tmp_path: Path) -> None:
    """No answer: exit code 1, and the reason."""
    ended = run("send", str(DEFAULT), "--url", "http://127.0.0.1:9", run_dir=tmp_path)
    assert ended.returncode == 1
    assert "no answer: Cannot connect" in ended.stdout


def test_a_second_run_in_the_same_folder(local: Web, tmp_path: Path) -> None:
    """Refused in one line; the first is not disturbed."""
    second = run("web", local=1, port=0, run_dir=tmp_path)
    assert second.returncode == 2
    assert f"APP_RUN_DIR={tmp_path}: in use by another local run" in second.stderr
    assert run("queue", run_dir=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_run_that_ends(local: Web, tmp_path: Path) -> None:
    """Ctrl-C: exit code 0, no child, no file."""
    stand_ins = psutil.Process(local.process.pid).children()
    assert len(stand_ins) == 2
    assert local.stop(signal.SIGINT) == 0
    assert psutil.wait_procs(stand_ins, timeout=60)[1] == []
    ended = run("queue", run_dir=tmp_path)
    assert ended.returncode == 2
    assert "does not exist; start one with `make run`" in ended.stderr


@pytest.mark.slow
def test_a_run_that_is_killed(local: Web, tmp_path: Path) -> None:
    """SIGKILL: the stand-ins end too; the stale file is reported as such, and the next start replaces it."""
    stand_ins = psutil.Process(local.process.pid).children()
    local.stop(signal.SIGKILL)
    psutil.wait_procs(stand_ins, timeout=60)
    assert [one for one in stand_ins if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    ended = run("queue", run_dir=tmp_path)
    assert ended.returncode == 2
    assert f"has ended (process {local.process.pid} is gone)" in ended.stderr
    with Web(clean_environment(local=1, port=0, run_dir=tmp_path)):
        assert run("queue", run_dir=tmp_path).returncode == 0


def test_a_local_run_shields_the_real_account(tmp_path: Path) -> None:
    """A profile, an endpoint and a proxy of the user's do not reach a local run."""
    real = {
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }
    with (
        Web(clean_environment(local=1, port=0, run_dir=tmp_path) | real) as web,
        web.client(auth=("demo", "demo")) as client,
    ):
        assert client.post("/webhooks/chargebee", content=DEFAULT.read_bytes()).status_code == 200


# a queue elsewhere


def test_a_queue_elsewhere(aws: QueueProcess, sqs: "SQSClient", queue_url: str) -> None:
    """The command counts messages; --peek receives them, and warns of it."""
    sqs.send_message(QueueUrl=queue_url, MessageBody="a body")
    elsewhere = queues.environment(aws.endpoint)
    assert "1 messages waiting" in run("queue", sqs_queue_url=queue_url, extra=elsewhere).stderr
    looked = run("queue", "--peek", sqs_queue_url=queue_url, extra=elsewhere)
    assert looked.stdout == "a body\n"
    assert "warning" in looked.stderr
    assert len(queues.drain(sqs, queue_url)) == 1


def test_a_queue_with_a_dead_letter_queue_is_refused(aws: QueueProcess, sqs: "SQSClient", queue_url: str) -> None:
    """Five receives would move the messages there."""
    dead = sqs.create_queue(QueueName="dead-letters")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "5"})
    sqs.set_queue_attributes(QueueUrl=queue_url, Attributes={"RedrivePolicy": redrive})
    ended = run("queue", "--peek", sqs_queue_url=queue_url, extra=queues.environment(aws.endpoint))
    assert ended.returncode == 2
    assert "has a dead-letter queue" in ended.stderr


def test_a_queue_that_is_not_there(aws: QueueProcess) -> None:
    """SQS's own error, in one line."""
    ended = run("queue", sqs_queue_url=f"{aws.endpoint}/0/missing", extra=queues.environment(aws.endpoint))
    assert ended.returncode == 2
    assert "does not exist" in ended.stderr
