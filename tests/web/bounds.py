"""Attacks by a client on both servers, and the outcome of each attack. docs/history.md shows the outcomes."""

import signal
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

import httpx

from local.sample_events import default_file
from tests.harness.raw import BASIC, RawSender
from tests.harness.service import ASGI, CALLBACKS, NO_CAS, Service
from tests.harness.sqs_stand_in import SqsStandIn

PATIENCE_SECONDS, HEAD_TIMEOUT, MAX_CONNECTIONS = 60, 1, 20
SETTINGS = {"head_timeout": HEAD_TIMEOUT, "max_connections": MAX_CONNECTIONS, "drain_delay": 0, "sqs_timeout": 60}
EVENT = default_file().read_bytes()
PROBE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


class Target(NamedTuple):
    """A service under attack, and its SQS. `ours`: the service runs on this project's server, not on uvicorn."""

    service: Service
    sqs: SqsStandIn
    ours: bool

    def notice(self) -> None:
        """Returns when the event loop has read everything that was sent before the call."""
        for _ in range(2):
            assert httpx.get(f"{self.service.url}/healthz", verify=NO_CAS, timeout=PATIENCE_SECONDS).status_code == 200

    def status(self, sent: bytes) -> str:
        """Sends a request, and returns the status of the response."""
        with RawSender(self.service.address) as sender:
            sender.send(sent)
            return sender.answer()[9:12].decode()


def webhook(*headers: str, body: bytes = EVENT) -> bytes:
    lines = ["POST /webhooks/chargebee HTTP/1.1", "Host: x", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def endless_head(target: Target) -> str:
    with RawSender(target.service.address) as sender:
        sender.send(PROBE[:-2] + b"A: " + b"x" * 200_000)
        target.notice()
        return sender.answer()[9:12].decode() if sender.is_answered(within=0) else "it is read on and stored"


def slow_head(target: Target) -> str:
    with RawSender(target.service.address) as sender:
        sender.send(PROBE[:20])
        ended = sender.is_answered(within=PATIENCE_SECONDS if target.ours else 3 * HEAD_TIMEOUT)
        return sender.answer()[9:12].decode() if ended else "the connection stays open"


def idle_connections(target: Target) -> str:
    with ExitStack() as stack:
        for _ in range(2 * MAX_CONNECTIONS):
            stack.enter_context(RawSender(target.service.address))
        target.notice()
        open_now = target.service.connections()
    return "the connection idle longest is closed" if open_now <= MAX_CONNECTIONS else "all of them stay open"


def upgrade(target: Target) -> str:
    inner = webhook(f"Authorization: {BASIC}")
    outer = webhook(f"Authorization: {BASIC}", "Connection: Upgrade", "Upgrade: h2c", body=inner)
    with RawSender(target.service.address) as sender:
        for segment in (outer[: -len(inner)], inner):
            sender.send(segment)
            target.notice()
        sender.answer()
        return "the body is served as a second request" if sender.answer() else "the body is no request"


def trailer(target: Target) -> str:
    head = b"POST /webhooks/chargebee HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"%x\r\n%s\r\n0\r\nAuthorization: %s\r\n\r\n" % (len(EVENT), EVENT, BASIC.encode())
    return target.status(head + body)


def no_host(target: Target) -> str:
    return target.status(b"GET /healthz HTTP/1.1\r\n\r\n")


def half_close(target: Target) -> str:
    target.sqs.calls.clear()
    target.sqs.hold("SendMessageBatch")
    with RawSender(target.service.address) as sender:
        sender.send(webhook(f"Authorization: {BASIC}"))
        sender.half_close()
        target.sqs.wait_for("SendMessageBatch", 1)
        target.notice()
        target.sqs.release()
        return sender.rest()[9:12].decode() or "no answer"


def stop(target: Target) -> str:
    with RawSender(target.service.address) as sender:
        target.notice()
        target.service.process.send_signal(signal.SIGTERM)
        target.service.wait_for("Draining")
        if not target.ours:
            sender.is_answered(within=PATIENCE_SECONDS)
        try:
            sender.send(PROBE)
        except OSError:
            return "closed at once"
        return sender.rest()[9:12].decode() or "closed at once"


class Bound(NamedTuple):
    """An attack, its outcome on this project's server, and its outcome on uvicorn."""

    what: str
    attack: Callable[[Target], str]
    ours: str
    uvicorn: str


BOUNDS = (
    Bound("a head of 200 kB without an end", endless_head, "400", "it is read on and stored"),
    Bound("a head slower than `APP_HEAD_TIMEOUT`", slow_head, "408", "the connection stays open"),
    Bound(
        "more idle connections than `APP_MAX_CONNECTIONS`",
        idle_connections,
        "the connection idle longest is closed",
        "all of them stay open",
    ),
    Bound(
        "another webhook as the body of a request for an upgrade",
        upgrade,
        "the body is no request",
        "the body is served as a second request",
    ),
    Bound("right credentials in a trailer only", trailer, "401", "200"),
    Bound("HTTP/1.1 without Host", no_host, "400", "200"),
    Bound("a client that half-closes after its webhook", half_close, "200", "no answer"),
    Bound("SIGTERM before the first request on a connection, and then a request", stop, "200", "closed at once"),
)
SERVERS = (ASGI, CALLBACKS)
