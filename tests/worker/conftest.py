"""Gives each test its own queues on the queue process of --queue, and starts workers on them."""

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from app.worker.work import PREFETCH
from loadtest.stage.queues import QueueProcess, client
from tests.billing.conftest import api, embedded, stage
from tests.billing.stage import Stage
from tests.harness import queues
from tests.harness.service import Web, clean_environment
from tests.worker.controller import Controller
from tests.worker.subject import CONTROLLER, NAME, PREFETCHED

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

__all__ = ["api", "embedded", "stage"]  # fixtures of the billing work's tests
WANTED_RECEIVES = 1000


@dataclass(frozen=True)
class Pair:
    """A queue and its dead-letter queue."""

    sqs: "SQSClient"
    endpoint: str
    url: str
    dead_url: str

    @property
    def fifo(self) -> bool:
        return self.url.endswith(".fifo")

    def send(self, body: bytes | str, group: str = "g", **attributes: str) -> str:
        """Sends a message and returns its id."""
        text = body if isinstance(body, str) else body.decode()
        typed: Any = {name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()}
        ids: Any = {"MessageGroupId": group, "MessageDeduplicationId": uuid.uuid4().hex} if self.fifo else {}
        return self.sqs.send_message(QueueUrl=self.url, MessageBody=text, MessageAttributes=typed, **ids)["MessageId"]

    def dead_letters(self) -> list[tuple[str, dict[str, str]]]:
        """Takes the bodies and attributes out of the dead-letter queue."""
        return [(body.decode(), attributes) for body, attributes in queues.drain(self.sqs, self.dead_url)]

    def counts(self) -> tuple[int, int]:
        """Returns how many messages are visible, and how many are in flight."""
        found: Any = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])["Attributes"]
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return int(found[names[0]]), int(found[names[1]])


def make_pair(endpoint: str, *, fifo: bool = False, receives: int = WANTED_RECEIVES) -> Pair:
    sqs = client(endpoint)
    name, suffix = f"test-{uuid.uuid4().hex}", ".fifo" if fifo else ""
    kind: Any = {"FifoQueue": "true"} if fifo else {}
    dead = sqs.create_queue(QueueName=f"{name}-dead{suffix}", Attributes=kind)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})
    url = sqs.create_queue(QueueName=f"{name}{suffix}", Attributes={**kind, "RedrivePolicy": policy})["QueueUrl"]
    return Pair(sqs, endpoint, url, dead)


@pytest.fixture
def pair(aws: QueueProcess) -> Pair:
    return make_pair(aws.endpoint)


@pytest.fixture
def fifo_pair(aws: QueueProcess) -> Pair:
    return make_pair(aws.endpoint, fifo=True)


def with_billing(pair: Pair, stage: Stage) -> dict[str, str]:
    """Returns the environment of a worker with the billing work."""
    ours = {
        "sqs_queue_url": pair.url,
        "dead_letter_queue_url": pair.dead_url,
        "billing_table": stage.table,
        "chargebee_url": stage.api.url,
        "chargebee_api_key": stage.api.api_key,
        "chargebee_rate": 1_000_000,
        "port": 0,
    }
    return clean_environment(**ours) | queues.environment(pair.endpoint)


@pytest.fixture
def controller() -> Iterator[Controller]:
    with Controller() as controller:
        yield controller


StartWorker = Callable[..., Web]


@pytest.fixture
def start_worker(controller: Controller) -> Iterator[StartWorker]:
    """Starts a worker on a pair, with a name for the controller; it is ended with the test."""
    with ExitStack() as stack:

        def start(
            pair: Pair, name: str = "one", endpoint: str | None = None, prefetch: int = PREFETCH, **settings: object
        ) -> Web:
            ours = {"port": 0, "sqs_queue_url": pair.url, "dead_letter_queue_url": pair.dead_url, **settings}
            environment = clean_environment(**ours) | queues.environment(endpoint or pair.endpoint)
            environment |= {CONTROLLER: str(controller.port), NAME: name, PREFETCHED: str(prefetch)}
            return stack.enter_context(Web(environment, command=[sys.executable, "-m", "tests.worker.subject"]))

        yield start


@pytest.fixture
def event_named(event: bytes) -> Callable[[str], bytes]:
    """The default event with another id."""
    parsed = json.loads(event)
    return lambda event_id: json.dumps({**parsed, "id": event_id}).encode()
