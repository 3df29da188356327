"""The HTTP contract: at least one test for each row of its table, on every release, with HTTP and a queue process."""

import asyncio
import json
import signal
import socket
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx
import pytest

from app.settings import NEWEST, Release
from loadtest.stage.queues import QueueProcess, client
from local.sample_events import SAMPLES, fresh_events
from tests.harness import queues
from tests.harness.queues import Queued, Serve
from tests.harness.raw import BASIC, RawSender
from tests.harness.service import PASSWORD, USER, Service

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

MAX_BODY = 245_760
PENDING = sorted(SAMPLES.glob("pending_*.json"))
# v01 has no queue, so test_inline.py has its own tests. (v01 would take minutes for a thousand webhooks.)
ABOUT_SQS = {
    "test_a_pending_invoice_is_queued_byte_for_byte",
    "test_characters_that_sqs_refuses",
    "test_the_queue_ends_and_starts_again",
    "test_a_queue_that_does_not_answer",
    "test_the_queue_does_not_exist",
    "test_a_fifo_queue",
    "test_a_thousand_at_once",
}
OTHERS = sorted(set(SAMPLES.glob("*.json")) - set(PENDING) - {SAMPLES / "default.json"})


def assert_problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """Asserts that `response` is an RFC 9457 problem with this status, and returns the problem."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert {"type", "title", "detail"} <= problem.keys()
    return problem


def changed(event: bytes, **fields: Any) -> bytes:
    return json.dumps(json.loads(event) | fields).encode()


# 200


@pytest.mark.parametrize("file", [SAMPLES / "default.json", *PENDING], ids=lambda file: file.stem)
def test_a_pending_invoice_is_queued_byte_for_byte(service: Service, queued: Queued, file: Path) -> None:
    """The answer is 200 with `queued`, and the queue has the exact bytes, with attributes."""
    body = file.read_bytes()
    event = json.loads(body)
    response = service.post(body)
    assert (response.status_code, response.json()) == (200, {"status": "queued", "event_id": event["id"]})
    [(message, attributes)] = queued.messages()
    assert message == body
    assert datetime.fromisoformat(attributes.pop("received_at")).tzinfo is not None
    assert attributes == {"event_id": event["id"], "event_type": event["event_type"], "api_version": "v2"}


@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.stem)
def test_other_event_types_are_ignored(service: Service, queued: Queued, file: Path) -> None:
    """The answer is 200 with `ignored`, and nothing is queued."""
    body = file.read_bytes()
    response = service.post(body)
    assert (response.status_code, response.json()) == (200, {"status": "ignored", "event_id": json.loads(body)["id"]})
    assert queued.messages() == []


def test_an_ignored_event_may_hold_anything(service: Service, event: bytes) -> None:
    """An ignored event gets 200 even if its content is invalid, because Chargebee would redeliver it for days."""
    response = service.post(changed(event, event_type="invoice_of_the_future", content={"invoice": {"id": 7}}))
    assert response.json()["status"] == "ignored"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"source": "a_source_of_next_year", "webhook_status": "unheard_of"}, "unknown enum values"),
        ({"a_field_of_next_year": {"deep": [1, None, {}]}}, "unknown fields"),
        ({"a_big_number": 10**80, "a_bigger_one": 1e308}, "big numbers in untyped fields"),
        ({"not_a_number": "NaN and Infinity are words here"}, "names of non-numbers inside strings"),
        ({"escaped": "\x00\x1f\u2028 \U0001f600"}, "escaped control characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unknown_fields_and_values_are_accepted(
    service: Service, queued: Queued, release: Release, event: bytes, fields: dict[str, Any], reason: str
) -> None:
    """Chargebee may add fields and values at any time."""
    body = changed(event, **fields)
    assert service.post(body).json()["status"] == release.accepted, reason
    assert queued.bodies() == [body]


def test_duplicate_keys_the_last_one_wins(service: Service, queued: Queued, event: bytes) -> None:
    """The last of two equal keys counts, as in Python's own json, which a consumer is likely to use."""
    body = event.replace(b'{"id": "', b'{"id": "ev_first_of_two", "id": "', 1)
    assert service.post(body).json()["event_id"] == json.loads(body)["id"]
    assert queued.bodies() == [body]


