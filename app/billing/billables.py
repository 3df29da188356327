"""Finds a customer's billable events in the table, reserves them for an invoice, and marks them as billed.

A reservation is the invoice's id in the attribute `invoice_id`. The worker reserves each billable event before it
charges the event, so a billable event without `invoice_id` was never charged. If a billable event is reserved for one
invoice, no other invoice charges it, even if the periods of the two invoices overlap.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.billing.charges import Billable, between, billable_key, chargeable
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table
from app.billing.items import Update, text, typed
from app.billing.line_items import Period
from app.clock import now_seconds


class Billables:
    """Reads and changes a customer's billable events in the table, on behalf of one invoice."""

    def __init__(self, table: Table, customer_id: str, invoice_id: str) -> None:
        self._table = table
        self._customer, self._invoice = customer_id, invoice_id

    async def find(self, period: Period) -> list[Billable]:
        """Returns the billable events of the period, without those that are reserved for another invoice.

        Raises TableUnavailable, or Unprocessable if an item of a billable event is invalid.
        """
        first, last = between(period)
        items = self._table.query(
            KeyConditionExpression="#pk = :customer AND #sk BETWEEN :first AND :last",
            # The filter also keeps items whose `invoice_id` is empty or not a string: `chargeable` rejects such items.
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
        """Reserves the billable events for the invoice, and returns the reserved ones.

        Leaves out billable events that were reserved for another invoice, or deleted, in the meantime.
        Raises TableUnavailable, Unprocessable.
        """
        reserved: list[Billable] = []
        for start in range(0, len(billables), TRANSACTION):
            reserved += await self._reserve(billables[start : start + TRANSACTION])
        return reserved

    async def _reserve(self, billables: Sequence[Billable]) -> Sequence[Billable]:
        while billables:
            try:
                now = now_seconds()
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
        """Removes the reservations of billable events that have no charge on the invoice.

        Raises TableUnavailable, Unprocessable.
        """
        for billable in billables:
            try:
                await self._table.update(self._freed(billable))
            except ConditionFailed:
                continue  # the billable event is already billed, or not reserved for this invoice

    async def reserved(self) -> list[Billable]:
        """Returns all billable events that are reserved for the invoice, whatever their time.

        Raises TableUnavailable, or Unprocessable if an item of a billable event is invalid.
        """
        items = self._table.query(
            KeyConditionExpression="#pk = :customer AND begins_with(#sk, :billable)",
            FilterExpression="#invoice_id = :invoice",
            ExpressionAttributeNames={"#pk": "pk", "#sk": "sk", "#invoice_id": "invoice_id"},
            ExpressionAttributeValues={
                ":customer": typed(f"customer#{self._customer}"),
                ":billable": typed("billable#"),
                ":invoice": typed(self._invoice),
            },
        )
        return [chargeable(self._customer, item) async for item in items]

    def billed(self, billables: Sequence[Billable]) -> list[Update]:
        """Returns the updates that mark the billable events as billed.

        The caller must write the updates only after the invoice is closed.
        """
        return [
            self._update(billable, "SET #billed_at = :now", "#invoice_id = :invoice", now=now_seconds())
            for billable in billables
            if billable.billed_at is None
        ]

    async def mark(self, updates: Sequence[Update]) -> None:
        """Writes the updates that `billed` has returned. Raises TableUnavailable, Unprocessable.

        Raises ConditionFailed if a billable event is no longer reserved for the invoice.

        Only an attempt that fails needs this method. If an attempt succeeds, `Lease.finish` writes the updates.
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
