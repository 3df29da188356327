"""The peers do the same work as the service with which they are compared."""

import fcntl
import hashlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from loadtest.stage import peers, subject
from loadtest.stage.budget import open_budget
from loadtest.stage.queues import QueueProcess
from loadtest.stage.subject import AttackSubject
from local.sample_events import SAMPLES, fresh_events
from tests.harness import queues
from tests.harness.missing import require_go
from tests.harness.service import PASSWORD, USER, environment
from tests.harness.sqs_stand_in import Fault, SqsStandIn, whole

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

PATH = "/webhooks/chargebee"
WANTED = b"pending_invoice_created"


@pytest.fixture(params=[name for name in peers.NAMES if name != peers.FLOOR])
def peer(request: pytest.FixtureRequest) -> AttackSubject:
    """Builds and returns a peer. Without Go, the test is skipped, or fails in CI.

    The peers in Rust and Node are tested only if they are already built, because Cargo takes minutes to compile AWS's
    SDK.
    """
    built = {"rust": peers.RUST / "target", "node": peers.NODE / "node_modules"}.get(request.param.partition("_")[0])
    if built is not None and not built.exists():
        pytest.skip(f"not built: python -m loadtest bench --only {request.param}")
    with (peers.PEERS / "__init__.py").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two processes must not install the same packages at the same time
        found = peers.peers(lambda name: name == request.param)
    if request.param.startswith("go"):
        require_go()
    elif not found:
        pytest.skip(f"{request.param} needs a toolchain that is not installed")
    return found[0]


@contextmanager
def _served(peer: AttackSubject, endpoint: str, queue_url: str, log: Path) -> Iterator[tuple[httpx.Client, int]]:
    """Yields an HTTP client of `peer`, which uses the queue, and the id of the peer's process."""
    with (
        open_budget("none") as budget,
        subject.start(peer, budget, environment(endpoint, queue_url), log) as running,
        httpx.Client(base_url=running.url, auth=(USER, PASSWORD), timeout=60) as client,
    ):
        yield client, running.pid


@pytest.fixture
def client(peer: AttackSubject, aws: QueueProcess, queue_url: str, tmp_path: Path) -> Iterator[httpx.Client]:
    """Yields an HTTP client of a peer that uses the queue."""
    with _served(peer, aws.endpoint, queue_url, tmp_path / "log") as (client, _):
        yield client


@pytest.mark.slow
def test_a_peer_queues_what_is_valid(client: httpx.Client, sqs: "SQSClient", queue_url: str, event: bytes) -> None:
    """A valid event gets 200, and is in the queue, byte for byte and with its attributes. An invalid event gets 422.

    If many webhooks arrive at once, each gets its own response, and its message is in the queue.
    """
    assert client.post(PATH, content=event).json() == {"status": "queued", "event_id": "ev_ZXezuTUBe7r5iIaw"}
    assert client.post(PATH, content=event, auth=(USER, "wrong")).status_code == 401
    gone = event.replace(b'"is_gifted"', b'"x"')
    for broken in (b"{", b"{}", event.replace(b'"id": "ev_', b'"id": "ev '), event.replace(b"Workshop", b"\xff"), gone):
        assert client.post(PATH, content=broken).status_code == 422
    assert client.post(PATH, content=event.replace(WANTED, b"of no type")).status_code == 422
    for other in (gone.replace(WANTED, b"other"), (SAMPLES / "customer_changed.json").read_bytes()):
        assert client.post(PATH, content=other).json() == {"status": "ignored", "event_id": json.loads(other)["id"]}
    assert client.post(PATH, content=b" " * 300_000).status_code == 413
    drained = queues.drain(sqs, queue_url)  # more than one message if the SDK has retried
    assert {body for body, _ in drained} == {event}
    assert set(drained[0][1]) == {"event_id", "event_type", "api_version", "received_at"}
    bodies = list(fresh_events(event, 200))
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda body: client.post(PATH, content=body), bodies))
    assert [answer.json()["event_id"] for answer in answers] == [json.loads(body)["id"] for body in bodies]
    assert {body for body, _ in queues.drain(sqs, queue_url)} == set(bodies)


@pytest.mark.slow
def test_a_peer_answers_503_if_sqs_names_no_message(peer: AttackSubject, tmp_path: Path, event: bytes) -> None:
    """If SQS responds with 200 but without a message id, the message may be lost, so the peer responds with 503."""
    digest = hashlib.md5(event, usedforsecurity=False).hexdigest()

    def unnamed(ids: list[str]) -> bytes:
        return whole("200 OK", {"Successful": [{"Id": name, "MD5OfMessageBody": digest} for name in ids]})

    with SqsStandIn() as sqs, _served(peer, sqs.endpoint, sqs.queue_url, tmp_path / "log") as (client, _):
        sqs.raw = {"SendMessage": (200, json.dumps({"MD5OfMessageBody": digest}).encode())}
        sqs.fault = Fault(unnamed)
        assert client.post(PATH, content=event).status_code == 503
        sqs.raw, sqs.fault = {}, None
        assert client.post(PATH, content=event).status_code == 200


@pytest.mark.slow
def test_a_peer_answers_before_it_ends(peer: AttackSubject, tmp_path: Path, event: bytes) -> None:
    """After SIGTERM, a peer refuses connections, and answers the webhooks in flight."""
    action = "SendMessageBatch" if peer.name not in {"go", "rust", "node"} else "SendMessage"
    with (
        SqsStandIn() as sqs,
        _served(peer, sqs.endpoint, sqs.queue_url, tmp_path / "log") as (client, pid),
        ThreadPoolExecutor(1) as pool,
    ):
        sqs.hold(action)
        answer = pool.submit(client.post, PATH, content=event)
        sqs.wait_for(action, 1)
        os.kill(pid, signal.SIGTERM)
        while _accepts(client.base_url):
            time.sleep(0.02)
        sqs.release()
        assert answer.result().status_code == 200


def _accepts(url: httpx.URL) -> bool:
    try:
        socket.create_connection((url.host, url.port or 80)).close()
    except ConnectionError:  # refused, or reset if it waited to be accepted
        return False
    return True


@pytest.mark.slow
def test_go_is_formatted_and_vetted() -> None:
    """gofmt and go vet find nothing."""
    require_go()
    listed = subprocess.run(["gofmt", "-l", "."], cwd=peers.GO, check=True, capture_output=True, encoding="utf-8")
    assert not listed.stdout
    subprocess.run(["go", "vet", "./..."], cwd=peers.GO, check=True)


@pytest.mark.slow
def test_go_passes_its_own_tests() -> None:
    """The tests in Go cover late messages of go_group_commit, and the parser, signature and group commit of go_lean."""
    require_go()
    subprocess.run(["go", "test", "./..."], cwd=peers.GO, check=True)


def test_the_floor_answers(tmp_path: Path) -> None:
    """The floor accepts any body, and responds when the body is complete."""
    with open_budget("none") as budget, subject.start(peers.floor(), budget, {}, tmp_path / "log") as running:
        assert httpx.post(running.url + PATH, content=b"x" * 200_000, timeout=60).json()["status"] == "ignored"
