"""SQS cannot be reached for a while: nothing is lost, and the log has a line for each change."""

import os
import signal
from collections.abc import Callable, Iterator

import httpx
import pytest

from loadtest.record.folders import ROOT
from loadtest.stage.toxiproxy import Proxy, proxy
from tests.harness.missing import missing
from tests.harness.service import NO_CAS
from tests.worker.conftest import Pair, StartWorker
from tests.worker.controller import Controller, eventually

EventNamed = Callable[[str], bytes]
TOOLS = ROOT / "loadtest" / "tools" / "bin"


@pytest.fixture
def between(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Starts toxiproxy between a worker and SQS."""
    if not (TOOLS / "toxiproxy-server").exists():
        missing("toxiproxy is missing: make loadtest/tools/bin/toxiproxy-server")
    monkeypatch.setenv("PATH", f"{TOOLS}:{os.environ['PATH']}")
    with proxy(pair.endpoint, []) as running:
        yield running


def test_it_waits_and_goes_on(
    pair: Pair, between: Proxy, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker deletes and receives messages after the outage. Both probes succeed during the outage."""
    pair.send(event_named("ev_0"))
    # Short, since the emulator gives a message to a poll whose connection is closed, and so hides it. But longer than
    # the machine pauses, or the emulator gives such a poll the first message once more.
    worker = start_worker(pair, endpoint=between.url, sqs_timeout=5, worker_visibility=15)
    first = controller.wait_for("ev_0")
    between.enable(False)
    worker.wait_for("SQS does not answer")
    first.answer(outcome="closed")
    worker.log(event_id="ev_0", outcome="closed")
    pair.send(event_named("ev_1"))
    for probe in ("healthz", "readyz"):
        assert httpx.get(f"{worker.url}/{probe}", verify=NO_CAS, timeout=60).status_code == 200
    between.enable(True)
    worker.wait_for("SQS answers again")
    controller.wait_for("ev_1").answer(outcome="closed")
    eventually(lambda: pair.counts() == (0, 0))
    assert controller.events() == ["ev_0", "ev_1"]
    assert worker.stop(signal.SIGINT) == 0
    messages = [line["message"] for line in worker.lines]
    assert sum("SQS does not answer" in message for message in messages) == 1


def test_it_starts_without_sqs(
    pair: Pair, between: Proxy, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    between.enable(False)
    worker = start_worker(pair, endpoint=between.url, sqs_timeout=1)
    worker.wait_for("SQS does not answer")
    pair.send(event_named("ev_0"))
    between.enable(True)
    controller.wait_for("ev_0")


def test_it_stops_without_sqs(
    pair: Pair, between: Proxy, controller: Controller, start_worker: StartWorker, event_named: EventNamed
) -> None:
    """The worker ends within APP_GRACEFUL_TIMEOUT, although it can release nothing."""
    pair.send(event_named("ev_0"))
    worker = start_worker(pair, endpoint=between.url, sqs_timeout=1, graceful_timeout=2)
    controller.wait_for("ev_0")
    between.enable(False)
    assert worker.stop(signal.SIGTERM) == 0
    assert sum(pair.counts()) == 1
