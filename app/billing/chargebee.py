"""Calls Chargebee's API v2 by aiohttp, with pooled connections and a deadline for every call.

The worker does not use the official SDK (chargebee 3.29). For each call, the SDK builds a TLS context and an HTTP
client, which takes 34 ms of CPU instead of 0.2 ms (README.md has the measurement). It repeats a 429 without end. Its
models are dataclasses that check nothing, and importing them takes 0.8 s of CPU.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import aiohttp

from app.billing.access import BillingAccess
from app.billing.answers import FoundInvoice, invoice_of, unreadable
from app.billing.api_calls import ApiCalls, Caller
from app.billing.charges import Billable, described, idempotency_key
from app.billing.rate import SharedRateLimit

IDEMPOTENCY_HEADER = "chargebee-idempotency-key"
PAGE = 100  # line items, or events
MAX_PAGES = 1000


class Chargebee:
    """The invoices and events of one site. `calls`: number of calls per operation."""

    def __init__(self, calls: ApiCalls) -> None:
        self._calls = calls
        self.calls = calls.counted

    async def add_charge(self, caller: Caller, invoice_id: str, billable: Billable) -> None:
        """Adds the charge to the invoice. Raises InvalidState, BillingFailed."""
        data = {"amount": str(billable.amount), "description": described(billable)}
        await self._write(caller, invoice_id, "add_charge", data, billable)

    async def close(self, caller: Caller, invoice_id: str) -> None:
        """Closes the invoice. Raises InvalidState, BillingFailed."""
        if (await self._write(caller, invoice_id, "close", {})).is_pending:
            raise unreadable()

    async def retrieve(self, caller: Caller, invoice_id: str) -> FoundInvoice:
        """Returns the invoice with the line items of all pages. Raises BillingFailed."""
        query = {"line_items_limit": str(PAGE)}
        lines = []
        for _ in range(MAX_PAGES):
            answer = await self._calls.make(caller, "retrieve", f"/invoices/{_segment(invoice_id)}", params=query)
            page = invoice_of(answer, invoice_id)
            lines += page.line_items
            if page.line_items_next_offset is None:
                return page.model_copy(update={"line_items": lines})
            if page.line_items_next_offset == query.get("line_items_offset"):
                break  # the same page again, without end
            query["line_items_offset"] = page.line_items_next_offset
        raise unreadable()

    async def list_events(self, **filters: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yields the events of all pages. `filters` are the API's: `**{"occurred_at[after]": "1785535409"}`.

        Raises BillingFailed.
        """
        query = {"limit": str(PAGE), **filters}
        offset = None
        while True:
            answer = await self._calls.make(Caller(), "list_events", "/events", params=query)
            for entry in answer.get("list", ()):
                yield entry["event"]
            if not answer.get("next_offset"):
                return
            if answer["next_offset"] == offset:
                raise unreadable()  # the same page again, without end
            query["offset"] = offset = answer["next_offset"]

    async def _write(
        self, caller: Caller, invoice_id: str, operation: str, data: dict[str, str], billable: Billable | None = None
    ) -> FoundInvoice:
        """Returns the invoice in the answer. A 200 without an invoice is not Chargebee's answer."""
        headers = {IDEMPOTENCY_HEADER: idempotency_key(caller.event_id, operation, billable)}
        path = f"/invoices/{_segment(invoice_id)}/{operation}"
        return invoice_of(await self._calls.make(caller, operation, path, data=data, headers=headers), invoice_id)


def _segment(text: str) -> str:
    """Returns `text` as one segment of a path."""
    return quote(text, safe="")


@asynccontextmanager
async def open_chargebee(access: BillingAccess, rate_limit: SharedRateLimit) -> AsyncIterator[Chargebee]:
    """Yields a client that keeps its connections open; one TLS context serves them all."""
    async with aiohttp.ClientSession(
        access.site_url,
        # Asks for no compression, because the limit on an answer's length counts the bytes received.
        headers={
            "Authorization": aiohttp.encode_basic_auth(access.api_key.get_secret_value(), ""),
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        },
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0),  # the worker's concurrency is the limit
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Chargebee(ApiCalls(session, rate_limit, access.call_timeout, access.lease))
