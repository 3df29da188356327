"""A stand-in for SQS whose responses wait until a test releases them."""

from collections.abc import Iterator

import pytest

from tests.harness.sqs_stand_in import SqsStandIn


@pytest.fixture(scope="module")
def stand_in() -> Iterator[SqsStandIn]:
    with SqsStandIn() as made:
        yield made


@pytest.fixture
def held(stand_in: SqsStandIn) -> Iterator[None]:
    """Clears calls and messages. Delays the responses to SendMessageBatch until the test calls `stand_in.release()`."""
    stand_in.calls.clear()
    stand_in.messages.clear()
    stand_in.hold("SendMessageBatch")
    yield
    stand_in.release()
