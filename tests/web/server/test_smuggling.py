"""Ambiguous requests are refused, so no request can hide in another."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from loadtest.stage.queues import QueueProcess
from local.sample_events import fresh_events
from tests.harness import queues
from tests.harness.raw import BASIC, RawSender
from tests.harness.reverse_proxy import reverse_proxy
from tests.harness.service import NO_CAS, Service

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

WEBHOOK = "/webhooks/chargebee"


@pytest.fixture(scope="module")
def running(aws: QueueProcess, sqs: "SQSClient") -> Iterator[tuple[Service, str]]:
    queue_url = sqs.create_queue(QueueName="smuggling")["QueueUrl"]
    with Service(aws.endpoint, queue_url, max_wait=0) as service:
        yield service, queue_url


@pytest.fixture
def service(running: tuple[Service, str], sqs: "SQSClient") -> Service:
    queues.drain(sqs, running[1])
    return running[0]


def request(*headers: str, method: str = "POST", path: str = WEBHOOK, version: str = "HTTP/1.1") -> bytes:
    return "\r\n".join([f"{method} {path} {version}".strip(), *headers, "", ""]).encode()


def webhook(body: bytes, *headers: str, path: str = WEBHOOK, method: str = "POST", authorization: str = BASIC) -> bytes:
    """Returns a complete request with the necessary headers and `headers`."""
    needed = ("Host: service", f"Authorization: {authorization}", f"Content-Length: {len(body)}")
    return request(*needed, *headers, method=method, path=path) + body


def answers(service: Service, *segments: bytes) -> list[int]:
    """Returns the statuses of all responses to `segments` on one connection, which the service must close."""
    with RawSender(service.address) as sender:
        for segment in segments:
            sender.send(segment)
        received = sender.rest()
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:] if not part.startswith(b"100")]


UPGRADE = ("Connection: Upgrade", "Upgrade: x")


@pytest.mark.parametrize(
    ("authorization", "path", "method", "status"),
    [
        (BASIC, WEBHOOK, "POST", 422),
        ("Basic bm86bm8=", WEBHOOK, "POST", 401),
        (BASIC, "/nowhere", "POST", 404),
        (BASIC, WEBHOOK, "PUT", 405),
        (BASIC, "/healthz", "GET", 200),
    ],
)
def test_nothing_is_parsed_behind_a_request_for_an_upgrade(
    running: tuple[Service, str],
    service: Service,
    sqs: "SQSClient",
    event: bytes,
    authorization: str,
    path: str,
    method: str,
    status: int,
) -> None:
    """The body is never parsed as a request, even if it looks like one. The client gets one response, and a close."""
    inner = webhook(event)
    outer = webhook(inner, *UPGRADE, path=path, method=method, authorization=authorization)
    cut = len(outer) - len(inner)
    for segments in ([outer], [outer[:cut], outer[cut:]], [outer, inner], [outer[: cut + 40], outer[cut + 40 :]]):
        assert answers(service, *segments) == [status]
    assert queues.drain(sqs, running[1]) == []


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.5, 0.99, 1.0])
def test_an_upgrade_is_ignored(
    running: tuple[Service, str], service: Service, sqs: "SQSClient", event: bytes, share: float
) -> None:
    """A webhook that asks for an upgrade is queued, and its connection is closed, for any segmentation of its bytes."""
    whole = webhook(event, *UPGRADE)
    cut = int(len(whole) * share)
    assert answers(service, *filter(None, (whole[:cut], whole[cut:]))) == [200]
    assert [body for body, _ in queues.drain(sqs, running[1])] == [event]


def test_an_unfinished_inner_head_swallows_nothing(
    running: tuple[Service, str], service: Service, sqs: "SQSClient", event: bytes, tmp_path: Path
) -> None:
    """Behind a reverse proxy that reuses connections, the queue has each well-formed webhook that got 200."""
    attack = webhook(request("Host: x", "X-Swallow: ", path="/healthz", method="GET")[:-4], *UPGRADE)
    bodies = list(fresh_events(event, 60))
    with reverse_proxy(service.url, tmp_path) as address, ThreadPoolExecutor(8) as senders:

        def poison() -> bytes:
            with RawSender(address) as attacker:
                attacker.send(attack)
                return attacker.answer()

        def well_formed(body: bytes) -> tuple[int, str]:
            url = f"http://{address[0]}:{address[1]}{WEBHOOK}"
            response = httpx.post(url, content=body, headers={"Authorization": BASIC}, timeout=30, verify=NO_CAS)
            return response.status_code, response.text

        attacks, seen = [], []
        for body in bodies:
            attacks.append(senders.submit(poison))
            seen.append(senders.submit(well_formed, body))
        assert all(future.result().startswith(b"HTTP/1.1 ") for future in attacks)
        outcomes = [future.result() for future in seen]
    assert outcomes == [
        (200, json.dumps({"status": "queued", "event_id": json.loads(body)["id"]}, separators=(",", ":")))
        for body in bodies
    ]
    assert sorted(body for body, _ in queues.drain(sqs, running[1])) == sorted(bodies)


HOST, LENGTH, CHUNKED = "Host: service", "Content-Length: 2", "Transfer-Encoding: chunked"
TWO_WAYS = {
    "no host": request(f"Authorization: {BASIC}", LENGTH) + b"{}",
    "two hosts": request(HOST, "Host: other", LENGTH) + b"{}",
    "two lengths": request(HOST, LENGTH, "Content-Length: 3") + b"{}",
    "a length of many digits": request(HOST, f"Authorization: {BASIC}", f"Content-Length: {2:05000}") + b"{}",
    "length and chunks": request(HOST, LENGTH, CHUNKED) + b"2\r\n{}\r\n0\r\n\r\n",
    "another coding": request(HOST, "Transfer-Encoding: gzip, chunked") + b"2\r\n{}\r\n0\r\n\r\n",
    "a coding alone": request(HOST, "Transfer-Encoding: gzip") + b"{}",
    "chunked twice": request(HOST, CHUNKED, CHUNKED) + b"2\r\n{}\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": request(HOST, CHUNKED, version="HTTP/1.0") + b"2\r\n{}\r\n0\r\n\r\n",
    "two credentials": request(HOST, f"Authorization: {BASIC}", "Authorization: Basic bm86bm8=", LENGTH) + b"{}",
    "HTTP/0.9": request(method="GET", path="/healthz", version=""),
    "HTTP/2.0": request(HOST, method="GET", path="/healthz", version="HTTP/2.0"),
    "CONNECT": request(HOST, method="CONNECT", path="service:80"),
    "an upgrade with chunks": request(HOST, CHUNKED, *UPGRADE, f"Authorization: {BASIC}") + b"2\r\n{}\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", TWO_WAYS)
def test_broken_http_is_a_400_and_the_end(service: Service, event: bytes, name: str) -> None:
    """A request that a proxy may parse differently gets 400, and nothing after it is parsed."""
    assert answers(service, TWO_WAYS[name] + webhook(event)) == [400]


def test_http_1_0_needs_no_host(service: Service) -> None:
    """A request of HTTP/1.0 needs no Host header, because a load balancer's probe may have none."""
    assert answers(service, request(method="GET", path="/healthz", version="HTTP/1.0")) == [200]


