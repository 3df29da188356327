"""Messages in flight stay with their worker, and go to another one when it ends: heartbeat, signals and kills."""

import signal
from collections.abc import Callable

import pytest

from tests.harness.scrape import scrape_until
from tests.harness.service import Web
from tests.worker.conftest import Pair, StartWorker
from tests.worker.controller import Asked, Controller, eventually

EventNamed = Callable[[str], bytes]
# No other worker receives a message within this time, unless the first worker releases the message.
LONG_SECONDS = 3600
SHORT_SECONDS = 3


def _extended(worker: Web, times: int) -> None:
    """Returns after so many extensions."""
    labels = {"messaging_operation_name": "ChangeMessageVisibilityBatch", "messaging_system": "aws_sqs"}
    name = "messaging_client_operation_duration_seconds_count"
    key = (name, frozenset(labels.items()))
    scrape_until(worker, lambda found: found.samples.get(key, 0) >= times)


def _held_by_one(pair: Pair, controller: Controller, event_named: EventNamed, number: int) -> Asked:
    """Sends `number` messages, waits until all are in flight, and returns the one in work."""
    _send(pair, event_named, number)
    return _held(pair, controller, number)


def _send(pair: Pair, event_named: EventNamed, number: int) -> None:
    for index in range(number):
        pair.send(event_named(f"ev_{index}"))


def _held(pair: Pair, controller: Controller, number: int) -> Asked:
    eventually(lambda: pair.counts() == (0, number))
    asked: Asked = controller.wait(lambda: controller.asked[:1])[0]
    return asked


@pytest.mark.slow
def test_what_is_held_is_extended(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The heartbeat extends messages in work and waiting messages, so a second worker gets none."""
    # The machine must not pause for two thirds of it, or SQS may give the messages to the second worker.
    visibility = 9
    one = start_worker(pair, "one", worker_concurrency=1, worker_visibility=visibility, metrics_port=0)
    first = _held_by_one(pair, controller, event_named, 5)
    two = start_worker(pair, "two", worker_concurrency=5, worker_visibility=visibility)
    _extended(one, 4)
    assert {asked.worker for asked in controller.asked} == {"one"}
    controller.policy = lambda asked: {"outcome": "closed"}
    first.answer(outcome="closed")
    controller.wait(lambda: len(controller.asked) == 5)
    assert {asked.worker for asked in controller.asked} == {"one"}
    assert two.stop(signal.SIGINT) == 0


@pytest.mark.slow
def test_what_another_worker_has_is_given_up(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """A worker that was halted until its messages expired learns so from SQS, and cancels its task."""
    one = start_worker(pair, "one", worker_visibility=SHORT_SECONDS)
    first = _held_by_one(pair, controller, event_named, 1)
    one.process.send_signal(signal.SIGSTOP)
    start_worker(pair, "two")
    second = controller.wait_for("ev_0", 2)
    assert second.worker == "two"
    one.process.send_signal(signal.SIGCONT)
    controller.wait_until_gone(first)
    one.wait_for("Another worker may have received the message")
    assert one.log(outcome="lost")["event_id"] == "ev_0"
    second.answer(outcome="closed")
    eventually(lambda: pair.counts() == (0, 0))


def test_sigterm_hands_back_what_waits_and_finishes_the_rest(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """Another worker gets the waiting messages at once, although they were hidden for an hour."""
    _send(pair, event_named, 10)  # before, so that one poll brings all of them: there is room for no other
    one = start_worker(pair, "one", worker_concurrency=1, prefetch=9, worker_visibility=LONG_SECONDS)
    first = _held(pair, controller, 10)
    controller.policy = lambda asked: {"outcome": "closed"} if asked.worker == "two" else None
    start_worker(pair, "two", worker_visibility=LONG_SECONDS)
    one.process.send_signal(signal.SIGTERM)
    controller.wait(lambda: len(controller.asked) == 10)
    first.answer(outcome="closed")
    assert one.process.wait(60) == 0
    assert one.log(event_id=first.event_id)["outcome"] == "closed"
    assert len({asked.event_id for asked in controller.asked}) == 10
    eventually(lambda: pair.counts() == (0, 0))


@pytest.mark.slow
def test_what_is_not_finished_in_time_is_handed_back(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The task is cancelled after two thirds of APP_GRACEFUL_TIMEOUT; the rest is for the calls to SQS."""
    one = start_worker(
        pair, "one", worker_concurrency=1, prefetch=0, worker_visibility=LONG_SECONDS, graceful_timeout=12
    )
    first = _held_by_one(pair, controller, event_named, 1)
    one.process.send_signal(signal.SIGTERM)
    controller.wait_until_gone(first)
    assert one.process.wait(60) == 0
    assert one.log(outcome="returned")["event_id"] == "ev_0"
    start_worker(pair, "two")
    assert controller.wait_for("ev_0", 2).worker == "two"


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_now(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed, sig: signal.Signals
) -> None:
    """The exit code is 0, and SQS delivers the message again."""
    one = start_worker(pair, "one", worker_concurrency=1, worker_visibility=LONG_SECONDS, graceful_timeout=600)
    first = _held_by_one(pair, controller, event_named, 1)
    one.process.send_signal(sig)
    one.wait_for("Stopping: messages in work: 1,")
    one.process.send_signal(sig)
    assert one.process.wait(60) == 0
    controller.wait_until_gone(first)
    assert pair.counts() == (0, 1)


@pytest.mark.slow
def test_what_a_killed_worker_held_comes_to_another(
    pair: Pair, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """After SIGKILL, messages become visible when their visibility timeout ends."""
    one = start_worker(pair, "one", worker_concurrency=1, worker_visibility=SHORT_SECONDS)
    first = _held_by_one(pair, controller, event_named, 3)
    one.process.kill()
    controller.wait_until_gone(first)
    controller.policy = lambda asked: {"outcome": "closed"}
    start_worker(pair, "two")
    controller.wait(
        lambda: {asked.event_id for asked in controller.asked if asked.worker == "two"} >= {"ev_0", "ev_1", "ev_2"}
    )
    eventually(lambda: pair.counts() == (0, 0))
