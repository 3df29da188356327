"""Claims an event and does its billing work. The work is done only once, even if the event arrives several times."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from loguru import logger

from app.billing.access import BillingAccess
from app.billing.attempt import BillingAttempt, Clients
from app.billing.chargebee import Chargebee, open_chargebee
from app.billing.dynamodb import Table, open_table
from app.billing.items import claim_key, text
from app.billing.leases import AlreadyDone, Lease, Superseded
from app.billing.rate import SharedRateLimit
from app.billing.result import Outcome
from app.billing.term import lost
from app.errors import BillingFailed, TableUnavailable, Unprocessable
from app.events import PENDING_INVOICE_CREATED, Event
from app.telemetry.record import ObserveCall, unobserved

T = TypeVar("T")
# The work for each type of event. An event of any other type is only recorded.
WORK: Mapping[str, type[BillingAttempt]] = {PENDING_INVOICE_CREATED: BillingAttempt}
RELEASE_SECONDS = 2.0
RENEWALS = 3  # the pause between two renewals is the lease's length divided by this number
TRIES = 4  # while the table cannot be reached, the pause is also divided by this number


class Billing:
    """Does the billing work of one process. `owner`: the name of this process in the table.

    `exempt`: ids of customers and subscriptions whose invoices stay pending.
    """

    def __init__(
        self,
        table: Table,
        chargebee: Chargebee,
        owner: str,
        lease_seconds: float,
        exempt: frozenset[str] = frozenset(),
    ) -> None:
        self.table, self.chargebee = table, chargebee
        self._clients = Clients(table, chargebee, exempt)
        self._owner, self._lease_seconds = owner, lease_seconds

    async def process(self, event: Event) -> Outcome:
        """Does the billing work of `event` and returns one of these outcomes. Raises BillingFailed.

        - `closed`: this attempt, an earlier attempt or someone else has closed the invoice with all of its charges.
        - `closed_without_charge`: the invoice is closed, and there was nothing to charge.
        - `closed_in_part`: the invoice is closed, but without some usage, which was set aside.
        - `left_pending`: the invoice renews no subscription, is exempt, or is not pending in the event.
        - `recorded`: events of this type need no work.
        - `already`: an earlier attempt has done the work of this event.
        - `superseded`: a newer version of the invoice has been processed already.

        If the work fails or is cancelled, releases the lease.
        """
        work = WORK.get(event.event_type)
        lease = Lease(self.table, event.id, self._owner, self._lease_seconds)
        try:
            if work is None:
                await lease.record("recorded")
                return "recorded"
            await lease.claim()
        except AlreadyDone:
            return "already"
        try:
            return await self._work(lease, event, work)
        except asyncio.CancelledError:
            await _release(lease, "cancelled")
            raise
        except Exception as error:
            code = error.code if isinstance(error, BillingFailed) else type(error).__name__
            await _release(lease, code, judged=isinstance(error, Unprocessable))
            raise

    async def known(self, event_ids: Iterable[str]) -> tuple[set[str], dict[str, str]]:
        """Returns the ids of the events that are done, and the codes of the verdicts on failed events, by event id.

        DynamoDB deletes a claim after 15 days unless the claim has a binding verdict, so the result lacks older events
        without such a verdict. Raises TableUnavailable, Unprocessable.
        """
        done: set[str] = set()
        judged: dict[str, str] = {}
        for item in await self.table.get_all([claim_key(event_id) for event_id in dict.fromkeys(event_ids)]):
            event_id, status = item["pk"]["S"].removeprefix("event#"), text(item, "status")
            if status == "done":
                done.add(event_id)
            elif code := text(item, "code") if status == "failed" else text(item, "verdict"):
                judged[event_id] = code
        return done, judged

    async def _work(self, lease: Lease, event: Event, work: type[BillingAttempt]) -> Outcome:
        invoice = event.content.invoice
        assert invoice is not None, "an event of a type in WORK has an invoice"
        try:
            await lease.take_invoice(invoice.id, invoice.version)
        except Superseded:
            await lease.finish("superseded")
            return "superseded"
        result = await while_leased(lease, work(self._clients, lease, event, invoice).bill())
        if result.verdict is not None:
            await lease.fail(result.verdict, result.closed_as, result.updates)
            raise result.verdict
        await lease.finish(result.outcome, invoice.version, result.updates)
        return result.outcome


async def while_leased(lease: Lease, work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` while renewing the lease, and returns the result of `work`.

    If the lease is lost, cancels `work` and raises ClaimedElsewhere.
    """
    working, renewing = asyncio.create_task(work), asyncio.create_task(keep_leased(lease))
    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            renewing.result()  # this call raises, because `keep_leased` ends only with an error
        return working.result()
    finally:
        for task in (working, renewing):
            task.cancel()
        await asyncio.wait({working, renewing})
        # Each task refers to its error, and the error's traceback refers to this frame, which refers to the tasks.
        # Deleting the names breaks this reference cycle, which would otherwise stay in memory after the event.
        del working, renewing, task


async def keep_leased(lease: Lease) -> None:
    """Renews the lease regularly, until the task is cancelled. Raises ClaimedElsewhere if the lease is lost."""
    usual = pause = lease.seconds / RENEWALS
    while True:
        await asyncio.sleep(pause)
        try:
            await lease.renew()
            pause = usual
        except TableUnavailable:
            if lease.remaining <= 0:
                raise lost() from None
            pause = usual / TRIES


async def _release(lease: Lease, code: str, *, judged: bool = False) -> None:
    """Ends the lease early, so that the next attempt can begin at once. Ignores failures: the lease ends by itself."""
    try:
        async with asyncio.timeout(RELEASE_SECONDS):
            await lease.release(code, judged=judged)
    except (BillingFailed, TimeoutError):
        logger.debug("The claim on event {} could not be released: it stays until its lease ends", lease.event_id)


@asynccontextmanager
async def open_billing(access: BillingAccess, owner: str, observe: ObserveCall = unobserved) -> AsyncIterator[Billing]:
    """Yields a Billing with clients of DynamoDB and Chargebee, which connect on the first call.

    `observe` receives the record of each call to DynamoDB and Chargebee.
    """
    async with (
        open_table(access.table, access.connections, observe) as table,
        open_chargebee(access, SharedRateLimit(table, access.rate), observe) as chargebee,
    ):
        yield Billing(table, chargebee, owner, access.lease, access.exempt)
