"""The attempts of a call: which errors are retried, how long an attempt may take, and what a failure says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import botocore.session
import pytest
from botocore.retries.standard import RetryContext, StandardRetryConditions

from app.errors import QueueUnavailable
from app.sqs import lean, native
from app.sqs.blocking import build_queue
from app.sqs.lean import open_lean
from app.sqs.lean_answers import SqsError
from app.sqs.message import Message
from app.sqs.native import open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.sqs.sqs_connection import HttpResponse
from app.telemetry.record import CallRecord
from tests.harness import queues
from tests.sqs.test_lean import FOUND, URL, acknowledged, failing
from tests.sqs.test_sqs_connection import Answering, Request, raw_server, whole

pytestmark = pytest.mark.anyio

ADDRESS = QueueAddress.at(URL)
MESSAGE = Message("body", {}, 4)
Send = Callable[[], Any]
Client = Callable[[SendLimits], AbstractAsyncContextManager[Send]]


@asynccontextmanager
async def blocking(limits: SendLimits) -> AsyncIterator[Send]:
    queue = await asyncio.to_thread(build_queue, ADDRESS, limits)
    yield lambda: asyncio.to_thread(queue.send, MESSAGE)


@asynccontextmanager
async def single(limits: SendLimits) -> AsyncIterator[Send]:
    async with open_queue(ADDRESS, limits) as queue:
        yield lambda: queue.send(MESSAGE)


async def outcome(queue: Any, limits: SendLimits) -> None:
    deadline = asyncio.get_running_loop().time() + limits.deadline
    [refused] = await queue.send_batch([MESSAGE], deadline, CallRecord("SendMessageBatch"))
    if refused is not None:
        raise refused


@asynccontextmanager
async def batches(limits: SendLimits) -> AsyncIterator[Send]:
    async with open_queue(ADDRESS, limits) as queue:
        await queue.warm()
        yield lambda: outcome(queue, limits)


@asynccontextmanager
async def lean_batches(limits: SendLimits) -> AsyncIterator[Send]:
    async with open_lean(ADDRESS, limits) as queue:
        await queue.warm()
        yield lambda: outcome(queue, limits)


CLIENTS = [blocking, single, batches, lean_batches]


@asynccontextmanager
async def served(
    answer: Answering, client: Client, monkeypatch: pytest.MonkeyPatch, seconds: float = 20
) -> AsyncIterator[tuple[Any, Send]]:
    async with raw_server(answer) as server:
        for name, value in queues.environment(f"http://127.0.0.1:{server.port}").items():
            monkeypatch.setenv(name, value)
        async with client(SendLimits(seconds, calls=2)) as send:
            yield server, send


@pytest.mark.parametrize("client", CLIENTS)
async def test_an_idle_connection_that_has_gone_silent(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt on it ends early enough for another one, on a new connection, before the call's deadline."""
    monkeypatch.setattr(native, "WARM_CONNECTIONS", 1)
    silent = [-1]

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.connection > silent[0]:
            writer.write(acknowledged(request))

    async with served(answer, client, monkeypatch, seconds=3) as (server, send):
        await send()
        silent[0] = len(server.tasks) - 1
        await send()
    assert server.requests[-1].connection > silent[0]


