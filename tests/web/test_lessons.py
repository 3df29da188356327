"""Each release has its known flaw, and the next release repairs it. SQS's stand-in observes the calls."""

import json
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

import httpx
import pytest

from app.settings import NEWEST, Release
from app.sqs.native import WARM_CONNECTIONS
from local.sample_events import fresh_events
from tests.harness.raw import RawSender
from tests.harness.service import Service, Web, environment
from tests.harness.sqs_stand_in import MIB, SqsStandIn

# If /healthz does not respond for SILENCE_SECONDS, the loop counts as blocked. A blocked loop never responds, because
# the test releases SQS only later. A loop that is expected to run gets PATIENCE_SECONDS, enough for a slow machine.
SILENCE_SECONDS = 0.5
PATIENCE_SECONDS = 60

# Runs `web` with a start that waits up to a minute for SQS. With the usual WARM_SECONDS, a pause of the machine could
# end this wait before the connections are open, and webhooks would open more connections.
PATIENT_START = [
    sys.executable,
    "-c",
    "from app.cli import main; from app.sqs import lean, native; lean.WARM_SECONDS = native.WARM_SECONDS = 60; main()",
    "web",
]


@pytest.fixture
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


class Senders:
    """Posts webhooks at the same time, each on a separate connection."""

    def __init__(self, service: Web, event: bytes) -> None:
        self._service = service
        self._bodies = fresh_events(event, 10_000)
        self._pool = ThreadPoolExecutor(300)
        self.pending: list[Future[httpx.Response]] = []

    def post(self, number: int) -> None:
        for body in islice(self._bodies, number):
            self.pending.append(self._pool.submit(self._service.post, body))

    def statuses(self) -> list[int]:
        return [future.result(60).status_code for future in self.pending]

    def close(self) -> None:
        self._pool.shutdown()


@contextmanager
def serving(
    sqs: SqsStandIn, event: bytes, release: Release, command: list[str] | None = None, /, **settings: object
) -> Iterator[tuple[Web, Senders]]:
    """Runs the release with SQS's stand-in. At the end, releases all waiting calls; all webhooks must get 200."""
    patient = {"sqs_timeout": 60, "head_timeout": 60, "body_timeout": 60, "max_wait": 0}
    variables = environment(
        sqs.endpoint, sqs.queue_url, release=release, **{"log_level": "INFO", **patient, **settings}
    )
    with Web(variables, command=command) as service:
        senders = Senders(service, event)
        try:
            yield service, senders
        finally:
            sqs.release()
            senders.close()
        assert set(senders.statuses()) <= {200}


def loop_turns(service: Web, seconds: float = PATIENCE_SECONDS) -> bool:
    """Returns whether /healthz responds."""
    try:
        with service.client(auth=None, timeout=seconds) as client:
            return client.get("/healthz").status_code == 200
    except httpx.ReadTimeout:
        return False


def loop_is_blocked(service: Web) -> bool:
    """Returns whether /healthz does not respond."""
    return not loop_turns(service, SILENCE_SECONDS)


# Which releases block the loop


@pytest.mark.parametrize(
    ("release", "action", "turns"),
    [
        (Release.V02_BLOCKING, "SendMessage", False),
        (Release.V03_THREADPOOL, "SendMessage", True),
        (Release.V04_MORE_TOKENS, "GetQueueUrl", True),
        (Release.V05_ASYNC_DEPENDENCY, "GetQueueUrl", False),
        (Release.V05_ASYNC_DEPENDENCY, "SendMessage", True),
        (Release.V06_SHARED_QUEUE, "GetQueueUrl", True),
        (Release.V06_SHARED_QUEUE, "SendMessage", True),
        (Release.V07_SYNC_HANDLER, "SendMessage", True),
        (Release.V08_NATIVE_ASYNC, "SendMessage", True),
        (Release.V09_GROUP_COMMIT, "SendMessageBatch", True),
        (Release.V10_LEAN_CLIENT, "SendMessageBatch", True),
        (NEWEST, "SendMessageBatch", True),
    ],
    ids=str,
)
def test_who_blocks_the_loop(sqs: SqsStandIn, event: bytes, release: Release, action: str, turns: bool) -> None:
    """v02 blocks everything, even /healthz, while SQS is slow. v05 does so while its dependency calls GetQueueUrl."""
    sqs.hold(action)
    with serving(sqs, event, release) as (service, senders):
        senders.post(1)
        sqs.wait_for(action, 1)
        assert loop_turns(service) if turns else loop_is_blocked(service)
        sqs.release()
        assert loop_turns(service)


def test_v01_blocks_the_loop(event: bytes) -> None:
    """While the release waits for Chargebee, nothing else proceeds, not even /healthz."""
    with socket.create_server(("127.0.0.1", 0)) as chargebee:
        url = f"http://127.0.0.1:{chargebee.getsockname()[1]}"
        inline = {"billing_table": "unused", "chargebee_url": url, "chargebee_api_key": "key", "billing_lease": 600}
        with (
            Service(url, None, release=Release.V01_INLINE, max_wait=0, chargebee_timeout=60, **inline) as service,
            ThreadPoolExecutor(1) as sender,
        ):
            assert loop_turns(service)
            webhook = sender.submit(service.post, event)
            call, _ = chargebee.accept()
            with call:
                assert call.recv(1)
                assert loop_is_blocked(service)
            # Chargebee's response is lost, and the loop continues.
            assert loop_turns(service)
            assert webhook.result(60).status_code == 503


