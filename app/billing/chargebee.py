"""Calls Chargebee's API v2 with aiohttp. The connections are pooled, and every call has a deadline.

The worker does not use the official SDK (chargebee 3.29). For each call, the SDK builds a TLS context and an HTTP
client, and the context alone takes 20 to 30 ms of CPU (see README.md). If the SDK's retries are on, the SDK repeats a
call without limit after a 429. The SDK's models are dataclasses without validation.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from app.billing.access import BillingAccess
from app.billing.answers import (
    INVOICE_NOT_FOUND,
    VOIDED,
    FoundInvoice,
    FoundSubscription,
    invoice_of,
    subscription_of,
    unreadable,
)
from app.billing.api_calls import ApiCalls
from app.billing.caller import Caller
from app.billing.chargebee_session import open_session
from app.billing.charges import Billable, idempotency_key
from app.billing.coverage import Coverage
from app.billing.pages import invoice_path, pages, whole_invoice
from app.billing.rate import SharedRateLimit
from app.billing.references import described
from app.errors import ChargebeeUnavailable, Unprocessable
from app.telemetry.record import ObserveCall, unobserved

IDEMPOTENCY_HEADER = "chargebee-idempotency-key"


class Chargebee:
    """Makes the API calls for the invoices, subscriptions and events of one Chargebee site."""

    def __init__(self, calls: ApiCalls) -> None:
        self._calls = calls

    async def add_charge(
        self,
        caller: Caller,
        invoice_id: str,
        billable: Billable,
        coverage: Coverage | None = None,
    ) -> None:
        """Adds the charge for `billable` to the invoice. Raises InvalidState, BillingFailed.

        `coverage`: the subscription and the service period of the charge, or None if they are unknown.
        """
        data = {"amount": str(billable.amount), "description": described(billable)}
        if coverage is not None:
            data["subscription_id"] = coverage.subscription_id
            data["line_item[date_from]"], data["line_item[date_to]"] = map(str, coverage.period)
        key = idempotency_key(caller.event_id, "add_charge", billable)
        found = await self._write(caller, invoice_id, "add_charge", data, key)
        _require(caller, found.id == invoice_id)

    async def close(self, caller: Caller, invoice_id: str, customer_id: str) -> str:
        """Closes the customer's invoice, and returns the invoice's new id. Raises InvalidState, BillingFailed.

        Chargebee replaces the pending invoice (the draft) by an invoice whose id is the next invoice number. After the
        close, Chargebee does not know the draft's id any more.
        """
        found = await self._write(caller, invoice_id, "close", {}, idempotency_key(caller.event_id, "close"))
        _require(caller, found.customer_id == customer_id and not found.is_pending)
        return found.id

    async def is_void_or_gone(self, caller: Caller, invoice_id: str) -> bool:
        """Returns whether the invoice is void or unknown to Chargebee. Raises BillingFailed."""
        query = {"line_items_limit": "1"}
        try:
            answer = await self._calls.make(caller, "retrieve", invoice_path(invoice_id), params=query)
        except Unprocessable as error:
            if error.code != INVOICE_NOT_FOUND:
                raise
            return True
        found = invoice_of(answer)
        if found.id != invoice_id:
            raise unreadable()
        return found.status == VOIDED

    async def retrieve(self, caller: Caller, invoice_id: str) -> FoundInvoice:
        """Returns the invoice with the line items of all pages. Raises BillingFailed."""
        return await whole_invoice(self._calls, caller, invoice_id)

    async def list_events(self, **filters: str) -> AsyncIterator[list[Mapping[str, Any]]]:
        """Yields the pages of Chargebee's List Events, with {} for an entry without an event.

        `filters`: query parameters, for example `**{"occurred_at[after]": "1785535409"}`. Raises BillingFailed.
        """
        async for page in pages(self._calls, Caller(), "list_events", "/events", filters):
            events = (entry.get("event") for entry in page)
            yield [event if isinstance(event, dict) else {} for event in events]

    async def closed_invoices(self, caller: Caller, customer_id: str, since: int) -> AsyncIterator[FoundInvoice]:
        """Yields the customer's invoices that are not pending and have changed after `since` (a unix time in seconds).

        Each invoice has the line items of all pages. Raises BillingFailed.
        """
        filters = {"customer_id[is]": customer_id, "updated_at[after]": str(since)}
        async for page in pages(self._calls, caller, "list_invoices", "/invoices", filters):
            for found in map(invoice_of, page):
                if not found.is_pending:
                    yield found if found.line_items_next_offset is None else await self.retrieve(caller, found.id)

    async def subscriptions(self, caller: Caller, customer_id: str) -> AsyncIterator[FoundSubscription]:
        """Yields the customer's subscriptions, whatever their status. Raises BillingFailed."""
        filters = {"customer_id[is]": customer_id}
        async for page in pages(self._calls, caller, "list_subscriptions", "/subscriptions", filters):
            for entry in page:
                yield subscription_of(entry)

    async def _write(
        self, caller: Caller, invoice_id: str, operation: str, data: dict[str, str], key: str
    ) -> FoundInvoice:
        """Makes a call that changes the invoice, and returns the invoice in the answer. `key`: the idempotency key.

        Raises InvalidState, BillingFailed. Raises ChargebeeUnavailable if an answer with status 200 contains no
        invoice, because such an answer is not from Chargebee.
        """
        headers = {IDEMPOTENCY_HEADER: key}
        path = f"{invoice_path(invoice_id)}/{operation}"
        answer = await self._calls.make(caller, operation, path, data=data, headers=headers)
        try:
            return invoice_of(answer)
        except ChargebeeUnavailable:
            caller.asked.miss_answer()
            raise


def _require(caller: Caller, expected: bool) -> None:
    """Raises ChargebeeUnavailable if `expected` is False: an answer with a wrong invoice is not from Chargebee."""
    if not expected:
        caller.asked.miss_answer()
        raise unreadable()


@asynccontextmanager
async def open_chargebee(
    access: BillingAccess, rate_limit: SharedRateLimit, observe: ObserveCall = unobserved
) -> AsyncIterator[Chargebee]:
    """Yields a client that keeps its connections open. All connections share one TLS context.

    `observe` receives the record of each call. Raises ConfigurationError if HTTPS_PROXY applies to the site but is not
    the URL of an HTTP proxy.
    """
    async with open_session(access) as session:
        yield Chargebee(ApiCalls(session, rate_limit, access.call_timeout, access.lease, observe))