# As boto3's and aioboto3's parsers report them, with codes that SQS and other services of AWS use.
CHECKER: Any = vars(StandardRetryConditions())["_additional_checkers"]
CODES = sorted(
    {
        *(code for checker in CHECKER._checkers[:1] for code in checker._transient_error_codes),
        *(code for checker in CHECKER._checkers[1:2] for code in checker._throttled_error_codes),
        *("InternalError", "InternalFailure", "ServiceUnavailable", "KmsThrottled", "OverLimit", "AccessDenied"),
        *("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "InvalidParameterValue", "Http400"),
    }
)
STATUSES = [400, 403, 404, 408, 429, 500, 501, 502, 503, 504, 505, 507, 599]


@pytest.fixture(scope="module")
def operation() -> Any:
    return botocore.session.Session().get_service_model("sqs").operation_model("SendMessageBatch")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("code", CODES)
async def test_what_is_retried(code: str, status: int, operation: Any) -> None:
    """The lean client retries the answers that botocore's standard mode retries, and no others."""
    response = HttpResponse(status, {}, json.dumps({"__type": f"com.amazonaws.sqs#{code}"}).encode())
    http = type("Response", (), {"status_code": status})
    context = RetryContext(1, operation, {"Error": {"Code": code}}, http)
    assert SqsError(response).transient is CHECKER.is_retryable(context)


@pytest.mark.parametrize("client", [batches, lean_batches])
@pytest.mark.parametrize("code", ["RequestTimeout", "PriorRequestNotComplete", "RequestThrottled"])
async def test_a_code_that_is_retried(client: Client, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients of v09 to v11 make three calls."""
    calls = 0

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += b"SendMessageBatch" in request.head
        writer.write(FOUND if b"GetQueueUrl" in request.head else failing(code))

    async with served(answer, client, monkeypatch) as (_, send):
        with pytest.raises(QueueUnavailable):
            await send()
    assert calls == 3


def answering(action: bytes, wrong: bytes) -> Answering:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(wrong if action in request.head else acknowledged(request))
        if not wrong:
            writer.close()

    return answer


DENIED = failing("AccessDenied")
ENTRY = b'{"Failed": [{"Id": "%d-0", "Code": "AccessDenied", "SenderFault": %s}]}'


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("action", "wrong", "sent"),
    [
        (b"GetQueueUrl", DENIED, False),
        (b"SendMessage", DENIED, False),
        (b"GetQueueUrl", b"", False),
        (b"SendMessage", b"", True),
        (b"SendMessage", whole(b"oops"), True),
        (b"SendMessage", whole(b"oops", status=b"500 Oops"), True),
    ],
)
async def test_whether_sqs_may_have_the_message(
    client: Client, action: bytes, wrong: bytes, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A definite rejection, or a failure before the message was sent, is known not to have enqueued the message."""
    monkeypatch.setattr(native, "WARM_CONNECTIONS", 1)
    async with served(answering(action, wrong), client, monkeypatch) as (_, send):
        with pytest.raises(QueueUnavailable) as error:
            await send()
    assert error.value.sent is sent


@pytest.mark.parametrize("client", [batches, lean_batches])
@pytest.mark.parametrize(("fault", "sent"), [(b"true", False), (b"false", True)])
async def test_whether_sqs_may_have_an_entry(
    client: Client, fault: bytes, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQS certainly has not taken an entry that failed because of the sender."""
    wrong = whole(ENTRY % (0, fault))
    async with served(answering(b"SendMessageBatch", wrong), client, monkeypatch) as (_, send):
        with pytest.raises(QueueUnavailable) as error:
            await send()
    assert error.value.sent is sent


@pytest.mark.parametrize("client", [lean_batches])
async def test_a_rejection_after_a_lost_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQS may have taken the message at the first attempt, although it rejects the second one."""
    calls = 0

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += b"SendMessage" in request.head
        if calls == 1:
            writer.close()
        else:
            writer.write(DENIED if calls else acknowledged(request))

    async with served(answer, client, monkeypatch) as (_, send):
        with pytest.raises(QueueUnavailable) as error:
            await send()
    assert (error.value.cause, error.value.sent) == ("AccessDenied", True)


@pytest.mark.parametrize(("module", "client"), [(native, batches), (lean, lean_batches)])
async def test_the_reason_why_sqs_rejects_the_start(
    module: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning at the start contains SQS's code."""
    lines: list[str] = []
    monkeypatch.setattr(module.logger, "warning", lambda text, code: lines.append(text.format(code)))
    async with served(answering(b"GetQueueUrl", DENIED), client, monkeypatch):
        pass
    assert lines == ["Cannot connect to SQS yet: AccessDenied"]
