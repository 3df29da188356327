"""The clients' SQS: a stand-in that waits and fails on demand."""

from collections.abc import Iterator

import pytest

from tests.harness import queues
from tests.harness.sqs_stand_in import SqsStandIn


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqsStandIn]:
    with SqsStandIn() as stand_in:
        for name, value in queues.environment(stand_in.endpoint).items():
            monkeypatch.setenv(name, value)
        yield stand_in
