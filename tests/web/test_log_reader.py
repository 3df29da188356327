"""A log reader that stalls, ends or is slow changes nothing but the log, which counts the lines that are missing."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.settings import Release
from local.sample_events import fresh_events
from tests.harness.log_reader import reader_of, stalled, with_reader
from tests.harness.scrape import scrape
from tests.harness.service import Web, environment
from tests.harness.sqs_stand_in import SqsStandIn

# The log lines of these webhooks are longer than a pipe, which takes 64 KiB, and the lines that the process stores.
NUMBER = 500
# A blocking handler in threads, ASGI without threads, and the callbacks of a server of our own.
RELEASES = [Release.V07_SYNC_HANDLER, Release.V10_LEAN_CLIENT, Release.V11_WITHOUT_ASGI]
DROPPED = "invoice_webhook_log_dropped_total"


@pytest.fixture(params=RELEASES, ids=str)
def web(request: pytest.FixtureRequest, sqs: SqsStandIn) -> Iterator[Web]:
    settings = {"release": request.param, "drain_delay": 0, "graceful_timeout": 5, "metrics_port": 0}
    with Web(environment(sqs.endpoint, sqs.queue_url, **settings), command=with_reader("web")) as service:
        yield service


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


def _post(web: Web, event: bytes, number: int, senders: int = 8) -> list[bytes]:
    """Posts webhooks, each of which must get 200, and returns their bodies."""
    bodies = list(fresh_events(event, number))
    with ThreadPoolExecutor(senders) as threads, web.client(timeout=20) as client:
        answers = threads.map(lambda body: client.post("/webhooks/chargebee", content=body), bodies)
        assert {answer.status_code for answer in answers} == {200}
    return bodies


def test_lines_are_dropped_and_counted(web: Web, sqs: SqsStandIn, event: bytes) -> None:
    """All webhooks are queued and answered, and probes too; a line says how many lines are missing."""
    with stalled(web):
        bodies = _post(web, event, NUMBER)
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
        _post(web, event, NUMBER)
        began = time.monotonic()
        assert web.stop(timeout=20) == 0
        assert time.monotonic() - began < 10
        reader.kill()  # because the line that the process was writing has no end
