"""The lean client sends the same bytes as the general-purpose client, to any queue process."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.events import Event
from app.sqs.lean import open_lean
from app.sqs.message import Message, to_message
from app.sqs.native import open_queue
from app.sqs.queue import BatchQueue, QueueAddress, SendLimits
from app.telemetry.record import CallRecord
from loadtest.stage import queues
from loadtest.stage.queues import Embedded, QueueProcess
from loadtest.stage.stand_in import StandIn
from local.embedded_aws import EmbeddedAws
from local.sample_events import default_file
from local.tls import Certificates, certificates
from tests.harness.queues import drain

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("built")]

DEFAULT = json.loads(default_file().read_bytes())
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), max_size=50)
RECEIVED = datetime(2026, 1, 2, tzinfo=UTC)


def _messages(number: int) -> list[Message]:
    """Returns messages whose events have random texts in keys and values, escaped or not, indented or not."""
    bodies: list[bytes] = []

    @settings(max_examples=number, database=None)
    @given(
        st.dictionaries(TEXT, TEXT | st.integers(), max_size=5), TEXT, st.booleans(), st.sampled_from([None, 1, "\t"])
    )
    def collect(extra: dict[str, Any], customer: str, ascii_only: bool, indent: int | str | None) -> None:
        invoice = DEFAULT["content"]["invoice"] | {"customer_id": customer or "c"}
        unknown = {f"x{name}": value for name, value in extra.items()}
        event = {**unknown, **DEFAULT, "content": {"invoice": invoice}}
        bodies.append(json.dumps(event, ensure_ascii=ascii_only, indent=indent).encode())

    collect()
    return [to_message(Event.model_validate_json(body), body, fifo=False, received_at=RECEIVED) for body in bodies]


STARTED: dict[str, Callable[[Certificates | None], QueueProcess]] = {
    "stand-in": lambda tls: StandIn(tls=tls),
    "embedded": Embedded,
}


@pytest.fixture(params=["plain", "TLS"])
def tls(request: pytest.FixtureRequest) -> Iterator[Certificates | None]:
    with nullcontext() if request.param == "plain" else certificates(0.02) as issued:
        yield issued


@pytest.fixture(params=STARTED)
def kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture
def new_client(
    kind: str, tls: Certificates | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], "SQSClient"]]:
    """Yields a function that makes a boto3 client for a queue process. Other clients find the process by variables.

    It is a function, because a client that was idle for a minute may find its connection closed.
    """
    process = STARTED[kind](tls)
    process.start()
    for name, value in EmbeddedAws(0, process.endpoint, tls.bundle if tls else None).environment().items():
        monkeypatch.setenv(name, value)
    yield lambda: queues.client(process.endpoint, tls.ca if tls else None)
    process.kill()


@pytest.mark.parametrize("opened", [open_queue, open_lean], ids=["native", "lean"])
async def test_what_is_sent_arrives(
    new_client: Callable[[], "SQSClient"],
    opened: Callable[[QueueAddress, SendLimits], AbstractAsyncContextManager[BatchQueue]],
    kind: str,
    thorough: bool,
) -> None:
    """Both clients deliver every body and its attributes unchanged, and exactly once."""
    # Fewer for the emulators, which take a hundred milliseconds for ten messages.
    messages = _messages(200 if not thorough else 10_000 if kind == "stand-in" else 1000)
    url = new_client().create_queue(QueueName="sent")["QueueUrl"]
    async with opened(QueueAddress.at(url), SendLimits()) as queue:
        deadline = asyncio.get_running_loop().time() + 300
        for start in range(0, len(messages), 10):
            outcomes = await queue.send_batch(messages[start : start + 10], deadline, CallRecord("SendMessageBatch"))
            assert set(outcomes) == {None}
    arrived = await asyncio.to_thread(drain, new_client(), url)
    assert _counted(arrived) == _counted([(message.body.encode(), message.attributes) for message in messages])


def _counted(messages: list[tuple[bytes, dict[str, str]]]) -> Counter[tuple[bytes, tuple[tuple[str, str], ...]]]:
    return Counter((body, tuple(sorted(attributes.items()))) for body, attributes in messages)