# 401


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        (USER, "wrong"),
        ("wrong", PASSWORD),
        (USER, ""),
        ("", ""),
        "Basic",
        "Basic !!!",
        "Basic Y2hhcmdlYmVl",
        f"Bearer {PASSWORD}",
        "Basic gICA",
    ],
    ids=repr,
)
def test_wrong_credentials(service: Service, queued: Queued, event: bytes, authorization: Any) -> None:
    """The answer is 401 with a challenge, and nothing is queued."""
    with service.client(auth=authorization if isinstance(authorization, tuple) else None) as client:
        headers = {"Authorization": authorization} if isinstance(authorization, str) else {}
        response = client.post("/webhooks/chargebee", content=event, headers=headers)
    assert_problem(response, 401)
    assert response.headers["www-authenticate"].startswith("Basic ")
    assert queued.messages() == []


def test_the_challenge_comes_before_everything_else(service: Service) -> None:
    """Without credentials, a long, encoded, broken body gets 401, so that the limits are not revealed."""
    with service.client(auth=None) as client:
        response = client.post(
            "/webhooks/chargebee", content=b"x" * (MAX_BODY + 1), headers={"Content-Encoding": "gzip"}
        )
    assert_problem(response, 401)


# 413, 415


def test_a_long_body_is_refused_by_its_content_length(service: Service, queued: Queued) -> None:
    """The 413 is sent before the client sends a byte of the body."""
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {MAX_BODY + 1}")
        assert sender.answer().startswith(b"HTTP/1.1 413 ")
    assert queued.messages() == []


