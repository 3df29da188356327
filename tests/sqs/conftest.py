"""The clients' SQS: a stand-in that waits and fails on demand."""

import os
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


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
