"""Finds a customer's billable events in the table, reserves the events for an invoice, and marks the events as billed.

Each event is reserved before it is charged, so an event without `invoice_id` was never charged. An event that is
reserved for another invoice is never charged on this invoice, even if the periods of the two invoices overlap.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from app.billing.charges import Billable, between, billable_key, chargeable
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table
from app.billing.items import Update, text, typed
from app.billing.line_items import Period


class Billables:
    """The billable events of one customer that one invoice may charge."""

    def __init__(self, table: Table, customer_id: str, invoice_id: str) -> None:
        self._table = table
        self._customer, self._invoice = customer_id, invoice_id

    async def find(self, period: Period) -> list[Billable]:
        """Returns the events of the period that no other invoice has reserved.

        Raises TableUnavailable, or Unprocessable if an item is invalid.
        """
        first, last = between(period)
        items = self._table.query(
            KeyConditionExpression="#pk = :customer AND #sk BETWEEN :first AND :last",
            # Items whose `invoice_id` is empty or not a string match, too: `chargeable` rejects such items.
            FilterExpression="attribute_not_exists(#invoice_id) OR #invoice_id IN (:invoice, :empty)"
            " OR NOT attribute_type(#invoice_id, :text)",
            ExpressionAttributeNames={"#pk": "pk", "#sk": "sk", "#invoice_id": "invoice_id"},
            ExpressionAttributeValues={
                ":customer": typed(f"customer#{self._customer}"),
                ":first": typed(first),
                ":last": typed(last),
                ":invoice": typed(self._invoice),
                ":empty": typed(""),
                ":text": typed("S"),
            },
        )
        return [chargeable(self._customer, item) async for item in items]

    async def reserve(self, billables: Sequence[Billable]) -> list[Billable]:
        """Reserves the events and returns the reserved ones, without those that another invoice has reserved meanwhile.

        Raises TableUnavailable.
        """
        reserved: list[Billable] = []
        for start in range(0, len(billables), TRANSACTION):
            reserved += await self._reserve(billables[start : start + TRANSACTION])
        return reserved

    async def _reserve(self, billables: Sequence[Billable]) -> Sequence[Billable]:
        while billables:
            try:
                now = int(time.time())
                await self._table.write([self._reserved(billable, now) for billable in billables])
                return [replace(billable, invoice_id=self._invoice, reserved_at=now) for billable in billables]
            except ConditionFailed as failed:
                billables = [
                    billable
                    for billable, item in zip(billables, failed.items, strict=True)
                    if item is None or text(item, "invoice_id") == self._invoice
                ]
        return billables

    async def free(self, billables: Sequence[Billable]) -> None:
        """Removes the reservations of `billables`, which must not be on the invoice. Raises TableUnavailable."""
        for billable in billables:
            try:
                await self._table.update(self._freed(billable))
            except ConditionFailed:
                continue  # the event is billed, or no longer reserved for this invoice

    async def free_all(self) -> None:
        """Removes the invoice's reservations of all periods, except for billed events.

        Raises TableUnavailable, or Unprocessable if an item is invalid.
        """
        items = self._table.query(
            KeyConditionExpression="#pk = :customer AND begins_with(#sk, :billable)",
            FilterExpression="#invoice_id = :invoice AND attribute_not_exists(#billed_at)",
            ExpressionAttributeNames={"#pk": "pk", "#sk": "sk", "#invoice_id": "invoice_id", "#billed_at": "billed_at"},
            ExpressionAttributeValues={
                ":customer": typed(f"customer#{self._customer}"),
                ":billable": typed("billable#"),
                ":invoice": typed(self._invoice),
            },
        )
        await self.free([chargeable(self._customer, item) async for item in items])

    def billed(self, billables: Sequence[Billable]) -> list[Update]:
        """Returns the updates that mark the events as billed. Write the updates only after the invoice is closed."""
        return [
            self._update(billable, "SET #billed_at = :now", "#invoice_id = :invoice", now=int(time.time()))
            for billable in billables
            if billable.billed_at is None
        ]

    async def mark(self, updates: Sequence[Update]) -> None:
        """Writes `updates`, which `billed` has returned, for an attempt that fails. Raises TableUnavailable.

        If an attempt succeeds, `Lease.finish` writes the updates instead.
        """
        for start in range(0, len(updates), TRANSACTION):
            await self._table.write(updates[start : start + TRANSACTION])

    def _reserved(self, billable: Billable, now: int) -> Update:
        free = "attribute_exists(#pk) AND (attribute_not_exists(#invoice_id) OR #invoice_id = :invoice)"
        return self._update(billable, "SET #invoice_id = :invoice, #reserved_at = :now", free, now=now)

    def _freed(self, billable: Billable) -> Update:
        unbilled = "#invoice_id = :invoice AND attribute_not_exists(#billed_at)"
        return self._update(billable, "REMOVE #invoice_id, #reserved_at", unbilled)

    def _update(self, billable: Billable, change: str, condition: str, **values: int) -> Update:
        return Update(billable_key(self._customer, billable), change, condition, invoice=self._invoice, **values)
