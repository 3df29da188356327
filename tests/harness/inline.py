"""Runs v01, with DynamoDB and a stand-in for Chargebee instead of a queue."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import httpx

from local import embedded_aws
from local.chargebee.chargebee_start import start as start_chargebee
from local.local_run import LocalRun
from local.resources import create_table
from local.sample_events import default_file
from local.seeding import charges, seed
from tests.harness.service import NO_CAS, Service


class Inline:
    """The table and the stand-in for Chargebee that v01 uses. `run`: the local run that `local.seeding` seeds.

    `billed`: the ids of the events that earlier tests have billed.
    """

    def __init__(self, run: LocalRun, dynamodb: Any) -> None:
        self.run = run
        self.dynamodb = dynamodb
        self.billed: set[str] = set()

    def settings(self) -> dict[str, object]:
        run = self.run
        return {
            "release": "v01_inline",
            "billing_table": run.table,
            "chargebee_url": run.chargebee,
            "chargebee_api_key": run.chargebee_api_key,
        }

    def behave(self, **behaviour: Any) -> None:
        httpx.put(f"{self.run.chargebee}/_/behaviour", json=behaviour, verify=NO_CAS, timeout=60).raise_for_status()

    def put(self, item: dict[str, Any]) -> None:
        """Writes an item to the table."""
        self.dynamodb.put_item(TableName=self.run.table, Item=item)

    def items(self, body: bytes) -> list[Any]:
        """Returns the billable events of the webhook's customer."""
        customer = json.loads(body)["content"]["invoice"]["customer_id"]
        found: list[Any] = self.dynamodb.query(
            TableName=self.run.table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"customer#{customer}"}},
        )["Items"]
        return found

    def calls(self, kind: str) -> int:
        """Returns how many calls of this kind the stand-in has answered."""
        found: dict[str, list[float]] = self._audit()["calls"].get(kind, {})
        return sum(len(times) for times in found.values())

    def invoice(self, body: bytes) -> Any:
        """Returns the audit of the webhook's invoice."""
        invoice_id = json.loads(body)["content"]["invoice"]["id"]
        return next(invoice for invoice in self._audit()["invoices"] if invoice["id"] == invoice_id)

    def _audit(self) -> Any:
        return httpx.get(f"{self.run.chargebee}/_/audit", verify=NO_CAS, timeout=60).json()


def charged(invoice: Any) -> list[str]:
    """Returns the ids of the billable events that are charged on an invoice."""
    return [charge["billable"] for charge in invoice["charges"]]


def expected(body: bytes) -> list[str]:
    """Returns the ids of the billable events of a webhook."""
    return [billable.id for billable in charges(json.loads(body))]


@contextmanager
def open_inline(endpoint: str, **behaviour: Any) -> Iterator[Inline]:
    """Yields a new table in the embedded AWS at `endpoint`, and a new stand-in for Chargebee."""
    dynamodb = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name=embedded_aws.REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    table = create_table(dynamodb)
    with start_chargebee(**{"rate": 1_000_000, **behaviour}) as api:
        yield Inline(LocalRun(0, endpoint, "", "", api.url, api.api_key, table), dynamodb)
    dynamodb.close()


class InlineService(Service):
    """A v01 service that seeds the invoice and the usage of each webhook before it posts the webhook.

    `processed`: the bodies of the webhooks that were answered 200 with the status `processed`.
    """

    def __init__(self, inline: Inline, **settings: object) -> None:
        super().__init__(inline.run.endpoint, None, **{**inline.settings(), **settings})
        self.inline = inline
        self.processed: list[bytes] = []
        seed(inline.run, [default_file().read_bytes()])  # for tests that send the default event without `post`

    def post(self, body: bytes, **options: Any) -> httpx.Response:
        if isinstance(body, bytes):  # otherwise, the body is an iterator of pieces
            seed(self.inline.run, [body])
        response = super().post(body, **options)
        if response.status_code == 200 and response.json()["status"] == "processed":
            self.processed.append(body)
        return response


class Billed:
    """Implements `Queued` for v01: the webhooks that were billed.

    The first delivery of each event must have made one `close` call. Later deliveries find the charges in the table.
    """

    def __init__(self, service: InlineService) -> None:
        self._service = service
        self.clear()

    def clear(self) -> None:
        inline = self._service.inline
        self._closes = inline.calls("close")
        inline.billed |= {json.loads(body)["id"] for body in self._service.processed}
        self._service.processed.clear()

    def messages(self) -> list[tuple[bytes, dict[str, str]]]:
        taken = [(body, dict[str, str]()) for body in self._service.processed]
        closes, billed = self._closes, len(self._service.inline.billed)
        self.clear()
        assert self._closes - closes == len(self._service.inline.billed) - billed
        return taken

    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.messages()]