def test_http_1_0_gets_no_100_continue(service: Service, event: bytes) -> None:
    """A client of HTTP/1.0 gets no `100 Continue`, which it would take for the response (RFC 9110, 10.1.1)."""
    head = (HOST, f"Authorization: {BASIC}", f"Content-Length: {len(event)}", "Expect: 100-continue")
    with RawSender(service.address) as sender:
        sender.send(request(*head, version="HTTP/1.0") + event)
        output = sender.rest()
    assert output.startswith(b"HTTP/1.1 200 ")


def test_an_answer_under_way_comes_before_the_400(running: tuple[Service, str], sqs: "SQSClient", event: bytes) -> None:
    """If invalid bytes follow a webhook on a connection, the webhook is queued, and its response precedes the 400."""
    service, queue_url = running
    queues.drain(sqs, queue_url)
    seen = answers(service, webhook(event) + b"rubbish\r\n\r\n")
    assert seen[0] == 200
    assert [body for body, _ in queues.drain(sqs, queue_url)] == [event]


def test_a_trailer_does_not_block_the_connection(service: Service) -> None:
    """After `Connection: close` as a trailer, the next request is answered, or the connection is closed."""
    chunked = request(HOST, CHUNKED, method="GET", path="/healthz") + b"2\r\n{}\r\n0\r\nConnection: close\r\n\r\n"
    with RawSender(service.address) as sender:
        sender.send(chunked + request(HOST, "Connection: close", method="GET", path="/healthz"))
        output = sender.rest().lower()
    assert output.count(b"http/1.1 200 ") == 2 or b"connection: close" in output


@pytest.mark.parametrize(
    ("trailer", "authorization", "status"),
    [(f"Authorization: {BASIC}", "Basic bm86bm8=", 401), ("Content-Encoding: gzip", BASIC, 200)],
)
def test_trailers_are_no_headers(service: Service, event: bytes, trailer: str, authorization: str, status: int) -> None:
    """Trailers are discarded, so credentials cannot be sent after the body."""
    head = request(HOST, f"Authorization: {authorization}", CHUNKED, "Connection: close")
    body = b"%x\r\n%s\r\n0\r\n%s\r\n\r\n" % (len(event), event, trailer.encode())
    assert answers(service, head + body) == [status]
    assert answers(service, head, body) == [status]