def test_a_long_body_without_a_length_is_refused_while_it_streams_in(service: Service, queued: Queued) -> None:
    """The sender of an endless body gets 413 when the body exceeds the limit."""
    with RawSender(service.address) as sender:
        sender.head("Transfer-Encoding: chunked")
        for _ in range(MAX_BODY // 0x8000 + 1):
            sender.send(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
        assert sender.answer().startswith(b"HTTP/1.1 413 ")
    assert queued.messages() == []


@pytest.mark.parametrize("chunked", [False, True])
def test_the_413_reaches_a_client_that_sends_everything_first(service: Service, queued: Queued, chunked: bool) -> None:
    """httpx sends its whole body of 10 MB before it reads the response, and still gets the 413."""

    def pieces() -> Iterator[bytes]:
        yield from [b"x" * 100_000] * 100

    assert_problem(service.post(b"x" * 10_000_000 if not chunked else pieces()), 413)  # type: ignore[arg-type]
    assert queued.messages() == []


def test_the_longest_body_is_taken(service: Service, queued: Queued, event: bytes) -> None:
    """A body of APP_MAX_BODY_BYTES is accepted, and a body with one more byte is not."""
    body = changed(event, padding="")
    body = changed(event, padding="x" * (MAX_BODY - len(body)))
    assert len(body) == MAX_BODY
    assert service.post(body).status_code == 200
    assert queued.bodies() == [body]
    assert_problem(service.post(body + b" "), 413)


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_an_encoded_body(service: Service, queued: Queued, event: bytes, encoding: str) -> None:
    """An encoded body gets 415, whatever its bytes are. `identity` is allowed."""
    assert_problem(service.post(event, headers={"Content-Encoding": encoding}), 415)
    assert service.post(event, headers={"Content-Encoding": "Identity"}).status_code == 200
    assert len(queued.messages()) == 1


# 422

INVOICE_FIELDS = [
    *("id", "customer_id", "recurring", "status", "price_type", "currency_code"),
    *("tax", "sub_total", "term_finalized", "is_gifted"),
]
NOT_JSON: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda event: b"",
    "truncated": lambda event: event[:-20],
    "trailing": lambda event: event + b"x",
    "NaN": lambda event: event[:-1] + b',"x":NaN}',
    "Infinity": lambda event: event[:-1] + b',"x":[Infinity]}',
    "-Infinity": lambda event: event[:-1] + b',"x":-Infinity}',
    "invalid UTF-8": lambda event: event[:-1] + b',"x":"\xff"}',
    "surrogate in UTF-8": lambda event: event[:-1] + b',"x":"\xed\xa0\x80"}',
    "UTF-16": lambda event: event.decode().encode("utf-16"),
    "byte order mark": lambda event: b"\xef\xbb\xbf" + event,
    "raw control character": lambda event: event[:-1] + b',"x":"\x01"}',
    "form": lambda event: b"id=ev_1&event_type=pending_invoice_created",
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_not_json(service: Service, queued: Queued, event: bytes, name: str) -> None:
    """The answer is 422, nothing is queued, and the process continues."""
    problem = assert_problem(service.post(NOT_JSON[name](event)), 422)
    assert [error["type"] for error in problem["errors"]] == ["json_invalid"]
    assert service.post(event).status_code == 200
    assert queued.bodies() == [event]


@pytest.mark.parametrize(
    "body",
    [
        lambda event: b'{"id":' + b"[" * 100_000,
        lambda event: event[:-1] + b',"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        lambda event: event[:-1] + b',"x":' + b'{"x":' * 250 + b"1" + b"}" * 250 + b"}",
    ],
    ids=["never closed", "closed", "250 objects"],
)
def test_json_nested_too_deeply(service: Service, queued: Queued, event: bytes, body: Callable[[bytes], bytes]) -> None:
    """The 422 says that the nesting is too deep, because the body may be valid JSON. The process continues."""
    problem = assert_problem(service.post(body(event)), 422)
    assert problem["detail"] == "The body is nested too deeply"
    [error] = problem["errors"]
    assert (error["loc"], error["type"]) == ([], "json_too_deep")
    assert error["msg"].startswith("JSON nested too deeply: recursion limit exceeded at line 1 column ")
    assert service.post(event).status_code == 200
    assert queued.bodies() == [event]


@pytest.mark.parametrize(
    ("fields", "loc"),
    [
        ({"id": ""}, ["id"]),
        ({"id": "ev_" + "x" * 38}, ["id"]),
        ({"id": "ev 1"}, ["id"]),
        ({"id": "ev_1\n"}, ["id"]),
        ({"id": 1}, ["id"]),
        ({"occurred_at": "1789000000"}, ["occurred_at"]),
        ({"occurred_at": True}, ["occurred_at"]),
        ({"object": "invoice"}, ["object"]),
        ({"api_version": ""}, ["api_version"]),
        ({"event_type": ""}, ["event_type"]),
        ({"event_type": "pending\x00"}, ["event_type"]),
        ({"event_type": None}, ["event_type"]),
        ({"content": None}, ["content"]),
        ({"content": []}, ["content"]),
        ({"content": {}}, []),
        ({"content": {"invoice": None}}, []),
        ({"content": {"invoice": []}}, ["content", "invoice"]),
    ],
    ids=str,
)
def test_not_an_event(
    service: Service, queued: Queued, event: bytes, fields: dict[str, Any], loc: list[str | int]
) -> None:
    """The 422 names the field, but contains no value."""
    problem = assert_problem(service.post(changed(event, **fields)), 422)
    assert [error["loc"] for error in problem["errors"]] == [loc]
    assert all(error.keys() == {"loc", "msg", "type"} for error in problem["errors"])
    assert queued.messages() == []


@pytest.mark.parametrize("field", ["id", "occurred_at", "source", "object", "api_version", "event_type", "content"])
def test_an_envelope_without_a_required_field(service: Service, event: bytes, field: str) -> None:
    """The 422 names the missing field."""
    body = json.loads(event)
    del body[field]
    problem = assert_problem(service.post(json.dumps(body).encode()), 422)
    assert [(error["loc"], error["type"]) for error in problem["errors"]] == [([field], "missing")]


@pytest.mark.parametrize("field", INVOICE_FIELDS)
def test_an_invoice_without_a_required_field(service: Service, queued: Queued, event: bytes, field: str) -> None:
    """The 422 names the missing field."""
    body = json.loads(event)
    del body["content"]["invoice"][field]
    problem = assert_problem(service.post(json.dumps(body).encode()), 422)
    assert [error["loc"] for error in problem["errors"]] == [["content", "invoice", field]]
    assert queued.messages() == []


def test_an_invoice_with_a_flawed_line_item(service: Service, event: bytes) -> None:
    """The 422 names the line item and its field. Amounts are whole minor units."""
    body = json.loads(event)
    body["content"]["invoice"]["line_items"][1]["unit_amount"] = 12.5
    problem = assert_problem(service.post(json.dumps(body).encode()), 422)
    assert [error["loc"] for error in problem["errors"]] == [["content", "invoice", "line_items", 1, "unit_amount"]]


@pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
def test_characters_that_sqs_refuses(service: Service, queued: Queued, event: bytes, character: str) -> None:
    """A body with a character that XML does not allow gets 422, because SQS would reject the message."""
    problem = assert_problem(service.post(event[:-1] + f',"x":"{character}"}}'.encode()), 422)
    assert [error["type"] for error in problem["errors"]] == ["sqs_character"]
    assert queued.messages() == []


def test_a_refusal_repeats_no_payload(service: Service, event: bytes) -> None:
    """Neither the answer nor the log contains values of the body."""
    secret = "4111-1111-1111-1111"
    body = json.loads(event)
    body["content"]["invoice"] |= {"customer_id": "", "tax": secret, "currency_code": secret}
    response = service.post(json.dumps(body | {"id": "ev_refused_without_payload"}).encode())
    assert_problem(response, 422)
    assert secret not in response.text
    service.post(json.dumps(json.loads(event) | {"id": "ev_after_it"}).encode())
    service.log(event_id="ev_after_it")  # a later line, so the log already has the line about the refusal
    assert all(secret not in str(line) and PASSWORD not in str(line) for line in service.lines)


def test_a_refusal_is_bounded(service: Service, event: bytes) -> None:
    """For 60,000 invalid line items, the 422 has at most 20 errors, so the response is small and the loop is free."""
    body = json.loads(event)
    body["content"]["invoice"]["line_items"] = [{}] * 60_000
    problem = assert_problem(service.post(json.dumps(body, separators=(",", ":")).encode()), 422)
    assert len(problem["errors"]) <= 20


# 404, 405, probes


def test_unknown_paths_and_methods(service: Service) -> None:
    """404 and 405 are problems, too. A 405 has Allow. Neither requires credentials."""
    with service.client(auth=None) as client:
        assert_problem(client.get("/"), 404)
        assert_problem(client.post("/webhooks/chargebee/"), 404)
        for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
            response = client.request(method, "/webhooks/chargebee")
            assert_problem(response, 405)
            assert response.headers["allow"] == "POST"


def test_probes_require_no_credentials(service: Service) -> None:
    """Probes work without credentials, because Kubernetes sends none."""
    with service.client(auth=None) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_no_docs_unless_enabled(service: Service, path: str) -> None:
    """A deployment serves no docs. test_docs.py tests what APP_DOCS=1 serves."""
    with service.client() as client:
        assert_problem(client.get(path), 404)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_head_on_a_probe(service: Service, path: str) -> None:
    """HEAD gets the status and headers of GET, without the body. A 405 lists both methods in Allow."""
    with service.client(auth=None) as client:
        got, head, posted = client.get(path), client.head(path), client.post(path)
    assert (head.status_code, head.content) == (200, b"")
    assert _without_date(head) == _without_date(got)
    assert_problem(posted, 405)
    assert {method.strip() for method in posted.headers["allow"].split(",")} == {"GET", "HEAD"}


def test_head_while_draining(aws: QueueProcess, queue_url: str) -> None:
    """While the service drains, HEAD gets the same statuses as GET: alive, but not ready."""
    with Service(aws.endpoint, queue_url, drain_delay=300) as service, service.client(auth=None) as client:
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("Draining")
        answers = [client.head(path) for path in ("/healthz", "/readyz")]
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, b""), (503, b"")]


def _without_date(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "date"}


def test_broken_http_is_answered_by_the_server(service: Service) -> None:
    """Broken HTTP gets 400. uvicorn's own 400 is text/plain, which is a documented exception."""
    with RawSender(service.address) as sender:
        sender.send(b"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n")
        answer = sender.answer()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"text/plain" in answer


# 408, 503, and other tests that need their own settings

TIGHT: dict[str, object] = {"max_in_flight": 2, "max_body_bytes": 15_000, "max_buffered_bytes": 20_000}


@pytest.fixture(scope="module")
def tight(serve: Serve) -> Iterator[Service]:
    """Yields a service that admits at most two webhooks and 20 kB at once, with a long APP_BODY_TIMEOUT."""
    rotation = {"basic_auth_previous_username": "old", "basic_auth_previous_password": "pair"}
    service, _ = serve("tight", **TIGHT, **rotation, body_timeout=60)
    with service:
        yield service


@pytest.fixture(scope="module")
def hasty(serve: Serve) -> Iterator[tuple[Service, Queued]]:
    """Yields a service like `tight` with an APP_BODY_TIMEOUT of 3 s, longer than a busy machine's pauses."""
    service, queued = serve("hasty", **TIGHT, body_timeout=3)
    with service:
        yield service, queued


def test_a_body_that_drips(hasty: tuple[Service, Queued], event: bytes) -> None:
    """After APP_BODY_TIMEOUT, the sender gets 408, and the connection is closed, although bytes still arrive."""
    service, queued = hasty
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}")
        for position in range(len(event)):
            if sender.is_answered(within=0.05):
                break
            sender.send(event[position : position + 1])
        answer = sender.answer()
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in answer
        assert b"connection: close" in answer.lower()
    assert service.post(event).status_code == 200
    assert queued.bodies() == [event]


