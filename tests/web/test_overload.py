"""Waiting has two deadlines: one for each webhook, and one for the line, after which new webhooks are refused."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import httpx
import pytest

from app.settings import Release
from local.sample_events import fresh_events
from tests.harness.raw import RawSender
from tests.harness.service import NO_CAS, Service
from tests.harness.sqs_stand_in import SqsStandIn

NATIVE = [release for release in Release if not release.published]


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


def send_action(release: Release) -> str:
    return "SendMessageBatch" if release >= Release.V09_GROUP_COMMIT else "SendMessage"


@pytest.mark.slow
@pytest.mark.parametrize("release", NATIVE, ids=str)
def test_a_queue_that_hangs(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """Each of 200 senders gets 503 after APP_SQS_TIMEOUT. A webhook that the log calls "not sent" is never queued."""
    sqs.hold(send_action(release))
    bodies = list(fresh_events(event, 200))
    patient = {"head_timeout": 60, "body_timeout": 60, "max_wait": 0}
    with Service(sqs.endpoint, sqs.queue_url, release=release, sqs_timeout=5, sqs_batches=1, **patient) as service:
        with ThreadPoolExecutor(len(bodies)) as pool:
            responses = list(pool.map(service.post, bodies))
        assert {response.status_code for response in responses} == {503}
        sqs.release()
        assert service.post(event).status_code == 200
        service.log(outcome="queued")
    lines = [line for line in service.lines if line.get("outcome") == "queue-unavailable"]
    assert len(lines) == len(bodies)
    assert {line["delivery"] for line in lines} <= {"not sent", "may have been enqueued"}
    not_sent = {line["event_id"] for line in lines if line["delivery"] == "not sent"}
    assert not any(event_id in body for event_id in not_sent for body in sqs.messages)
    if release >= Release.V09_GROUP_COMMIT:
        assert not_sent  # at most one call of ten webhooks is in flight


def test_shedding_by_time(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """New webhooks get 503 before their body is read if nothing was answered for longer than APP_MAX_WAIT."""
    if release is Release.V02_BLOCKING:
        pytest.skip("its loop is blocked by the webhook that waits, so no webhook can be refused meanwhile")
    sqs.hold(send_action(release))
    with (
        Service(sqs.endpoint, sqs.queue_url, release=release, max_wait=0.2, sqs_timeout=60) as service,
        ThreadPoolExecutor(1) as pool,
        service.client() as client,
    ):
        oldest = pool.submit(service.post, event)
        sqs.wait_for(send_action(release), 1)
        time.sleep(0.3)  # a wait that exceeds APP_MAX_WAIT
        refused = client.post("/webhooks/chargebee", content=event)
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) >= 1
        assert "connection" not in refused.headers
        with RawSender(service.address) as sender:
            sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
            assert sender.answer().startswith(b"HTTP/1.1 503 ")
            sender.send(event)  # the sender may still send the body, and the connection stays open
            sender.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert sender.answer().startswith(b"HTTP/1.1 200 ")
        assert (
            httpx.post(f"{service.url}/webhooks/chargebee", content=event, verify=NO_CAS, timeout=60).status_code == 401
        )
        service.wait_for_number(2, "overloaded")
        assert sqs.count(send_action(release)) == 1
        sqs.release()
        assert oldest.result(30).status_code == 200
        assert client.post("/webhooks/chargebee", content=event).status_code == 200


@pytest.mark.slow
def test_a_queue_that_pauses(sqs: SqsStandIn, event: bytes) -> None:
    """If SQS pauses for longer than a fifth of APP_MAX_WAIT, every webhook is accepted, during and after the pause."""
    # Few webhooks, so that they are accepted even if the machine pauses before the first response and the rate is low.
    bodies = list(fresh_events(event, 14))
    max_wait = 20
    sqs.hold("SendMessageBatch")
    with (
        Service(sqs.endpoint, sqs.queue_url, max_wait=max_wait, sqs_timeout=60) as service,
        ThreadPoolExecutor(len(bodies)) as pool,
    ):
        waiting = [pool.submit(service.post, body) for body in bodies[:2]]
        sqs.wait_for("SendMessageBatch", 2)
        sqs.release(1)  # one response before the pause, from which no rate must be computed
        time.sleep(0.25 * max_wait)  # the pause
        waiting += [pool.submit(service.post, body) for body in bodies[2:8]]
        sqs.wait_for("SendMessageBatch", 5)
        sqs.release()
        waiting += [pool.submit(service.post, body) for body in bodies[8:]]
        assert {future.result(60).status_code for future in waiting} == {200}


def test_no_bound_on_waiting(sqs: SqsStandIn, event: bytes) -> None:
    """With APP_MAX_WAIT=0, as in the published service, no webhook is rejected because others wait."""
    sqs.hold("SendMessageBatch")
    with (
        Service(sqs.endpoint, sqs.queue_url, max_wait=0, sqs_timeout=60) as service,
        ThreadPoolExecutor(2) as pool,
    ):
        waiting = [pool.submit(service.post, event)]
        sqs.wait_for("SendMessageBatch", 1)
        time.sleep(0.3)  # not too long without a bound
        waiting.append(pool.submit(service.post, event))
        sqs.wait_for("SendMessageBatch", 2)
        sqs.release()
        assert [future.result(30).status_code for future in waiting] == [200, 200]


@pytest.mark.slow
def test_overload_loses_nothing(sqs: SqsStandIn, event: bytes) -> None:
    """Under overload, webhooks get 200 or 503, and the queue has exactly the webhooks that got 200."""
    seen: Counter[int] = Counter()
    accepted: list[bytes] = []
    lock = threading.Lock()
    bodies = fresh_events(event, 3000)

    def send_on(service: Service) -> None:
        with service.client(timeout=30) as client:
            while True:
                with lock:
                    mine = list(islice(bodies, 1))
                if not mine:
                    return
                status = client.post("/webhooks/chargebee", content=mine[0]).status_code
                with lock:
                    seen[status] += 1
                    accepted.extend(mine if status == 200 else [])

    sqs.delay = 0.05
    limits = {"sqs_batches": 1, "sqs_timeout": 60, "max_wait": 0.1}
    with Service(sqs.endpoint, sqs.queue_url, **limits) as service, ThreadPoolExecutor(64) as pool:
        for sender in [pool.submit(send_on, service) for _ in range(64)]:
            sender.result(250)
    assert set(seen) == {200, 503}
    assert {body.decode() for body in accepted} <= set(sqs.messages)
    assert len(sqs.messages) == len(accepted)