# How many calls wait at once


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "settings", "tokens"),
    [
        (Release.V02_BLOCKING, {}, 1),
        (Release.V03_THREADPOOL, {}, 40),
        (Release.V04_MORE_TOKENS, {}, 100),
        (Release.V05_ASYNC_DEPENDENCY, {}, 100),
        (Release.V06_SHARED_QUEUE, {}, 100),
        (Release.V07_SYNC_HANDLER, {}, 200),
        (Release.V03_THREADPOOL, {"threadpool_tokens": 3}, 3),
        (Release.V07_SYNC_HANDLER, {"threadpool_tokens": 7}, 7),
    ],
    ids=str,
)
def test_as_many_wait_as_there_are_tokens(
    sqs: SqsStandIn, event: bytes, release: Release, settings: dict[str, object], tokens: int
) -> None:
    """SQS gets one call for each token. The next webhook waits for a free token (v03: the 41st, v04: the 101st)."""
    sqs.hold("SendMessage")
    with serving(sqs, event, release, **settings) as (service, senders):
        senders.post(tokens)
        sqs.wait_for("SendMessage", tokens)
        senders.post(1)
        assert loop_is_blocked(service) if release is Release.V02_BLOCKING else loop_turns(service)
        assert sqs.count("SendMessage") == tokens
        sqs.release(1)
        sqs.wait_for("SendMessage", tokens + 1)


@pytest.mark.parametrize(
    ("release", "action"),
    [
        (Release.V08_NATIVE_ASYNC, "SendMessage"),
        (Release.V09_GROUP_COMMIT, "SendMessageBatch"),
        (Release.V10_LEAN_CLIENT, "SendMessageBatch"),
        (NEWEST, "SendMessageBatch"),
    ],
    ids=str,
)
def test_no_token_is_borrowed(sqs: SqsStandIn, event: bytes, release: Release, action: str) -> None:
    """There are as many concurrent calls as connections or slots, although blocking work has only one thread."""
    sqs.hold(action)
    with serving(sqs, event, release, threadpool_tokens=1, sqs_batches=20) as (_, senders):
        senders.post(20)
        sqs.wait_for(action, 20)


def test_v07_reads_the_body_on_the_loop(sqs: SqsStandIn, event: bytes) -> None:
    """The next body is read (100 Continue) although all threads are busy. Then the webhook waits for a thread."""
    sqs.hold("SendMessage")
    with serving(sqs, event, Release.V07_SYNC_HANDLER, threadpool_tokens=2) as (service, senders):
        senders.post(2)
        sqs.wait_for("SendMessage", 2)
        with RawSender(service.address) as sender:
            sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
            sender.wait_until_read()
            sender.send(event)
            assert loop_turns(service)
            assert sqs.count("SendMessage") == 2
            sqs.release()
            assert sender.answer().startswith(b"HTTP/1.1 200 ")


# Which responses are no acknowledgement

NO_ACKNOWLEDGEMENT = {
    "a page": (200, b"<html>Please log in</html>"),
    "nothing": (200, b""),
    "an empty object": (200, b"{}"),
    "a list": (200, b"[]"),
    "no text": (200, b"\xff\xfe"),
    "no content": (204, b""),
    "an odd error": (400, b'{"__type": 5}'),
    "a throttled call": (400, b'{"__type": "com.amazonaws.sqs#RequestThrottled"}'),
    "a fault": (500, b"oops"),
}


