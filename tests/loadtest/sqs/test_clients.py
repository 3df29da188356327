"""The lean client sends what the general-purpose one sends, byte for byte."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.events import Event
from app.local.embedded_aws import EmbeddedAws
from app.local.sample_events import default_file
from app.local.tls import Certificates, certificates
from app.settings import Settings
from app.sqs.lean import open_lean
from app.sqs.message import Message, to_message
from app.sqs.native import open_queue
from app.sqs.queue import BatchQueue
from loadtest.stage import queues
from loadtest.stage.stand_in import Digests, StandIn

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("built")]

DEFAULT = json.loads(default_file().read_bytes())
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), max_size=50)
Served = tuple[StandIn, Certificates | None]
RECEIVED = datetime(2026, 1, 2, tzinfo=UTC)


def _messages(number: int) -> list[Message]:
    """Of events with any text in keys and values, escaped or not, indented or not."""
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


@pytest.fixture(params=["plain", "TLS"])
def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """The stand-in, and an environment in which clients use it."""
    with nullcontext() if request.param == "plain" else certificates(0.02) as tls:
        stand_in = StandIn(bodies=False, tls=tls)
        stand_in.start()
        for name, value in EmbeddedAws(0, stand_in.endpoint, tls.bundle if tls else None).environment().items():
            monkeypatch.setenv(name, value)
        yield stand_in, tls
        stand_in.kill()


async def test_the_same_messages(served: Served, thorough: bool) -> None:
    """Bodies and attributes arrive alike through both, once each."""
    stand_in, tls = served
    messages = _messages(10_000 if thorough else 500)
    client = queues.client(stand_in.endpoint, tls.ca if tls else None)
    seen = [
        await _sent(stand_in, client.create_queue(QueueName=name)["QueueUrl"], opened, messages)
        for name, opened in (("native", open_queue), ("lean", open_lean))
    ]
    assert seen[0] == seen[1]
    assert seen[0].count == len(messages)


async def _sent(
    stand_in: StandIn,
    url: str,
    opened: Callable[[Settings], AbstractAsyncContextManager[BatchQueue]],
    messages: list[Message],
) -> Digests:
    async with opened(Settings(sqs_queue_url=url)) as queue:
        deadline = asyncio.get_running_loop().time() + 300
        for start in range(0, len(messages), 10):
            outcomes = await queue.send_batch(messages[start : start + 10], deadline)
            assert set(outcomes) == {None}
    return stand_in.digests(url)
