"""Who works on an event and on its invoice: the claim, the lease, and their end.

A token of its own for each attempt is the owner: two attempts of one process are two owners, and an attempt whose
claim was made though its answer was lost knows it again.

Clocks: a lease's end is written in the time of its owner, and read in the time of others. The owner counts on its
monotonic clock from before the call that wrote it; others wait longer than what is written, by SKEW of a lease. So
the clocks of two workers may differ by a twelfth of APP_BILLING_LEASE: 5 s of 60 s.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence

from app.billing import items
from app.billing.calls import Guard
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table, now_ms
from app.billing.items import Item, Update, number, text
from app.errors import ClaimedElsewhere

SKEW = 1 / 12
# The longest that SQS keeps a message is 14 days; Chargebee redelivers for 3 days 7 hours.
KEPT_SECONDS = 15 * 24 * 3600


class AlreadyDone(Exception):
    """The event was done before."""


class Superseded(Exception):
    """A newer version of the invoice has been processed."""


class Lease(Guard):
    """One attempt at one event, for `seconds` at a time; its invoice is held too once `take_invoice` has returned."""

    def __init__(self, table: Table, event_id: str, owner: str, seconds: float) -> None:
        super().__init__(event_id)
        self._table = table
        self.token = f"{owner}/{secrets.token_hex(8)}"
        self.seconds = seconds
        self._invoice_id: str | None = None
        self._ends = 0.0
        self._renewing = asyncio.Lock()

    @property
    def remaining(self) -> float:
        """Seconds until others may take over."""
        return self._ends - time.monotonic()

    async def record(self, outcome: str) -> None:
        """Done at once, since there is no work. Raises AlreadyDone, TableUnavailable."""
        try:
            await self._table.update(items.recorded(self.event_id, self.token, outcome, expires=_expires()))
        except ConditionFailed:
            raise AlreadyDone from None

    async def claim(self) -> None:
        """Raises AlreadyDone, ClaimedElsewhere, TableUnavailable."""
        sent = time.monotonic()
        times = {"until": self._until(), "free": self._free(), "expires": _expires()}
        try:
            await self._table.update(items.claim(self.event_id, self.token, **times))
        except ConditionFailed as failed:
            item = failed.items[0] or {}
            if text(item, "status") == "done":
                raise AlreadyDone from None
            self._require_ours(item, "Another worker works on this event")
        self._ends = sent + self.seconds

    async def take_invoice(self, invoice_id: str, version: int | None) -> None:
        """Keeps other events of the invoice away. Raises Superseded, ClaimedElsewhere, TableUnavailable."""
        times = {"until": self._until(), "free": self._free(), "expires": _expires()}
        try:
            await self._table.update(items.order(invoice_id, self.event_id, self.token, version, **times))
        except ConditionFailed as failed:
            item = failed.items[0] or {}
            if version is not None and (number(item, "resource_version") or 0) > version:
                raise Superseded from None
            self._require_ours(item, "Another worker works on an event of this invoice")
        self._invoice_id = invoice_id

    async def renew(self) -> None:
        """Raises ClaimedElsewhere where it is lost, TableUnavailable."""
        async with self._renewing:
            sent = time.monotonic()
            try:
                await self._table.write(items.renewals(self.event_id, self._invoice_id, self.token, self._until()))
            except ConditionFailed:
                self._ends = 0.0
                raise lost() from None
            self._ends = sent + self.seconds

    async def allowance(self, seconds: float) -> float:
        """The deadline for a call of `seconds`, so that it ends before the lease does. Renews where that is short.

        Raises ClaimedElsewhere, TableUnavailable.
        """
        if self.remaining < seconds:
            await self.renew()
        if self.remaining <= 0:
            raise lost()
        return min(seconds, self.remaining)

    async def finish(self, outcome: str, version: int | None = None, updates: Sequence[Update] = ()) -> None:
        """The event is done, together with `updates` of other items. Raises ClaimedElsewhere, TableUnavailable."""
        last = [items.done(self.event_id, self.token, outcome, expires=_expires())]
        if self._invoice_id is not None:
            last.append(items.processed(self._invoice_id, self.token, version, expires=_expires()))
        many = list(updates)
        try:
            while len(many) + len(last) > TRANSACTION:
                await self._table.write(many[:TRANSACTION])
                many = many[TRANSACTION:]
            await self._table.write([*many, *last])
        except ConditionFailed as failed:
            claim = failed.items[len(many)] if len(failed.items) > len(many) else None
            if claim and text(claim, "status") == "done" and text(claim, "owner") == self.token:
                return  # by a call whose answer was lost
            raise lost() from None

    async def release(self, code: str) -> None:
        """Lets others in, but no other event of an invoice that a call may still change. Raises TableUnavailable."""
        invoice_id = None if self.unanswered else self._invoice_id
        try:
            await self._table.write(items.released(self.event_id, invoice_id, self.token, code))
        except ConditionFailed:
            return  # the lease was lost: there is nothing to release

    def _until(self) -> int:
        return now_ms() + round(1000 * self.seconds)

    def _free(self) -> int:
        return now_ms() - round(1000 * SKEW * self.seconds)

    def _require_ours(self, item: Item, detail: str) -> None:
        """After an update whose condition failed: its first try may have succeeded without an answer."""
        if text(item, "owner") != self.token:
            left = max(0, (number(item, "lease_until") or 0) - self._free()) / 1000
            raise ClaimedElsewhere(detail, "claimed_elsewhere", retry_after=left)


def _expires() -> int:
    return int(time.time()) + KEPT_SECONDS


def lost() -> ClaimedElsewhere:
    return ClaimedElsewhere("The lease was not kept", "lease_lost")
