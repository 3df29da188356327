"""The command line in processes of its own: output, errors, exit codes."""

import hashlib
import json
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli import COMMANDS, cli
from app.cli.queue import show
from app.errors import CommandFailed, QueueUnavailable
from app.sqs.inspect import QueueInspector
from app.sqs.message import Seen
from app.worker.event_comparison import Summary
from loadtest.stage.queues import QueueProcess
from tests.harness import queues
from tests.harness.commands import run
from tests.harness.service import clean_environment
from tests.harness.sqs_stand_in import SqsStandIn

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help(command: list[str]) -> None:
    """Every command explains itself."""
    shown = run(*command, "--help")
    assert shown.returncode == 0
    assert "Usage: python -m app" in shown.stdout


def test_help_of_web_lists_every_setting() -> None:
    """The help lists the variables, their defaults and the allowed values."""
    assert "APP_MAX_BODY_BYTES [245760]: 1 to 1,044,480" in run("web", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serve"], "web, worker, setup, redrive, reconcile, release, unbilled, queue"),
        (["queue", "--limit", "many"], "'many' is not a valid integer"),
        (["queue", "--limit", "3"], "--limit and --json have no effect without --peek"),
        (["queue", "--json"], "--limit and --json have no effect without --peek"),
        (["reconcile", "--since", "10m"], "--since is 600 s: allowed is more than --settled (900 s)"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused(arguments: list[str], expected: str) -> None:
    """The command exits with 2, and names the value and the allowed values."""
    ended = CliRunner().invoke(cli, arguments)
    assert ended.exit_code == 2
    assert expected in ended.stderr


NOWHERE = "http://127.0.0.1:9"
WORKER = {
    "sqs_queue_url": f"{NOWHERE}/000000000000/invoices",
    "dead_letter_queue_url": f"{NOWHERE}/000000000000/invoices-dead",
    "billing_table": "billing",
    "chargebee_url": NOWHERE,
    "chargebee_api_key": "key",
}
NO_KEYS = queues.environment(NOWHERE) | {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}


def test_a_worker_without_credentials() -> None:
    """The worker does not start, because its clients would never look for credentials again."""
    ended = run("worker", extra=NO_KEYS, **WORKER)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("error: AWS: no credentials found")


def test_a_worker_behind_a_proxy_that_is_no_http_proxy() -> None:
    """The worker does not start, because no call to Chargebee could succeed."""
    extra = queues.environment(NOWHERE) | {"HTTPS_PROXY": "socks5://user:s3cret@127.0.0.1:9"}
    ended = run("worker", extra=extra, **WORKER | {"chargebee_url": "https://site.chargebee.example"})
    assert (ended.returncode, ended.stderr.splitlines()[-1].startswith("error: HTTPS_PROXY: allowed is")) == (2, True)
    assert "s3cret" not in ended.stderr


def test_a_worker_with_few_descriptors() -> None:
    """The worker does not start, because events would fail when descriptors run out."""
    command = ["bash", "-c", 'ulimit -n 129 && exec "$@"', "bash", sys.executable, "-m", "app", "worker"]
    given = clean_environment(**WORKER) | queues.environment(NOWHERE)
    ended = subprocess.run(command, env=given, capture_output=True, encoding="utf-8", check=False, timeout=60)
    error = "error: ulimit -n 129: allowed are 130 or more open files with APP_WORKER_CONCURRENCY=10\n"
    assert (ended.returncode, ended.stderr) == (2, error)


def test_a_signal_during_the_start() -> None:
    """A handler ends the process, because the first process of a container gets no signal without one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        metadata = {
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{listener.getsockname()[1]}",
            "AWS_METADATA_SERVICE_TIMEOUT": "60",
        }
        command = [sys.executable, "-m", "app", "worker"]
        with subprocess.Popen(command, env=clean_environment(**WORKER) | NO_KEYS | metadata) as worker:
            try:
                with listener.accept()[0]:  # it waits for credentials
                    worker.terminate()
                    assert worker.wait(timeout=60) == 128 + signal.SIGTERM
            finally:
                worker.kill()


def test_the_reason_why_sqs_takes_no_missing_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of `reconcile` contains SQS's code, which says what to repair."""

    async def refused(*_: object, **__: object) -> Summary:
        return Summary(error=QueueUnavailable("SQS did not accept the message", "AccessDenied"))

    module = import_module("app.cli.reconcile")
    for name in ("load_worker_settings", "configure_logging", "billing_access", "require_sdk"):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(module, "_compare", refused)
    with pytest.raises(CommandFailed, match=r"SQS did not accept the message \(AccessDenied\)"):
        module.reconcile.main([], standalone_mode=False)


def test_control_characters_in_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    """No control character of a message reaches the terminal, not even one that JSON permits."""
    show([Seen("\x1b\x7f\x9b2J ü", {"event_id": "e"})], as_json=True)
    line = capsys.readouterr().out
    assert json.loads(line)["body"] == "\x1b\x7f\x9b2J ü"
    assert line.rstrip("\n").isprintable()


@pytest.mark.parametrize("as_json", [False, True])
def test_the_messages_behind_one_that_is_not_valid(as_json: bool, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A lone surrogate, which UTF-8 cannot express, does not end the command: the later messages are shown."""
    show([Seen("\ud800", {"event_id": "\ud800"}), Seen("the next", {})], as_json=as_json)
    first, second = capfdbinary.readouterr().out.splitlines()
    assert b"\\ud800" in first
    assert b"the next" in second


def test_a_wrong_setting_stops_the_start() -> None:
    """The command prints one line, and exits with 2."""
    ended = run("web", port="http")
    assert (ended.returncode, ended.stderr) == (2, "error: APP_PORT=http: allowed is 0 to 65,535\n")
    ended = run("web", port="8\n0\x1b[1m")
    assert ended.stderr == r"error: APP_PORT=8\n0\x1b[1m: allowed is 0 to 65,535" + "\n"


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("OTEL_PROPAGATORS", "tracecontext,b3", "tracecontext, baggage, none"),
        ("OTEL_PYTHON_METER_PROVIDER", "vendor", "sdk_meter_provider, default_meter_provider"),
        ("OTEL_PYTHON_CONTEXT", "vendor", "contextvars_context"),
        ("OTEL_PYTHON_TRACER_PROVIDER", "vendor", "sdk_tracer_provider, default_tracer_provider"),
    ],
)
def test_a_part_of_opentelemetry_that_is_not_installed(name: str, value: str, allowed: str) -> None:
    """The command prints one line, although FastAPI or the exporter would raise an error when it is imported."""
    ended = run("web", extra={name: value})
    assert (ended.returncode, ended.stderr) == (2, f"error: {name}={value}: allowed are {allowed}\n")


@pytest.mark.parametrize("command", ["web", "queue"])
def test_a_secret_in_the_queues_url_is_not_shown(command: str) -> None:
    """The error does not repeat the value, whichever command reads the setting."""
    ended = run(command, sqs_queue_url="https://user:s3cret@sqs.example/0/invoices")
    assert ended.returncode == 2
    assert "APP_SQS_QUEUE_URL=(hidden): allowed is an http(s) URL without credentials" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


def test_a_secret_in_an_sdk_error_is_not_shown(tmp_path: Path) -> None:
    """An error about the endpoint of a configuration file is shown without the credentials in it."""
    file = tmp_path / "config"
    file.write_text("[default]\nendpoint_url = http://user:s3cret@127.0.0.1:9\n", encoding="utf-8")
    sdk = {
        "AWS_CONFIG_FILE": str(file),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
    }
    ended = run("queue", sqs_queue_url="http://127.0.0.1:9/0/invoices", extra=sdk)
    assert ended.returncode == 2
    assert "endpoint_url=(hidden)" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


def test_a_queue_elsewhere(aws: QueueProcess, sqs: "SQSClient", queue_url: str) -> None:
    """The command counts messages; --peek receives them, and warns of it."""
    sqs.send_message(QueueUrl=queue_url, MessageBody="a body")
    elsewhere = queues.environment(aws.endpoint)
    assert "1 messages waiting" in run("queue", sqs_queue_url=queue_url, extra=elsewhere).stderr
    looked = run("queue", "--peek", sqs_queue_url=queue_url, extra=elsewhere)
    assert looked.stdout == "a body\n"
    assert "warning" in looked.stderr
    assert len(queues.drain(sqs, queue_url)) == 1


def test_peek_polls_all_servers_of_sqs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On AWS, a short poll of a queue with few messages may return none of them."""
    found = {"MessageId": "m", "Body": "a body", "MD5OfBody": hashlib.md5(b"a body", usedforsecurity=False).hexdigest()}
    with SqsStandIn() as stand_in:
        for name, value in queues.environment(stand_in.endpoint).items():
            monkeypatch.setenv(name, value)
        stand_in.raw = {
            "GetQueueAttributes": (200, b'{"Attributes": {}}'),
            "ReceiveMessage": (200, json.dumps({"Messages": [found]}).encode()),
        }
        assert [seen.body for seen in QueueInspector(stand_in.queue_url).receive(10)] == ["a body"]
    asked = [call.data for call in stand_in.calls if call.action == "ReceiveMessage"]
    assert asked
    assert all(parameters["WaitTimeSeconds"] >= 1 for parameters in asked)


def test_a_queue_with_a_dead_letter_queue_is_refused(aws: QueueProcess, sqs: "SQSClient", queue_url: str) -> None:
    """Five receives would move the messages to the dead-letter queue."""
    dead = sqs.create_queue(QueueName="dead-letters")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "5"})
    sqs.set_queue_attributes(QueueUrl=queue_url, Attributes={"RedrivePolicy": redrive})
    ended = run("queue", "--peek", sqs_queue_url=queue_url, extra=queues.environment(aws.endpoint))
    assert ended.returncode == 2
    assert "has a dead-letter queue" in ended.stderr


def test_a_queue_that_is_not_there(aws: QueueProcess) -> None:
    """The command prints SQS's own error in one line."""
    ended = run("queue", sqs_queue_url=f"{aws.endpoint}/0/missing", extra=queues.environment(aws.endpoint))
    assert ended.returncode == 2
    assert "does not exist" in ended.stderr
