"""A log reader that stalls or ends changes nothing but the worker's log."""

import signal
import time
from collections.abc import Iterator

import httpx
import pytest

from local.embedded_aws import EmbeddedAws
from tests.billing.stage import Stage
from tests.harness.log_reader import reader_of, require_probes, stalled, with_reader
from tests.harness.scrape import scrape, scrape_until
from tests.harness.service import NO_CAS, Web
from tests.worker.conftest import Pair, make_pair, with_billing
from tests.worker.controller import eventually

# The log lines of these messages are longer than a pipe of 64 KiB and the lines that the worker stores.
NUMBER = 400
DROPPED = "invoice_webhook_log_dropped_total"


@pytest.fixture
def pair(embedded: EmbeddedAws) -> Pair:
    return make_pair(embedded.endpoint)


@pytest.fixture
def worker(pair: Pair, stage: Stage) -> Iterator[Web]:
    environment = with_billing(pair, stage) | {"APP_METRICS_PORT": "0"}
    with Web(environment, command=with_reader("worker")) as process:
        yield process


def _fill(pair: Pair, messages: int = NUMBER) -> None:
    for number in range(0, messages, 10):
        entries = [{"Id": str(one), "MessageBody": f"not an event {number + one}"} for one in range(10)]
        pair.sqs.send_message_batch(QueueUrl=pair.url, Entries=entries)  # type: ignore[arg-type]  # a TypedDict


@pytest.mark.slow
def test_lines_are_dropped_and_counted(worker: Web, pair: Pair) -> None:
    """The worker continues to take messages and to answer probes; a line says how many lines are missing."""
    with stalled(worker):
        _fill(pair)
        scrape_until(worker, lambda found: found.value(DROPPED) > 0)
        assert httpx.get(f"{worker.url}/healthz", verify=NO_CAS, timeout=5).status_code == 200
        eventually(lambda: pair.counts() == (0, 0))
    worker.wait_for("takes log lines again")
    [dropped] = [line["dropped"] for line in worker.lines if "dropped" in line]
    assert scrape(worker).value(DROPPED) == dropped
    assert len(pair.dead_letters()) == NUMBER


@pytest.mark.slow
@pytest.mark.parametrize("ended", [False, True], ids=["stalled", "ended"])
def test_a_stop_without_a_reader(worker: Web, pair: Pair, ended: bool) -> None:
    """SIGTERM stops the worker with exit code 0, whether the reader stalls or has ended."""
    with stalled(worker):
        reader = reader_of(worker)
        if ended:
            reader.kill()
        _fill(pair)
        eventually(lambda: pair.counts() == (0, 0))
        began = time.monotonic()
        assert worker.stop(timeout=60) == 0
        assert time.monotonic() - began < 30  # a poll that is under way takes up to 20 s
        reader.kill()  # because the line that the worker was writing has no end


@pytest.mark.slow
def test_a_reader_that_stalls_again_and_again(worker: Web, pair: Pair, thorough: bool) -> None:
    """No message is lost, no probe waits for the reader, and each line is written or counted.

    In test-all, 10,000 messages, and a reader that stalls for ten seconds in every thirty.
    """
    number, period = (10_000, 30.0) if thorough else (2000, 7.5)

    def work() -> None:
        _fill(pair, number)
        eventually(lambda: pair.counts() == (0, 0))

    require_probes(worker, work, period)
    worker.wait_for("takes log lines again")
    assert worker.stop(signal.SIGINT) == 0
    worker.wait_for("Stopped")
    assert len(pair.dead_letters()) == number
    dropped = sum(line.get("dropped", 0) for line in worker.lines)
    assert sum(line["message"] == "message dead_letter" for line in worker.lines) + dropped == number
