"""One stand-in for all of these tests, and a separate queue for each test."""

import subprocess
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from loadtest.record.folders import ROOT
from loadtest.stage.queues import client
from loadtest.stage.stand_in import BINARY, StandIn
from tests.harness.missing import require_go

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


@pytest.fixture(scope="session")
def built() -> None:
    """Builds the binary from the present sources. If Go is missing, skips the test, or fails it in CI."""
    require_go()
    subprocess.run(["make", "--silent", str(BINARY.relative_to(ROOT))], cwd=ROOT, check=True)


@pytest.fixture(scope="session")
def keeping(built: None) -> Iterator[StandIn]:
    """Starts a stand-in that stores the bodies of messages."""
    process = StandIn()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def stand_in(keeping: StandIn) -> Iterator[StandIn]:
    """Yields the shared stand-in, and removes its faults after the test."""
    yield keeping
    keeping.faults()


@pytest.fixture(scope="session")
def sqs(keeping: StandIn) -> Iterator["SQSClient"]:
    sqs = client(keeping.endpoint)
    yield sqs
    sqs.close()


@pytest.fixture
def queue_url(sqs: "SQSClient") -> str:
    return sqs.create_queue(QueueName=f"test-{uuid.uuid4().hex}")["QueueUrl"]


@pytest.fixture
def fifo_url(sqs: "SQSClient") -> str:
    return sqs.create_queue(QueueName=f"test-{uuid.uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
