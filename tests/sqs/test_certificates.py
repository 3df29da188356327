"""All clients of AWS verify the server's certificate: its CA, its dates and its host, with and without a proxy."""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from botocore.httpsession import create_urllib3_context
from botocore.retries.standard import ExponentialBackoff

from app.billing.dynamodb import open_table
from app.errors import QueueUnavailable
from app.sqs.account import Account
from app.sqs.blocking import build_queue
from app.sqs.lean import open_lean
from app.sqs.message import Message
from app.sqs.native import open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.telemetry.record import CallRecord, unobserved
from app.worker.consumed_queue import open_queues
from tests.harness import queues
from tests.harness.connect_proxy import ConnectProxy
from tests.sqs.test_sqs_connection import Request, raw_server, whole

pytestmark = pytest.mark.anyio

ADDRESS = QueueAddress.at("https://sqs/000000000000/invoices")
LIMITS = SendLimits(calls=1)
NOW = datetime.now(UTC)


async def blocking() -> None:
    await asyncio.to_thread(lambda: build_queue(ADDRESS, LIMITS).resolve())


async def native() -> None:
    async with open_queue(ADDRESS, LIMITS) as queue:
        await queue.send(Message("body", {}, 4))


async def lean() -> None:
    async with open_lean(ADDRESS, LIMITS) as queue:
        deadline = asyncio.get_running_loop().time() + 10
        await queue.send_batch([Message("body", {}, 4)], deadline, CallRecord("SendMessageBatch"))


async def worker() -> None:
    async with open_queues(ADDRESS, ADDRESS, 10, unobserved) as (queue, _):
        await queue.attributes("All")


async def table() -> None:
    async with open_table("billing", 1) as opened:
        await opened.get_all([{"pk": {"S": "event#1"}, "sk": {"S": "-"}}])


CLIENTS = [blocking, native, worker, table]
CERTIFICATES = [
    ("127.0.0.1", NOW + timedelta(days=1), True, True),
    ("sqs.example", NOW + timedelta(days=1), True, False),
    ("127.0.0.1", NOW - timedelta(days=1), True, False),
    ("127.0.0.1", NOW + timedelta(days=1), False, False),
]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in queues.environment("https://127.0.0.1:9").items():
        monkeypatch.setenv(name, value)
    for name in ("NO_PROXY", "no_proxy", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)  # botocore's retries


def certified(host: str, until: datetime, trusted: bool, bundle: Path) -> ssl.SSLContext:
    """Returns a server's context, and writes the CA bundle of the clients."""
    ca, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(host, not_before=NOW - timedelta(days=9), not_after=until).configure_cert(context)
    (ca if trusted else other).cert_pem.write_to_path(str(bundle))
    return context


async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(b'{"QueueUrl": "https://sqs/000000000000/invoices"}'))


@pytest.mark.parametrize(("host", "until", "trusted", "accepted"), CERTIFICATES)
@pytest.mark.parametrize(
    ("client", "proxied", "variable"),
    [
        *((client, proxied, "AWS_CA_BUNDLE") for client in CLIENTS for proxied in (False, True)),
        *((client, False, "REQUESTS_CA_BUNDLE") for client in (*CLIENTS, lean)),
        (lean, False, "AWS_CA_BUNDLE"),
    ],
)
async def test_a_certificate(
    client: Callable[[], Awaitable[None]],
    proxied: bool,
    variable: str,
    host: str,
    until: datetime,
    trusted: bool,
    accepted: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """If the certificate is another host's, expired, or of an unknown CA, no client sends data."""
    context = certified(host, until, trusted, tmp_path / "bundle.pem")
    monkeypatch.setenv(variable, str(tmp_path / "bundle.pem"))
    async with raw_server(answer, context) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"https://127.0.0.1:{server.port}")
        with ConnectProxy(None, server.port) as proxy:
            if proxied:
                monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
            with contextlib.suppress(Exception):  # the answer to another call than GetQueueUrl is no answer
                await client()
    assert {head.split()[1] for head in proxy.heads} == ({f"127.0.0.1:{server.port}"} if proxied else set())
    assert bool(server.requests) is accepted


async def test_the_certificate_of_sts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A client that fetches credentials with a pod's token sends the token only to the right host."""
    context = certified("sts.example", NOW + timedelta(days=1), True, tmp_path / "bundle.pem")
    token = tmp_path / "token"
    token.write_text("token", encoding="utf-8")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    variables = {"AWS_CA_BUNDLE": tmp_path / "bundle.pem", "AWS_WEB_IDENTITY_TOKEN_FILE": token}
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/web")
    async with raw_server(answer, context) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"https://127.0.0.1:{server.port}")
        with pytest.raises(QueueUnavailable) as error:
            await native()
    assert error.value.cause == "SSLError"
    assert server.requests == []


def test_the_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lean client's context has botocore's parameters, and checks the host name itself."""
    found, botocores = Account().tls, create_urllib3_context()
    assert found is not None
    for name in ("protocol", "verify_mode", "verify_flags", "options", "minimum_version", "maximum_version"):
        assert getattr(found, name) == getattr(botocores, name), name
    assert found.check_hostname
    assert found.get_ca_certs()
