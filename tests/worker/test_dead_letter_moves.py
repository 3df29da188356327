"""`python -m app redrive` moves dead letters back to the queue, on emulators."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from app.worker.dead_letters import dead_letter
from app.worker.received_message import ReceivedMessage
from local.embedded_aws import EmbeddedAws
from tests.harness import queues
from tests.harness.queues import drain
from tests.harness.service import clean_environment
from tests.worker.conftest import Pair, StartWorker, make_pair
from tests.worker.controller import Controller

EventNamed = Callable[[str], bytes]


def _redrive(pair: Pair, *options: str) -> "subprocess.CompletedProcess[str]":
    ours = clean_environment(sqs_queue_url=pair.url, dead_letter_queue_url=pair.dead_url)
    command = [sys.executable, "-m", "app", "redrive", *options]
    environment = ours | queues.environment(pair.endpoint)
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)


def _body(number: int, event_named: EventNamed) -> str:
    return event_named(f"ev_{number}").decode()


SENT = {"event_id": "ev_1", "received_at": "2026-01-02T03:04:05.678+00:00"}


@pytest.fixture
def poisoned(pair: Pair, event_named: EventNamed) -> list[str]:
    """Sends three dead letters and returns their bodies."""
    typed = {name: {"DataType": "String", "StringValue": value} for name, value in SENT.items()}
    bodies = [_body(number, event_named) for number in range(3)]
    for body in bodies:
        received = ReceivedMessage("m", "r", body, typed)
        sent = dead_letter(received, "invoice_not_found", "detail", None, fifo=False)
        pair.sqs.send_message(QueueUrl=pair.dead_url, **sent)
    return bodies


def test_the_way_there_and_back(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The redriven message is the original one, and is processed after its cause is repaired."""
    controller.policy = lambda asked: {"unprocessable": "invoice_not_found"}
    worker = start_worker(pair)
    for number in range(3):
        pair.send(_body(number, event_named), **SENT)
    for number in range(3):
        worker.log(event_id=f"ev_{number}", outcome="dead_letter")
    controller.policy = lambda asked: {"outcome": "closed"}
    ended = _redrive(pair)
    assert (ended.returncode, ended.stdout.startswith("3 messages moved")) == (0, True), ended
    for number in range(3):
        worker.log(event_id=f"ev_{number}", outcome="closed")
    assert pair.dead_letters() == []


def test_by_hand_the_reason_is_removed(pair: Pair, poisoned: list[str]) -> None:
    """With --limit, the command always moves messages one by one."""
    ended = _redrive(pair, "--limit", "2")
    assert (ended.returncode, ended.stdout.startswith("2 messages moved")) == (0, True), ended
    moved = drain(pair.sqs, pair.url)
    assert {body.decode() for body, _ in moved} < set(poisoned)
    assert [attributes for _, attributes in moved] == [SENT] * 2
    assert len(pair.dead_letters()) == 1


def test_a_dry_run_moves_nothing(pair: Pair, poisoned: list[str]) -> None:
    """The command counts the reasons, and the messages are visible again at once."""
    pair.sqs.send_message(QueueUrl=pair.dead_url, MessageBody="by the queue's own policy")
    ended = _redrive(pair, "--dry-run")
    assert ended.returncode == 0, ended
    assert (
        "      3  invoice_not_found\n      1  moved by SQS after maxReceiveCount\n4 messages would go from"
        in ended.stdout
    )
    assert len(pair.dead_letters()) == 4
    assert pair.counts() == (0, 0)


def test_nothing_to_do(pair: Pair) -> None:
    ended = _redrive(pair)
    assert (ended.returncode, ended.stdout.startswith("0 messages moved")) == (0, True), ended


def test_a_queue_that_is_not_there_is_one_clear_line(pair: Pair) -> None:
    missing = Pair(pair.sqs, pair.endpoint, pair.url, pair.dead_url + "-missing")
    ended = _redrive(missing)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: SQS: ")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("fifo", [False, True])
def test_the_dead_letters_behind_one_that_is_too_long(
    embedded: EmbeddedAws, event_named: EventNamed, fifo: bool
) -> None:
    """It is named with SQS's code, the exit code is 1, and it is visible in the dead-letter queue at once."""
    pair = make_pair(embedded.endpoint, fifo=fifo)
    bodies = {f"ev_{number}": _body(number, event_named) for number in range(12)}
    bodies["ev_3"] += " " * 4096
    for event_id, body in bodies.items():
        sent = dead_letter(ReceivedMessage(event_id, "r", body, {}), "invoice_not_found", "detail", event_id, fifo=fifo)
        pair.sqs.send_message(QueueUrl=pair.dead_url, **sent)
    longest = max(len(body) for event_id, body in bodies.items() if event_id != "ev_3") + 1024
    pair.sqs.set_queue_attributes(QueueUrl=pair.url, Attributes={"MaximumMessageSize": str(longest)})
    for moved in (11, 0):
        ended = _redrive(pair)
        assert ended.returncode == 1, ended
        named, count = ended.stdout.splitlines()
        assert named.startswith("  ev_3, message ")
        assert named.endswith(": SQS refuses it: InvalidParameterValue")
        assert count.startswith(f"{moved} messages moved from ")
        assert count.endswith(", 1 could not be moved")
    assert [body for body, _ in pair.dead_letters()] == [bodies.pop("ev_3")]
    assert sorted(body.decode() for body, _ in drain(pair.sqs, pair.url)) == sorted(bodies.values())
