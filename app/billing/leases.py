"""Acquires, renews and ends the lease that an attempt has on an event and on the event's invoice.

Until the lease ends, no other attempt works on the event or the invoice. Each attempt has its own token, which the
table stores as the lease's owner. If the answer to a claim is lost, the attempt recognises its own claim by the token.
"""

from collections.abc import Sequence

from app.billing import claims
from app.billing.dynamodb import TRANSACTION, ConditionFailed, Table
from app.billing.items import Item, Update, number, text
from app.billing.term import Term, lost
from app.clock import monotonic, now_ms, now_seconds
from app.errors import ClaimedElsewhere, Unprocessable

# The table keeps a claim for longer than SQS keeps a message (at most 14 days). But Chargebee redelivers an event for
# 3 days 7 hours, and SQS may keep the last message for 14 days more. So a worker may receive an event after the event's
# claim was deleted. The worker then claims the event again, but charges nothing twice.
KEPT_SECONDS = 15 * 24 * 3600


class AlreadyDone(Exception):
    """An earlier attempt has done the work of the event."""


class Superseded(Exception):
    """A newer version of the invoice has been processed."""


class Lease(Term):
    """The lease of one attempt on an event, and after `take_invoice` also on the event's invoice.

    `asked`: what is known about the attempt's calls to Chargebee. If a call got no answer, `release` ends only the
    lease on the event. The lease on the invoice then ends by itself.
    """

    def __init__(self, table: Table, event_id: str, owner: str, seconds: float) -> None:
        super().__init__(table, event_id, owner, seconds)
        self.is_first = True  # False if an earlier attempt has claimed the event
        self._conflict_at: int | None = None  # when an attempt first called `note_conflict`, in unix ms

    async def record(self, outcome: str) -> None:
        """Marks an unclaimed event as done, because the event needs no billing work.

        Raises AlreadyDone, TableUnavailable, Unprocessable.
        """
        try:
            await self._table.update(claims.recorded(self.event_id, self.token, outcome, expires=expires()))
        except ConditionFailed:
            raise AlreadyDone from None

    async def claim(self) -> None:
        """Claims the event. Raises AlreadyDone, ClaimedElsewhere, TableUnavailable, Unprocessable.

        If an earlier attempt has stored a binding verdict (see `fail`), raises the verdict again.
        """
        sent = monotonic()
        times = {"until": self._until(), "free": self._free(), "expires": expires()}
        try:
            item = await self._table.update(claims.claim(self.event_id, self.token, **times))
        except ConditionFailed as failed:
            item = failed.items[0] or {}
            if text(item, "status") == "done":
                raise AlreadyDone from None
            if text(item, "status") == "failed":
                raise Unprocessable(text(item, "detail") or "", text(item, "code") or "") from None
            self._require_owner(item, "Another worker works on this event")
        self.is_first, self._conflict_at = number(item, "attempts") == 1, number(item, "conflict_at")
        self._ends = sent + self.seconds

    async def take_invoice(self, invoice_id: str, version: int | None) -> None:
        """Leases the invoice, so that no other event of the invoice is processed at the same time.

        Raises Superseded, ClaimedElsewhere, TableUnavailable, Unprocessable.
        """
        times = {"until": self._until(), "free": self._free(), "expires": expires()}
        try:
            await self._table.update(claims.take_invoice(invoice_id, self.event_id, self.token, version, **times))
        except ConditionFailed as failed:
            item = failed.items[0] or {}
            if version is not None and (number(item, "resource_version") or 0) > version:
                raise Superseded from None
            self._require_owner(item, "Another worker works on an event of this invoice")
        self._invoice_id = invoice_id

    def note_conflict(self, longest: float) -> bool:
        """Notes that Chargebee rejects changes of the pending invoice. `release` stores the time of the first note.

        Returns True if the first note is more than `longest` seconds old. `release` then removes the stored time, so
        that the attempts after a redrive may retry for `longest` seconds again.
        """
        first = self._conflict_at or now_ms()
        is_over = now_ms() - first > 1000 * longest
        self._conflict_at = None if is_over else first
        return is_over

    async def finish(self, outcome: str, version: int | None = None, updates: Sequence[Update] = ()) -> None:
        """Marks the event as done, ends the lease, and writes `updates` to other items.

        `version`: the version of the invoice that was processed, or None if no version is to be stored. If there are
        too many updates for one transaction (TRANSACTION), earlier transactions write the first updates. Raises
        ClaimedElsewhere, TableUnavailable, Unprocessable.
        """
        last = [claims.done(self.event_id, self.token, outcome, expires=expires())]
        if self._invoice_id is not None:
            last.append(claims.processed(self._invoice_id, self.token, version, expires=expires()))
        await self._end(updates, last, "done")

    async def fail(self, verdict: Unprocessable, closed_as: str, updates: Sequence[Update]) -> None:
        """Writes `updates`, ends the lease, and stores a binding verdict: each later attempt raises `verdict` again.

        `closed_as`: the id that Chargebee gave the invoice when it was closed. If there are too many updates for one
        transaction, earlier transactions write the first updates. The last update and the verdict are in the same
        transaction. So if this attempt ends before that transaction, the next attempt still finds the verdict's cause.

        Raises ClaimedElsewhere, TableUnavailable, Unprocessable.
        """
        assert self._invoice_id is not None
        last = [claims.failed(self.event_id, self.token, verdict, self._invoice_id, closed_as)]
        if self._may_free_invoice:
            last.append(claims.invoice_released(self._invoice_id, self.token))
        await self._end(updates, last, "failed")

    async def _end(self, updates: Sequence[Update], last: list[Update], status: str) -> None:
        many = list(updates)
        try:
            while len(many) + len(last) > TRANSACTION:
                first = min(TRANSACTION, len(many) - 1)
                await self._table.write(many[:first])
                many = many[first:]
            await self._table.write([*many, *last])
        except ConditionFailed as failed:
            claim = failed.items[len(many)] if len(failed.items) > len(many) else None
            if claim and text(claim, "status") == status and text(claim, "owner") == self.token:
                return  # an earlier try of this write succeeded, but its answer was lost
            raise lost() from None

    async def release(self, code: str, *, judged: bool = False) -> None:
        """Ends the lease, because the attempt has failed with `code`. Raises TableUnavailable, Unprocessable.

        Only the first attempt for an event ends the lease on the invoice, and only if Chargebee has answered all calls
        of this attempt. Otherwise, Chargebee may still execute a call of this attempt or of an earlier attempt, so the
        lease on the invoice ends by itself.

        `judged`: True if a retry cannot succeed.
        """
        # If a call got no answer, this call may be why Chargebee rejects changes, so the time of the first rejection
        # is not stored.
        conflict_at = None if self.asked.unanswered else self._conflict_at
        updates = [claims.claim_released(self.event_id, self.token, code, conflict_at, judged=judged)]
        if self._may_free_invoice and self._invoice_id is not None:
            updates.append(claims.invoice_released(self._invoice_id, self.token))
        try:
            await self._table.write(updates)
        except ConditionFailed:
            return  # the lease is lost or has ended, so there is nothing to release

    @property
    def _may_free_invoice(self) -> bool:
        return self.is_first and not self.asked.unanswered

    def _require_owner(self, item: Item, detail: str) -> None:
        """Raises ClaimedElsewhere with `detail` unless this attempt owns `item`.

        The attempt already owns `item` if an earlier try of the same write succeeded, but the answer to it was lost.
        """
        if text(item, "owner") != self.token:
            left = max(0, (number(item, "lease_until") or 0) - self._free()) / 1000
            raise ClaimedElsewhere(detail, "claimed_elsewhere", retry_after=left)


def expires() -> int:
    """Returns the unix time after which DynamoDB may delete an item that is written now."""
    return now_seconds() + KEPT_SECONDS