def test_what_is_no_acknowledgement(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """If SQS's response has no message id, the webhook gets 503, never 200 or 500."""
    sqs.raw = {"GetQueueUrl": NO_ACKNOWLEDGEMENT["a fault"]}  # so that v08 and v09 do not get the URL at the start
    with Service(sqs.endpoint, sqs.queue_url, release=release, sqs_timeout=20) as service:
        seen = {}
        for action in ("GetQueueUrl", "Send"):
            for name, answer in NO_ACKNOWLEDGEMENT.items():
                sqs.raw = {action: answer}
                response = service.post(event)
                seen[action, name] = (response.status_code, response.headers.get("retry-after"))
            sqs.raw = {}
            assert service.post(event).status_code == 200
    # From v06 on, a release keeps the URL after the first success, and does not call GetQueueUrl again.
    assert set(seen.values()) == {(503, "5")}


# How many calls and connections a webhook needs


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(release, marks=() if release in (Release.V02_BLOCKING, NEWEST) else pytest.mark.slow)
        for release in Release
        if release.enqueues
    ],
    ids=str,
)
def test_calls_and_connections(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """v02 to v05 call GetQueueUrl and connect again for each webhook. v06 and v07 do so once.

    Later releases do so before the first webhook. From v10 on, a release calls GetQueueUrl once, and opens a connection
    for each call that may be in flight.
    """
    with serving(sqs, event, release, PATIENT_START) as (service, _), service.client() as client:
        for body in fresh_events(event, 10):
            assert client.post("/webhooks/chargebee", content=body).status_code == 200
    expected = (
        10 if release < Release.V06_SHARED_QUEUE else 1 if release < Release.V08_NATIVE_ASYNC else WARM_CONNECTIONS
    )
    lean = release.client == "lean"
    assert sqs.count("GetQueueUrl") == (1 if lean else expected)
    peers = len({call.peer for call in sqs.calls})
    # From v10 on, calls one after another use the same connection, although others are open.
    assert peers in (1, 2) if lean else peers == expected
    assert sqs.count("SendMessageBatch" if release >= Release.V09_GROUP_COMMIT else "SendMessage") == 10


def test_v09_ten_waiting_webhooks_leave_in_one_call(sqs: SqsStandIn, event: bytes) -> None:
    """While all slots are busy, ten webhooks wait, and then leave in one call."""
    sqs.hold("SendMessageBatch")
    with serving(sqs, event, Release.V09_GROUP_COMMIT) as (service, senders):
        senders.post(4)
        sqs.wait_for("SendMessageBatch", 4)
        waiting = [RawSender(service.address) for _ in range(10)]
        for sender, body in zip(waiting, fresh_events(event, 10), strict=True):
            sender.head(f"Content-Length: {len(body)}", "Expect: 100-continue")
            sender.wait_until_read()
            sender.send(body)
        assert loop_turns(service)  # the loop has read all ten webhooks before this request, so all ten wait
        sqs.release()
        for sender in waiting:
            assert sender.answer().startswith(b"HTTP/1.1 200 ")
            sender.__exit__()
    assert [len(call.bodies) for call in sqs.calls if call.action == "SendMessageBatch"] == [1, 1, 1, 1, 10]


def test_sigterm_flushes(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """At SIGTERM, webhooks whose calls are in flight get 200, and others 200 or 503. SQS has exactly those with 200."""
    action = "SendMessageBatch" if release >= Release.V09_GROUP_COMMIT else "SendMessage"
    in_flight = 1 if release is Release.V02_BLOCKING else 4
    sqs.hold(action)
    with serving(sqs, event, release, drain_delay=0) as (service, _):
        # All senders connect before the signal, because the listener is closed later.
        waiting = [RawSender(service.address) for _ in range(8)]
        bodies = list(fresh_events(event, 8))
        for sender, body in zip(waiting, bodies, strict=True):
            sender.head(f"Content-Length: {len(body)}")
            sender.send(body)
        sqs.wait_for(action, in_flight)
        service.process.send_signal(signal.SIGTERM)
        sqs.release()
        answered = [int(sender.answer().split()[1]) for sender in waiting]
        assert service.process.wait(60) == 0
        for sender in waiting:
            sender.__exit__()
    assert set(answered) <= {200, 503}
    accepted = [body.decode() for body, status in zip(bodies, answered, strict=True) if status == 200]
    assert sorted(sqs.messages) == sorted(accepted)
    assert len(accepted) >= in_flight


@pytest.mark.parametrize("release", list(Release)[-2:], ids=str)
def test_pydantic_says_why(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """v12 names each wrong field, as v11 does, although msgspec stops at the first wrong field."""
    wrong = json.loads(event) | {"occurred_at": -1, "api_version": ""}
    with serving(sqs, event, release) as (service, _):
        answer = service.post(json.dumps(wrong).encode())
    assert (answer.status_code, [error["loc"] for error in answer.json()["errors"]]) == (
        422,
        [["occurred_at"], ["api_version"]],
    )


def test_a_sender_that_leaves_is_still_queued(sqs: SqsStandIn, event: bytes) -> None:
    """v09 sends a complete webhook even if its sender has disconnected."""
    sqs.hold("SendMessageBatch")
    with serving(sqs, event, Release.V09_GROUP_COMMIT, sqs_batches=1) as (service, _):
        for body in fresh_events(event, 2):
            with RawSender(service.address) as sender:
                sender.head(f"Content-Length: {len(body)}", "Expect: 100-continue")
                sender.wait_until_read()
                sender.send(body)
                assert loop_turns(service)
        sqs.release()
        service.log(outcome="queued")
        sqs.wait_for("SendMessageBatch", 2)


def test_messages_of_a_mebibyte(sqs: SqsStandIn, event: bytes, release: Release) -> None:
    """The longest body that APP_MAX_BODY_BYTES allows is queued. AWS accepts such a message; the emulators do not."""
    longest = MIB - 4096
    body = json.dumps(json.loads(event) | {"padding": ""}).encode()
    body = json.dumps(json.loads(event) | {"padding": "x" * (longest - len(body))}).encode()
    assert len(body) == longest
    with serving(sqs, event, release, max_body_bytes=longest) as (service, _):
        assert service.post(body).status_code == 200
    assert sqs.messages == [body.decode()]
