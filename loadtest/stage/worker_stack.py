"""Runs the services that workers use: queues and a table in the embedded AWS, and the stand-in for Chargebee's API."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3

from app.sqs.message import Message, Seen
from loadtest.stage import queues
from local import embedded_aws, money_audit, seeding
from local.chargebee.chargebee_start import start as start_chargebee
from local.embedded_aws import EmbeddedAws
from local.http import ask
from local.local_run import LocalRun
from local.resources import create_queues, create_table
from local.tls import certificates
from local.usage_events import SeededBillable

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

ENTRIES_PER_BATCH = 10
SENDERS = 4


@dataclass(frozen=True)
class Rules:
    """The limits and times of the workers and of the stand-in for Chargebee.

    `rate`: the calls allowed in a minute. `errors`: the share of calls that fail. `rests`: every `rests`-th call gets a
    429 with a random Retry-After, which is sometimes absurdly high. If `rests` is 0, no call gets such a 429.

    `idempotency_s`: how long the stand-in stores idempotency keys. This must be longer than two leases plus the
    longest call; here, it is one second longer.
    """

    rate: int
    errors: float
    seed: int
    latency_s: float = 0.05
    lease_s: float = 10.0
    call_timeout_s: float = 4.0
    visibility_s: int = 15
    retry_s: float = 30.0
    concurrency: int = 10
    rests: int = 0

    @property
    def idempotency_s(self) -> float:
        return 2 * self.lease_s + self.call_timeout_s + 1


@dataclass(frozen=True)
class WorkerStack:
    """A running embedded AWS and a running stand-in for Chargebee. `run`: their addresses."""

    run: LocalRun
    aws: EmbeddedAws
    sqs: "SQSClient"
    rules: Rules

    def environment(self) -> dict[str, str]:
        """Returns the environment variables of a worker."""
        rules = self.rules
        return self.aws.environment() | {
            "APP_SQS_QUEUE_URL": self.run.queue_url,
            "APP_DEAD_LETTER_QUEUE_URL": self.run.dead_letter_queue_url,
            "APP_BILLING_TABLE": self.run.table,
            "APP_BILLING_LEASE": f"{rules.lease_s:g}",
            "APP_CHARGEBEE_URL": self.run.chargebee,
            "APP_CHARGEBEE_API_KEY": self.run.chargebee_api_key,
            "APP_CHARGEBEE_RATE": str(rules.rate),
            "APP_CHARGEBEE_TIMEOUT": f"{rules.call_timeout_s:g}",
            "APP_WORKER_VISIBILITY": str(rules.visibility_s),
            "APP_WORKER_CONCURRENCY": str(rules.concurrency),
            "APP_PORT": "0",
            "APP_LOG_FORMAT": "json",
        }

    def seed(self, events: list[dict[str, Any]], items: list[SeededBillable]) -> None:
        """Puts the invoices of `events` into Chargebee's stand-in, and `items` into the table."""
        seeding.register(self.run, events)
        seeding.write(self.run, items)

    def send(self, messages: list[Message]) -> None:
        """Sends the messages to the queue, roughly in this order. Raises RuntimeError if SQS rejects a message."""
        starts = range(0, len(messages), ENTRIES_PER_BATCH)
        with ThreadPoolExecutor(SENDERS) as pool:
            for _ in pool.map(lambda start: self._send(messages[start : start + ENTRIES_PER_BATCH]), starts):
                pass

    def _send(self, messages: list[Message]) -> None:
        entries: list[Any] = [{"Id": str(number), **message.parameters()} for number, message in enumerate(messages)]
        answer = self.sqs.send_message_batch(QueueUrl=self.run.queue_url, Entries=entries)
        if failed := answer.get("Failed"):
            raise RuntimeError(f"SQS did not take {len(failed)} messages: {failed[0]}")

    def waiting(self) -> int:
        """Returns the number of messages in the queue, including hidden and delayed messages."""
        names = [f"ApproximateNumberOfMessages{suffix}" for suffix in ("", "NotVisible", "Delayed")]
        answer = self.sqs.get_queue_attributes(QueueUrl=self.run.queue_url, AttributeNames=names)  # type: ignore[arg-type]  # the names are valid
        return sum(map(int, answer["Attributes"].values()))

    def dead_letters(self) -> list[Seen]:
        """Receives, deletes and returns all messages of the dead-letter queue."""
        found = []
        while messages := self.sqs.receive_message(
            QueueUrl=self.run.dead_letter_queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            for message in messages:
                attributes = message.get("MessageAttributes", {})
                strings = {name: value["StringValue"] for name, value in attributes.items()}
                found.append(Seen(message["Body"], strings))
                self.sqs.delete_message(QueueUrl=self.run.dead_letter_queue_url, ReceiptHandle=message["ReceiptHandle"])
        return found

    def invoices(self) -> list[dict[str, Any]]:
        """Returns summaries of all invoices at Chargebee's stand-in: see `local.chargebee.control`."""
        return money_audit.invoices(self.run.chargebee)

    def closed(self) -> int:
        """Returns the number of closed invoices at Chargebee's stand-in."""
        return sum(invoice["closed_at"] is not None for invoice in self.invoices())

    def audit(self) -> dict[str, Any]:
        """Returns the audit of Chargebee's stand-in: see `local.chargebee.control`."""
        found: dict[str, Any] = json.loads(ask(self.run.chargebee, "/_/audit"))
        return found


@contextmanager
def open_worker_stack(rules: Rules) -> Iterator[WorkerStack]:
    """Runs the embedded AWS, with TLS, and the stand-in for Chargebee inside the context."""
    behaviour: dict[str, Any] = {
        "rate": rules.rate,
        "errors": rules.errors,
        "seed": rules.seed,
        "latency": rules.latency_s,
        "idempotency_seconds": rules.idempotency_s,
        "rests": rules.rests,
    }
    with certificates() as tls, embedded_aws.start(tls=tls) as aws, start_chargebee(**behaviour) as api:
        sqs = queues.client(aws.endpoint, tls.ca)
        queue, dead_letters = create_queues(sqs)
        table = create_table(_dynamodb(aws, str(tls.ca)))
        run = LocalRun(os.getpid(), aws.endpoint, queue, dead_letters, api.url, api.api_key, table, str(aws.ca_bundle))
        yield WorkerStack(run, aws, sqs, rules)


def _dynamodb(aws: EmbeddedAws, ca: str) -> Any:
    variables = aws.environment()
    return boto3.client(
        "dynamodb",
        endpoint_url=aws.endpoint,
        verify=ca,
        region_name=variables["AWS_DEFAULT_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
    )
