"""The lean client: what it retries, what it refuses, and what it never does."""

import asyncio
import json
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
import trustme

from app.errors import ConfigurationError, InvalidEvent, QueueUnavailable, WebhookRefused
from app.sqs import account as account_module
from app.sqs import lean, lean_calls
from app.sqs.account import Account
from app.sqs.lean import LeanQueue, open_lean
from app.sqs.message import Message
from app.sqs.queue import BatchRefused, QueueAddress, SendLimits
from app.sqs.signing import Credentials
from app.telemetry.record import CallRecord
from tests.harness.sqs_stand_in import Call, Failure, SqsStandIn, acknowledging
from tests.sqs.test_sqs_connection import Answering, RawServer, Request, raw_server, reset, whole

pytestmark = pytest.mark.anyio

MESSAGES = [Message(body, {}, 1) for body in "abc"]
URL = "http://sqs/000000000000/invoices"
FOUND = whole(json.dumps({"QueueUrl": URL}).encode())


async def send(queue: LeanQueue, seconds: float = 30) -> list[WebhookRefused | None]:
    return await queue.send_batch(MESSAGES, asyncio.get_running_loop().time() + seconds, CallRecord("SendMessageBatch"))


def batches(sqs: SqsStandIn) -> int:
    return sqs.count("SendMessageBatch")


def first(*failures: Failure) -> Callable[[Call], Failure | None]:
    """Returns a function that makes the first batches fail, each with one of these failures."""
    left = list(failures)
    return lambda call: left.pop(0) if left and call.action == "SendMessageBatch" else None


def acknowledged(request: Request) -> bytes:
    """Returns the response of an SQS that finds the queue, and takes each message. Its one digest is of "body"."""
    if b"GetQueueUrl" in request.head:
        return FOUND
    ids = [entry["Id"] for entry in json.loads(request.body).get("Entries", [])]
    one = {"MessageId": "m", "MD5OfMessageBody": "841a2d689ad86bd1611447453c22c6fc"}
    return whole(json.dumps({**one, **acknowledging(ids)}).encode())