def test_too_many_in_flight(tight: Service, event: bytes) -> None:
    """At APP_MAX_IN_FLIGHT, webhooks get 503 with Retry-After, and probes succeed. Later webhooks get 200 again."""
    with RawSender(tight.address) as first, RawSender(tight.address) as second:
        for sender in (first, second):
            sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
            sender.wait_until_read()
        response = tight.post(event)
        assert_problem(response, 503)
        assert int(response.headers["retry-after"]) >= 1
        with tight.client() as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
        for sender in (first, second):
            sender.send(event)
            assert sender.answer().startswith(b"HTTP/1.1 200 ")
    assert tight.post(event).status_code == 200


def test_too_many_bytes_held(tight: Service, event: bytes) -> None:
    """A webhook gets 503 with Retry-After if the bodies in flight would exceed APP_MAX_BUFFERED_BYTES."""
    with RawSender(tight.address) as sender:
        sender.head("Content-Length: 15000", "Expect: 100-continue")
        sender.wait_until_read()
        response = tight.post(event)
        assert_problem(response, 503)
        assert int(response.headers["retry-after"]) >= 1
    assert tight.post(event).status_code == 200


def test_a_refused_sender_keeps_no_place(hasty: tuple[Service, Queued], event: bytes) -> None:
    """After a 408 and a 413, both places are free at once, even if the refused senders stay connected."""
    service, _ = hasty
    with (
        RawSender(service.address) as slow,
        RawSender(service.address) as long,
        RawSender(service.address) as other,
    ):
        slow.head(f"Content-Length: {len(event)}")
        long.head("Transfer-Encoding: chunked", body=b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        assert long.answer().startswith(b"HTTP/1.1 413 ")
        assert slow.answer().startswith(b"HTTP/1.1 408 ")
        other.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        other.wait_until_read()  # this sender now has one of the two places
        assert [service.post(event).status_code for _ in range(3)] == [200, 200, 200]


def test_both_pairs_while_passwords_rotate(tight: Service, event: bytes) -> None:
    """The current and the previous pair are accepted, but no mixture of them."""
    statuses = []
    for pair in ((USER, PASSWORD), ("old", "pair"), (USER, "pair"), ("old", PASSWORD)):
        with tight.client(auth=pair) as client:
            statuses.append(client.post("/webhooks/chargebee", content=event).status_code)
    assert statuses == [200, 200, 401, 401]


def test_the_queue_ends_and_starts_again(restartable_aws: QueueProcess, release: Release, event: bytes) -> None:
    """While the queue is down, even at the start, webhooks get 503. Later, they get 200 without a restart."""
    sqs = client(restartable_aws.endpoint)
    queue_url = sqs.create_queue(QueueName="restarted")["QueueUrl"]
    restartable_aws.kill()
    with Service(restartable_aws.endpoint, queue_url, release=release, sqs_timeout=60) as service:
        for _ in range(2):
            response = service.post(event)
            assert_problem(response, 503)
            assert int(response.headers["retry-after"]) >= 1
            restartable_aws.start()
            sqs.create_queue(QueueName="restarted")
            bodies = list(fresh_events(event, 20))
            assert {service.post(body).status_code for body in bodies} == {200}
            assert sorted(body for body, _ in queues.drain(sqs, queue_url)) == sorted(bodies)
            restartable_aws.kill()
        assert_problem(service.post(event), 503)
    sqs.close()


def test_a_queue_that_does_not_answer(release: Release, event: bytes) -> None:
    """If SQS accepts the connection and never answers, the webhook gets 503 after APP_SQS_TIMEOUT."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Service(endpoint, f"{endpoint}/0/q", release=release, sqs_timeout=0.3) as service:
            response = service.post(event)
            assert_problem(response, 503)
            assert int(response.headers["retry-after"]) >= 1
            # uvloop's timers count whole milliseconds, so they may end up to 1 ms too early.
            assert service.log(outcome="queue-unavailable")["duration_ms"] >= 299


def test_the_queue_does_not_exist(aws: QueueProcess, release: Release, event: bytes) -> None:
    """A missing queue is not the sender's fault: 503, so that Chargebee keeps the webhook. The log has the cause."""
    with Service(aws.endpoint, f"{aws.endpoint}/000000000000/does-not-exist", release=release) as service:
        assert_problem(service.post(event), 503)
        cause = service.log(outcome="queue-unavailable")["cause"]
    # The code that real SQS still sends for old clients, or the plain name.
    assert cause in ("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist")


def test_a_fifo_queue(aws: QueueProcess, sqs: "SQSClient", release: Release, event: bytes) -> None:
    """A FIFO queue drops a second message with the same event id, and accepts a customer with an odd id."""
    queue_url = sqs.create_queue(QueueName=f"contract-{release}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    odd = next(file for file in PENDING if "odd_customer_id" in file.stem).read_bytes()
    with Service(aws.endpoint, queue_url, release=release) as service:
        assert [service.post(body).status_code for body in (event, event, odd)] == [200, 200, 200]
    assert sorted(body for body, _ in queues.drain(sqs, queue_url)) == sorted([event, odd])


def test_a_thousand_at_once(service: Service, queued: Queued, release: Release, event: bytes, thorough: bool) -> None:
    """Each of 1,000 webhooks gets 200, and the queue has exactly their bodies.

    Except in test-all, older releases get only 300 webhooks, which is more than their threads. On a slow machine, a
    thousand calls would take longer than the longest APP_SQS_TIMEOUT.
    """
    number = 1000 if release is NEWEST or thorough else 300
    bodies = list(fresh_events(event, number))
    assert len(set(bodies)) == number
    assert {len(body) for body in bodies} == {len(event)}

    async def post_all() -> list[int]:
        everything = asyncio.Barrier(len(bodies))
        connector, headers = aiohttp.TCPConnector(limit=0), {"Authorization": BASIC}
        async with aiohttp.ClientSession(service.url, headers=headers, connector=connector) as client:

            async def post(body: bytes) -> int:
                await everything.wait()
                async with client.post("/webhooks/chargebee", data=body) as response:
                    return response.status

            return await asyncio.gather(*(post(body) for body in bodies))

    assert asyncio.run(post_all()) == [200] * number
    assert sorted(queued.bodies()) == sorted(bodies)


def test_a_sender_that_leaves(service: Service, queued: Queued, event: bytes) -> None:
    """If a sender disconnects in the middle of the body, nothing is queued, and the process continues."""
    with RawSender(service.address) as sender:
        sender.head(f"Content-Length: {len(event)}", "Expect: 100-continue")
        sender.wait_until_read()
        sender.send(event[:100])
    service.wait_for("webhook unanswered")
    assert service.post(event).status_code == 200
    assert queued.bodies() == [event]


def test_a_log_line_for_each_webhook(service: Service, release: Release, event: bytes) -> None:
    """The line has event id, type, outcome, duration, and whether this is a retry by Chargebee."""
    service.post(changed(event, id="ev_to_be_logged"))
    line = service.log(event_id="ev_to_be_logged")
    assert line["duration_ms"] > 0
    assert (line["outcome"], line["event_type"], line["retry"]) == (release.accepted, "pending_invoice_created", False)
    service.post(changed(event, id="ev_logged_as_retry", webhooks=[{"id": "wh_1", "webhook_status": "failed"}]))
    assert service.log(event_id="ev_logged_as_retry")["retry"] is True
