"""Tests attack.sh as a process: its results, its output, and the losses that it must detect."""

import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from app.settings import Release, WebSettings
from loadtest import interleaved
from loadtest.interleaved import Case
from loadtest.record.shapes import Load
from loadtest.stage import subject
from loadtest.stage.queues import Embedded, QueueProcess, client
from loadtest.stage.stack import Stack
from loadtest.stage.subject import AttackSubject
from loadtest.stage.toxiproxy import Proxy
from tests.harness.processes import alive, names
from tests.harness.service import PASSWORD, USER, Service
from tests.loadtest.attacks import ATTACK, attack, careless, environment, meta

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

SHORT = ("--rate", "100", "--duration", "1s")
# The number of 200s depends on the machine. None of these webhooks may be lost.
HOLDS = re.compile(r"audit: holds: (\d+) got 200, 0 of them lost")


def test_an_attack_leaves_its_results(tmp_path: Path) -> None:
    """The attack leaves vegeta's files and meta.json, and exits with 0, because the audit holds."""
    ended = attack("--release", "v08_native_async", *SHORT, "--queue", "embedded", "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert (accepted := HOLDS.search(ended.stdout))
    assert "of CPU per webhook that got 200" in ended.stdout
    assert {"results.bin", "report.json", "hdr.txt", "meta.json", "plot.html"} <= {
        file.name for file in tmp_path.iterdir()
    }
    measured = meta(tmp_path)
    assert measured["release"] == "v08_native_async"
    assert 0 < measured["requests"] <= 100  # vegeta does not send requests that are late when its time is over
    assert measured["accepted"] == int(accepted[1])
    assert measured["latencies"]["fastest"] >= 8  # milliseconds, added by toxiproxy
    assert measured["used"]["cpu_s"] > 0


# The variables that docs/aws.md exports, and the variables of a password rotation.
EXPORTED = {
    "APP_SQS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/invoice-webhooks",
    "APP_BASIC_AUTH_USERNAME": "chargebee",
    "APP_BASIC_AUTH_PASSWORD": "s3cret-current",
    "APP_BASIC_AUTH_PREVIOUS_USERNAME": "chargebee",
    "APP_BASIC_AUTH_PREVIOUS_PASSWORD": "s3cret-previous",
    "APP_HOST": "0.0.0.0",  # noqa: S104  # as in docs/aws.md
    "APP_DRAIN_DELAY": "60",
    "APP_RELEASE": "v02_blocking",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


@pytest.mark.slow
def test_what_a_deployment_has_exported_does_not_reach_the_history(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """history.json must contain no secret and no address of the environment, because it is committed."""
    for name, value in EXPORTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("APP_SQS_BATCHES", "2")
    case = Case(
        "published", subject.release(Release.V09_GROUP_COMMIT), "none", Load(rate=50, duration_s=0.5, timeout_s=30)
    )
    interleaved.run("history: a test", [case], 1, tmp_path / "history.json", interleaved.environment())
    written = (tmp_path / "history.json").read_text(encoding="utf-8")
    assert '"flags":{"APP_SQS_BATCHES":"2"}' in written
    assert not any(value in written for name, value in EXPORTED.items() if "PASSWORD" in name or "URL" in name)


def test_the_stack_takes_precedence() -> None:
    """The stack's queue, credentials and bounds override the flags of a subject."""
    stack = Stack(Embedded(), [], Proxy("http://far", 0), client("http://near"), None)
    ours = stack.environment("http://near/000000000000/q")
    assert not set(ours) & set(subject.INHERITED)
    assert {name.removeprefix("APP_").lower() for name in subject.INHERITED} <= WebSettings.model_fields.keys()
    assert not any("PASSWORD" in name or "USERNAME" in name or "URL" in name for name in subject.INHERITED)
    seen = subject.environment(AttackSubject("s", [], dict.fromkeys(ours, "mine")), ours, 7)
    assert seen == subject.UNBOUNDED | ours | {"APP_PORT": "7"}


@pytest.mark.parametrize("option", ["--url", "--queue-url", "--sqs-endpoint"])
def test_credentials_in_a_url_are_refused(option: str, tmp_path: Path) -> None:
    """Credentials in a URL are rejected and not printed, because the folder's name and meta.json contain the URL."""
    urls = {"--url": "http://service", "--queue-url": "http://sqs/0/q", "--sqs-endpoint": "http://sqs"}
    urls[option] = "http://user:s3cret@127.0.0.1:9"
    ended = attack(*(word for pair in urls.items() for word in pair), "--out", str(tmp_path))
    assert ended.returncode == 2
    assert f"argument {option}: allowed is a URL without credentials" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_service_at_a_url_is_audited_too(aws: QueueProcess, sqs: "SQSClient", queue_url: str, tmp_path: Path) -> None:
    """The service at --url is audited if its queue is named. Otherwise, the output says that no audit was made."""
    with Service(aws.endpoint, queue_url, release="v07_sync_handler") as service:
        there = ("--url", service.url, *SHORT, "--out", str(tmp_path))
        credentials = {"APP_BASIC_AUTH_USERNAME": USER, "APP_BASIC_AUTH_PASSWORD": PASSWORD}
        ended = attack(*there, "--queue-url", queue_url, "--sqs-endpoint", aws.endpoint, **credentials)
        assert ended.returncode == 0, ended.stderr
        assert HOLDS.search(ended.stdout)
        unaudited = attack(*there, **credentials, APP_SQS_BATCHES="2")
        refused = attack(*there)
    assert (unaudited.returncode, "audit: not made" in unaudited.stdout) == (0, True)
    line = "APP_ variables used: APP_BASIC_AUTH_PASSWORD, APP_BASIC_AUTH_USERNAME; ignored: APP_SQS_BATCHES\n"
    assert line in unaudited.stderr
    assert refused.returncode == 2
    assert "answered 401" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("early", r"[1-9]\d* of them lost \(ev_"),
        ("alters", r"[1-9]\d* of them lost \(ev_"),
        ("other", r"[1-9]\d* with an unexpected id in the response"),
    ],
)
def test_planted_losses_are_found(
    aws: QueueProcess, sqs: "SQSClient", queue_url: str, fault: str, finding: str, tmp_path: Path
) -> None:
    """If a service loses every tenth webhook after a 200, the exit code is 1, and the output names lost webhooks."""
    with careless(fault, aws.endpoint, queue_url) as url:
        there = ("--url", url, "--queue-url", queue_url, "--sqs-endpoint", aws.endpoint)
        ended = attack(*there, *SHORT, "--out", str(tmp_path))
    assert ended.returncode == 1, ended.stderr
    assert re.search(rf"audit: FAILED: \d+ got 200.*{finding}", ended.stdout, re.DOTALL)
    assert bool(meta(tmp_path)["audit"]["altered"]) is (fault == "alters")


@pytest.mark.slow
def test_at_least_once_is_no_loss(aws: QueueProcess, sqs: "SQSClient", queue_url: str, tmp_path: Path) -> None:
    """If a service sends messages twice, but has no other fault, the audit holds."""
    with careless("twice", aws.endpoint, queue_url) as url:
        there = ("--url", url, "--queue-url", queue_url, "--sqs-endpoint", aws.endpoint)
        ended = attack(*there, *SHORT, "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stdout
    assert meta(tmp_path)["audit"]["duplicates"] > 0


@pytest.mark.slow
def test_a_queue_that_drops_is_found(aws: QueueProcess, sqs: "SQSClient", queue_url: str, tmp_path: Path) -> None:
    """If the service is correct, but the queue loses messages, the audit counts each of these messages as lost."""
    with Service(aws.endpoint, queue_url, basic_auth_username="demo", basic_auth_password="demo") as service:
        there = ("--url", service.url, "--queue-url", queue_url, "--sqs-endpoint", aws.endpoint)
        command = [str(ATTACK), *there, "--rate", "100", "--duration", "3s", "--out", str(tmp_path)]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, encoding="utf-8") as running:
            while running.poll() is None and not (tmp_path / "results.bin").exists():
                time.sleep(0.05)  # wait, because the precheck must find its webhook
            removed = 0
            while running.poll() is None:
                # A second consumer removes messages from the queue: for the audit, they are lost.
                answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=1, WaitTimeSeconds=1)
                for message in answer.get("Messages", []):
                    sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
                    removed += 1
            assert running.stdout is not None
            output = running.stdout.read()
    assert removed > 0
    assert running.returncode == 1
    assert f"{removed} of them lost" in output


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, sig: signal.Signals) -> None:
    """When the attack has ended, all processes that it started have ended. A closing terminal sends SIGHUP."""
    # Shells ignore SIGINT in background jobs, and nohup ignores SIGHUP. Child processes inherit this, unless this
    # process has a handler.
    # https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_11
    inherited = signal.signal(sig, signal.default_int_handler)
    command = [str(ATTACK), "--duration", "60s", "--queue", "embedded", "--out", str(tmp_path)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, encoding="utf-8") as running:
        signal.signal(sig, inherited)
        attacker = psutil.Process(running.pid)
        while not (tmp_path / "results.bin").exists():
            assert running.poll() is None, "the attack ended before it began"
            time.sleep(0.05)
        children = attacker.children(recursive=True)
        assert {"vegeta", "toxiproxy-server"} <= set(names(children))
        running.send_signal(sig)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "interrupted" in errors
    assert alive(children) == []
