"""A stand-in of SQS whose answers wait until a test releases them."""

from collections.abc import Iterator

import pytest

from tests.harness.sqs_stand_in import SqsStandIn


@pytest.fixture(scope="module")
def sqs() -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        yield stand_in


@pytest.fixture
def held(sqs: SqsStandIn) -> Iterator[None]:
    """Begins without calls and messages, and holds the answers of SendMessageBatch until `sqs.release()`."""
    sqs.calls.clear()
    sqs.messages.clear()
    sqs.hold("SendMessageBatch")
    yield
    sqs.release()