async def acknowledge(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(acknowledged(request))


def failing(code: str, *headers: bytes) -> bytes:
    return whole(b'{"__type": "com.amazonaws.sqs#%s"}' % code.encode(), *headers, status=b"400 Bad Request")


@pytest.fixture
def known(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> list[Credentials]:
    """Provides credentials and the URL without calls, and lists the credentials that it has provided."""
    given: list[Credentials] = []

    def credentials(_account: Account) -> Credentials:
        given.append(Credentials(f"key{len(given)}", "secret"))
        return given[-1]

    monkeypatch.setattr(Account, "credentials", credentials)
    monkeypatch.setattr(LeanQueue, "_find_url", AsyncMock(return_value=URL))
    return given


@asynccontextmanager
async def open_warm(address: QueueAddress, limits: SendLimits) -> AsyncIterator[LeanQueue]:
    async with open_lean(address, limits) as queue:
        await queue.warm()
        yield queue


@asynccontextmanager
async def raw_sqs(
    answer: Answering, monkeypatch: pytest.MonkeyPatch, tls: ssl.SSLContext | None = None, **limits: Any
) -> AsyncIterator[tuple[RawServer, LeanQueue]]:
    async with raw_server(answer, tls) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"{'https' if tls else 'http'}://127.0.0.1:{server.port}")
        async with open_warm(QueueAddress.at(URL), SendLimits(calls=1)._replace(**limits)) as queue:
            yield server, queue


@pytest.mark.parametrize(
    "failure",
    [Failure(400, "RequestThrottled"), Failure(400, "AWS.ThrottlingException"), Failure(500, "InternalError")],
)
async def test_tried_again(sqs: SqsStandIn, failure: Failure) -> None:
    """After throttling or an error of SQS, the client makes up to three attempts, and sends each message once."""
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        sqs.failing = first(failure, failure)
        assert await send(queue) == [None, None, None]
        assert (batches(sqs), sqs.messages) == (3, ["a", "b", "c"])
        sqs.failing = first(failure, failure, failure)
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
    assert (error.value.cause, batches(sqs)) == (failure.code, 6)


async def test_the_start_opens_connections(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start asks for the URL once. Later calls share one connection as long as they do not overlap."""
    monkeypatch.setattr(lean, "WARM_SECONDS", 60)
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        for _ in range(3):
            assert await send(queue) == [None, None, None]
    assert sqs.count("GetQueueUrl") == 1
    assert len({call.peer for call in sqs.calls if call.action == "SendMessageBatch"}) == 1


@pytest.mark.parametrize("cut_at", [0, 20, -1])
async def test_a_reset_in_the_middle_of_an_answer(
    cut_at: int, known: list[Credentials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client tries again, with the same messages, on another connection."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        answered = acknowledged(request)
        writer.write(answered if request.number else answered[:cut_at])
        if request.number == 0:
            reset(writer)

    async with raw_sqs(answer, monkeypatch) as (server, queue):
        assert await send(queue) == [None, None, None]
    assert [request.connection for request in server.requests] == [0, 1]
    assert len({request.body for request in server.requests}) == 1


@pytest.mark.parametrize(("status", "code"), [(403, "AccessDenied"), (400, "QueueDoesNotExist"), (400, "KmsDisabled")])
async def test_what_concerns_every_call(sqs: SqsStandIn, status: int, code: str) -> None:
    """The client makes no second attempt after an error that concerns every call."""
    sqs.failing = first(Failure(status, code))
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
    assert (error.value.cause, batches(sqs)) == (code, 1)


@pytest.mark.parametrize("code", ["InvalidMessageContents", "BatchRequestTooLong"])
async def test_what_an_entry_may_have_caused(sqs: SqsStandIn, code: str) -> None:
    """The caller may try the entries one by one."""
    sqs.failing = first(Failure(400, code))
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        with pytest.raises(BatchRefused) as error:
            await send(queue)
    assert (error.value.cause, error.value.too_long, batches(sqs)) == (code, code == "BatchRequestTooLong", 1)


async def test_each_entry_has_its_own_outcome(sqs: SqsStandIn) -> None:
    """An entry that the answer does not mention was not acknowledged."""
    sqs.refusing = {"b": "InvalidMessageContents"}.get
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        assert [type(outcome) for outcome in await send(queue)] == [type(None), InvalidEvent, type(None)]
        sqs.raw = {"SendMessageBatch": (200, json.dumps(acknowledging(["1-2", "1-0"])).encode())}
        outcomes = await send(queue)
    assert outcomes[::2] == [None, None]
    assert isinstance(outcomes[1], QueueUnavailable)
    assert outcomes[1].cause == "Unanswered"


async def test_an_entry_in_both_lists_of_an_answer(sqs: SqsStandIn) -> None:
    """An entry in both lists has failed; the others have not."""
    answer = acknowledging(["0-0", "0-1", "0-2"]) | {"Failed": [{"Id": "0-1", "Code": "InternalError"}]}
    sqs.raw = {"SendMessageBatch": (200, json.dumps(answer).encode())}
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        outcomes = await send(queue)
    assert [getattr(outcome, "cause", None) for outcome in outcomes] == [None, "InternalError", None]


NO_ACKNOWLEDGEMENTS = [b"<html>", b"", b"\xff", b"[]", b"null", b"{}", b'{"Successful": []}', b'{"Successful": null}']
NO_ACKNOWLEDGEMENTS += [
    b'{"Successful": ["0", "1", "2"]}',
    b'{"Successful": [{"Id": "0"}, {"Id": "1", "MessageId": ""}]}',
]


@pytest.mark.parametrize("body", NO_ACKNOWLEDGEMENTS)
async def test_a_200_that_acknowledges_nothing(sqs: SqsStandIn, body: bytes) -> None:
    """A proxy's page, or an endpoint that is not SQS, is no success for any message."""
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        sqs.raw = {"SendMessageBatch": (200, body)}
        try:
            outcomes = await send(queue)
        except QueueUnavailable as error:
            outcomes = [error] * 3
        assert [type(outcome) for outcome in outcomes] == [QueueUnavailable] * 3
        sqs.raw = {}
        assert await send(queue) == [None, None, None]


async def test_expired_credentials(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """They are fetched again, and the call is repeated with the new ones."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        expired = b"Credential=key0/" in request.head
        writer.write(failing("ExpiredToken") if expired else acknowledged(request))

    async with raw_sqs(answer, monkeypatch) as (server, queue):
        assert await send(queue) == await send(queue) == [None, None, None]
    assert (len(server.requests), len(known)) == (3, 2)


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [
        ("http://sqs.example:80", b"sqs.example"),
        ("http://sqs.example:443", b"sqs.example:443"),
        ("http://[::1]:80", b"[::1]"),
    ],
)
async def test_the_host_in_a_request(
    endpoint: str, host: bytes, sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request and its signature contain the port only if it is not the default port."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    queue = LeanQueue(Account(), QueueAddress.at(URL), SendLimits())
    assert b"\r\nhost:" + host + b"\r\n" in queue._send.head(b"", Credentials("key", "secret"), 0)


async def test_credentials_are_renewed(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client renews its credentials in the background, without a call. An error there fails no webhook."""
    monkeypatch.setattr(account_module, "RENEW_SECONDS", 0.001)
    give, errors, later = Account.credentials, iter([OSError(), None, OSError()]), asyncio.Event()
    loop = asyncio.get_running_loop()

    def credentials(account: Account) -> Credentials:
        if len(known) > 3:
            loop.call_soon_threadsafe(later.set)
        if known and (error := next(errors, None)):
            raise error
        return give(account)

    monkeypatch.setattr(Account, "credentials", credentials)
    async with raw_sqs(acknowledge, monkeypatch) as (server, queue):
        await asyncio.wait_for(later.wait(), 30)
        assert await send(queue) == [None, None, None]
    assert b"Credential=key0/" not in server.requests[0].head


class Clock:
    """An SQS whose clock is `ahead` seconds ahead. It rejects signatures four minutes or more away from its time."""

    def __init__(self, ahead: float, number: int = 0) -> None:
        self._ahead = ahead
        self._late = asyncio.Barrier(number) if number else None  # so many first calls are answered together
        self.refused = 0

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        now = time.time() + self._ahead
        date = request.head.partition(b"x-amz-date:")[2][:16].decode()
        signed = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        if abs(signed - now) < 240:
            writer.write(acknowledged(request))
            return
        self.refused += 1
        if self._late is not None:
            await self._late.wait()
        writer.write(failing("RequestExpired", b"Date: " + formatdate(now, usegmt=True).encode()))


@pytest.mark.parametrize("ahead", [-600, 600])
async def test_a_wrong_clock(ahead: float, known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client corrects its clock by SQS's clock, for this call and for later calls."""
    clock = Clock(ahead)
    async with raw_sqs(clock.answer, monkeypatch) as (server, queue):
        assert await send(queue) == await send(queue) == [None, None, None]
    assert (clock.refused, len(server.requests)) == (1, 3)


async def test_a_wrong_clock_at_the_start(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call, which asks for the queue's URL, corrects the clock."""
    clock = Clock(3600)
    async with raw_sqs(clock.answer, monkeypatch) as (server, queue):
        assert await send(queue) == [None, None, None]
    assert (clock.refused, len(server.requests)) == (1, 3)


NO_DATES = [b"", b"yesterday", b"Mon, 99 Foo", b"Mon, 99 Jan 2026 00:00:00 GMT", b"Thu, 01 Jan 2026 00:00:00 +2400"]
NO_DATES += [b"Mon, 01 Jan 99999 00:00:00 GMT", b"Fri, 01 Jan 2026 00:00:00 -%s" % (b"9" * 20), b"\xff"]
NO_DATES += [b"Mon, 01 Jan %s 00:00:00 GMT" % (b"9" * digits) for digits in (20, 5000)]


@pytest.mark.parametrize("date", NO_DATES)
async def test_an_error_with_a_date_that_is_none(
    date: bytes, known: list[Credentials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has SQS's code, whatever the Date header contains."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(failing("RequestExpired", b"Date: " + date))

    async with raw_sqs(answer, monkeypatch) as (server, queue):
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
    assert (error.value.cause, len(server.requests)) == ("RequestExpired", 1)


async def test_a_wrong_clock_for_two_calls(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rejected call corrects the clock, and the second one is repeated, too."""
    clock = Clock(600, 2)
    async with raw_sqs(clock.answer, monkeypatch) as (_, queue):
        outcomes = await asyncio.gather(send(queue), send(queue))
    assert [*outcomes[0], *outcomes[1]] == [None] * 6
    assert clock.refused == 2


async def silence(request: Request, writer: asyncio.StreamWriter) -> None:
    pass


async def drip(request: Request, writer: asyncio.StreamWriter) -> None:
    for byte in whole(b" " * 10_000):
        writer.write(bytes([byte]))
        await writer.drain()  # raises when the other side has closed
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("answer", [silence, drip])
async def test_no_answer_until_the_deadline(
    answer: Answering, known: list[Credentials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is one attempt. Its connection is closed at the deadline, so that no caller gets a late answer."""
    async with raw_sqs(answer, monkeypatch) as (server, queue):
        begun = time.monotonic()
        with pytest.raises(QueueUnavailable) as error:
            await send(queue, 0.3)
        assert 0.25 < time.monotonic() - begun < 10
        assert await asyncio.wait_for(server.left.get(), 10) == 0
    assert (error.value.cause, len(server.requests)) == ("TimeoutError", 1)


async def test_sqs_is_down_at_the_start(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQS answers with errors, or not at all. The start waits WARM_SECONDS at most, and calls succeed later."""
    address = QueueAddress.at(sqs.queue_url)
    sqs.raw = {"GetQueueUrl": (500, b"oops")}
    async with open_warm(address, SendLimits()) as queue:
        with pytest.raises(QueueUnavailable):
            await send(queue, 0.3)
        sqs.raw = {}
        assert await send(queue) == [None, None, None]
    monkeypatch.setattr(lean, "WARM_SECONDS", 0.2)
    sqs.hold("GetQueueUrl")
    async with open_warm(address, SendLimits()) as queue:
        with pytest.raises(QueueUnavailable):
            await send(queue, 0.2)
        sqs.release()
        assert await send(queue) == [None, None, None]


async def test_sqs_refuses_connections_at_the_start(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """The start does not fail, and the first call after SQS has started succeeds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # nobody else gets the port
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        async with open_warm(QueueAddress.at(URL), SendLimits()) as queue:
            with pytest.raises(QueueUnavailable) as error:
                await send(queue)
            async with raw_server(acknowledge, listener=listener):
                assert await send(queue) == [None, None, None]
    assert error.value.cause == "ConnectionRefusedError"


async def test_credentials_that_come_after_the_start(sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source of the credentials, such as a metadata service, may answer later than the process starts."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "late")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        assert await send(queue) == [None, None, None]
    assert error.value.cause == "NoCredentialsError"


async def test_a_source_of_credentials_that_fails_at_the_start(
    sqs: SqsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process starts nevertheless. For example, the agent of EKS Pod Identity may start later than the process."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://refused-by-botocore.example")
    async with open_warm(QueueAddress.at(sqs.queue_url), SendLimits()) as queue:
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
    assert error.value.cause == "ValueError"


async def test_credentials_that_hang(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls that reach their deadlines meanwhile share one thread, and a later call succeeds."""
    monkeypatch.setattr(lean, "WARM_SECONDS", 0.05)
    give, asked, go_on = Account.credentials, [], threading.Event()

    def credentials(account: Account) -> Credentials:
        asked.append(account)
        go_on.wait(60)
        return give(account)

    monkeypatch.setattr(Account, "credentials", credentials)
    async with raw_sqs(acknowledge, monkeypatch) as (_, queue):
        for _ in range(3):
            with pytest.raises(QueueUnavailable):
                await send(queue, 0.05)
        asked_meanwhile = len(asked)
        go_on.set()
        assert await send(queue) == [None, None, None]
    assert asked_meanwhile == 1


async def test_idle_connections_that_have_ended_unnoticed(
    known: list[Credentials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A firewall forgets idle connections, and resets each one when it is used again. One retry is enough then."""
    idle = lean_calls.ATTEMPTS + 1

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.connection < idle:
            reset(writer)
        else:
            writer.write(acknowledged(request))

    async with raw_sqs(answer, monkeypatch, calls=idle) as (server, queue):
        assert await send(queue) == [None, None, None]
    assert [request.connection >= idle for request in server.requests] == [False, True]


NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("host", "until", "trusted", "cause"),
    [
        ("127.0.0.1", NOW + timedelta(days=1), True, None),
        ("sqs.example", NOW + timedelta(days=1), True, "SSLCertVerificationError"),
        ("127.0.0.1", NOW - timedelta(days=1), True, "SSLCertVerificationError"),
        ("127.0.0.1", NOW + timedelta(days=1), False, "SSLCertVerificationError"),
    ],
)
async def test_a_certificate(
    host: str,
    until: datetime,
    trusted: bool,
    cause: str | None,
    known: list[Credentials],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """If the certificate is another host's, expired, or of an unknown CA, the client sends no data."""
    ca, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(host, not_before=NOW - timedelta(days=9), not_after=until).configure_cert(context)
    bundle = tmp_path / "bundle.pem"
    (ca if trusted else other).cert_pem.write_to_path(str(bundle))
    monkeypatch.setenv("AWS_CA_BUNDLE", str(bundle))

    async with raw_sqs(acknowledge, monkeypatch, context) as (server, queue):
        if cause is None:
            assert await send(queue) == [None, None, None]
            return
        with pytest.raises(QueueUnavailable) as error:
            await send(queue)
    assert (error.value.cause, server.requests) == (cause, [])


@pytest.mark.parametrize(
    ("endpoint", "proxies", "allowed"),
    [
        ("https://sqs.example", {"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "other.example"}, False),
        ("http://sqs.example", {"http_proxy": "http://proxy:1"}, False),
        ("https://sqs.example", {"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "sqs.example"}, True),
        ("https://sqs.example", {"NO_PROXY": "other.example"}, True),
        ("https://sqs.example", {"HTTP_PROXY": "http://proxy:1"}, True),  # botocore's clients go direct, too
    ],
)
def test_a_proxy(
    endpoint: str,
    proxies: dict[str, str],
    allowed: bool,
    sqs: SqsStandIn,
    no_proxies: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If a proxy would be used, the start fails, and the error names the variable."""
    for name, value in {"AWS_ENDPOINT_URL": endpoint, **proxies}.items():
        monkeypatch.setenv(name, value)
    if allowed:
        assert Account().endpoint.hostname == "sqs.example"
        return
    with pytest.raises(ConfigurationError, match=f"(?i)[(]{next(iter(proxies))}[)]"):
        Account()


async def test_an_answer_to_another_call(known: list[Credentials], monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer to another call acknowledges nothing, because no two calls have an entry's id in common."""
    answers: list[bytes] = []

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        answers.append(acknowledged(request))
        writer.write(answers[0])

    async with raw_sqs(answer, monkeypatch) as (_, queue):
        assert await send(queue) == [None, None, None]
        assert {type(refused) for refused in await send(queue)} == {QueueUnavailable}
