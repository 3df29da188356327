"""A log reader that stalls, ends or is slow affects only the log. The log counts its missing lines."""

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.settings import NEWEST, Release
from local.sample_events import fresh_events
from tests.harness.log_reader import reader_of, require_probes, stalled, with_reader
from tests.harness.scrape import scrape
from tests.harness.service import Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

# The log lines of these webhooks are longer than a pipe of 64 KiB and the lines that the process stores.
NUMBER = 500
# The newest release uses the callbacks of our server. Two older releases, with a blocking handler in threads and with
# ASGI without threads, share the code that writes the log, so they are tested only in CI.
SLOW = [
    pytest.param(release, marks=pytest.mark.slow) for release in (Release.V07_SYNC_HANDLER, Release.V10_LEAN_CLIENT)
]
DROPPED = "invoice_webhook_log_dropped_total"


@pytest.fixture(params=[NEWEST, *SLOW], ids=str)
def web(request: pytest.FixtureRequest, sqs: SqsStandIn) -> Iterator[Web]:
    settings = {"release": request.param, "drain_delay": 0, "graceful_timeout": 5, "metrics_port": 0, "sqs_timeout": 20}
    with Web(environment(sqs.endpoint, sqs.queue_url, **settings), command=with_reader("web")) as service:
        yield service


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


def _post(web: Web, bodies: list[bytes], rate: float = math.inf) -> None:
    """Posts webhooks, at most `rate` per second. Each webhook must get 200."""
    began = time.monotonic()

    def post(number: int) -> int:
        time.sleep(max(0, began + number / rate - time.monotonic()))
        return client.post("/webhooks/chargebee", content=bodies[number]).status_code

    with ThreadPoolExecutor(8) as threads, web.client(timeout=20) as client:
        assert set(threads.map(post, range(len(bodies)))) == {200}


def test_lines_are_dropped_and_counted(web: Web, sqs: SqsStandIn, event: bytes) -> None:
    """All webhooks are queued and answered, and so are probes. A log line has the number of missing lines."""
    bodies = list(fresh_events(event, NUMBER))
    with stalled(web):
        _post(web, bodies)
        with web.client(timeout=5) as client:
            assert client.get("/healthz").status_code == 200
        assert scrape(web).value(DROPPED) > 0
    dropped = web.log(level="WARNING")["dropped"]
    assert scrape(web).value(DROPPED) == dropped
    assert sorted(sqs.messages) == sorted(body.decode() for body in bodies)
    assert web.stop() == 0
    web.wait_for("Finished server process")
    assert sum(line["message"] == "webhook queued" for line in web.lines) + dropped == NUMBER


@pytest.mark.parametrize("ended", [False, True], ids=["stalled", "ended"])
def test_a_stop_without_a_reader(web: Web, event: bytes, ended: bool) -> None:
    """SIGTERM stops the process with exit code 0, whether the reader stalls or has ended."""
    with stalled(web):
        reader = reader_of(web)
        if ended:
            reader.kill()
        _post(web, list(fresh_events(event, NUMBER)))
        began = time.monotonic()
        assert web.stop(timeout=20) == 0
        assert time.monotonic() - began < 10
        reader.kill()  # so that the reader does not pass on the incomplete last line


@pytest.mark.slow
def test_a_reader_that_stalls_again_and_again(web: Web, sqs: SqsStandIn, event: bytes, thorough: bool) -> None:
    """Nothing is lost, no probe waits for the reader, and each line is written or counted.

    In test-all, 10,000 webhooks, and a reader that stalls for ten seconds in every thirty.
    """
    number, period = (10_000, 30.0) if thorough else (3000, 6.0)
    bodies = list(fresh_events(event, number))
    require_probes(web, lambda: _post(web, bodies, number / (2 * period)), period)
    assert sorted(sqs.messages) == sorted(body.decode() for body in bodies)
    assert web.stop() == 0
    web.wait_for("Finished server process")
    dropped = sum(line.get("dropped", 0) for line in web.lines)
    assert dropped > 0
    assert sum(line["message"] == "webhook queued" for line in web.lines) + dropped == number
