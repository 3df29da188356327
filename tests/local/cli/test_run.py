"""Tests that commands find the local run, or name the command that starts one."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import boto3
import pytest

from local.embedded_aws import REGION
from local.local_run import LocalRun, read_run
from local.peek import peek
from local.sample_events import default_file
from tests.harness.commands import LocalRunProcess, run_local

run, send = import_module("local.cli.run"), import_module("local.cli.send")
# A user's real account: what the commands must not use. Nothing listens there.
REAL = {
    "AWS_PROFILE": "production",
    "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:9",
    "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
}


@pytest.fixture(params=["plain", pytest.param("TLS", marks=pytest.mark.slow)])
def local(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LocalRun]:
    """A local run without a worker, on free ports."""
    with LocalRunProcess(tmp_path, local_tls=int(request.param == "TLS")):
        yield read_run(tmp_path)


def messages(local: LocalRun, url: str) -> list[str]:
    return [message.body for message in peek(local.endpoint, url, local.ca_bundle)]


@pytest.mark.slow
def test_redrive(local: LocalRun, tmp_path: Path) -> None:
    """The local run's dead letters return to its queue, and no other account gets a request."""
    sqs = boto3.Session("x", "x", region_name=REGION).client("sqs", endpoint_url=local.endpoint, verify=local.ca_bundle)
    sqs.send_message(QueueUrl=local.dead_letter_queue_url, MessageBody="a dead letter")
    sqs.close()
    looked = run_local("redrive", "--dry-run", run_dir=tmp_path, extra=REAL)
    assert (looked.returncode, looked.stdout.count("1 messages would go")) == (0, 1), looked
    moved = run_local("redrive", run_dir=tmp_path, sqs_queue_url="https://sqs.example/0/invoices", extra=REAL)
    assert (moved.returncode, moved.stdout.count("1 messages moved")) == (0, 1), moved
    assert f"Using the local run at {local.endpoint}" in moved.stderr
    assert messages(local, local.queue_url) == ["a dead letter"]
    assert messages(local, local.dead_letter_queue_url) == []


@pytest.mark.slow
def test_reconcile(local: LocalRun, tmp_path: Path) -> None:
    """Unprocessed events of the local run's Chargebee are enqueued once more."""
    assert run_local("send", str(default_file()), run_dir=tmp_path).returncode == 0
    ended = run_local("reconcile", "--since", "9999d", "--settled", "0s", run_dir=tmp_path, extra=REAL)
    assert ended.returncode == 0, ended
    assert "1 events at Chargebee: 0 processed, 1 missing, 1 enqueued" in ended.stdout
    assert len(messages(local, local.queue_url)) == 2


@pytest.mark.parametrize("command", ["redrive", "reconcile"])
def test_there_is_none(command: str, tmp_path: Path) -> None:
    """The error is one line that names the command that starts a local run."""
    ended = run_local(command, run_dir=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        f"error: no local run: {tmp_path}/local.json does not exist; start one with `make run`"
    ]
