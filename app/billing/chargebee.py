"""Chargebee's API v2 by aiohttp: pooled connections, and a deadline for every call.

The official SDK (chargebee 3.29) is not used for it: it builds a TLS context and an HTTP client for each call, 34 ms of
CPU where this takes 0.2 ms (README.md has the measurement), and repeats a 429 without end. Its models are dataclasses
that check nothing, and importing them takes 0.8 s of CPU.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import aiohttp

from app.billing.access import BillingAccess
from app.billing.answers import FoundInvoice, invoice_of, unreadable
from app.billing.calls import Calls, Guard
from app.billing.charges import Billable, described, idempotency_key
from app.billing.rate import Budget

IDEMPOTENCY_HEADER = "chargebee-idempotency-key"
PAGE = 100  # line items, or events
MOST_PAGES = 1000


class Chargebee:
    """Invoices and events of one site."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.calls = calls.counted

    async def add_charge(self, guard: Guard, invoice_id: str, billable: Billable) -> None:
        """Raises InvalidState, BillingFailed."""
        data = {"amount": str(billable.amount), "description": described(billable)}
        await self._write(guard, invoice_id, "add_charge", data, billable)

    async def close(self, guard: Guard, invoice_id: str) -> None:
        """Raises InvalidState, BillingFailed."""
        if (await self._write(guard, invoice_id, "close", {})).is_pending:
            raise unreadable()

    async def retrieve(self, guard: Guard, invoice_id: str) -> FoundInvoice:
        """With the line items of all pages. Raises BillingFailed."""
        query = {"line_items_limit": str(PAGE)}
        lines = []
        for _ in range(MOST_PAGES):
            answer = await self._calls.make(guard, "retrieve", f"/invoices/{_segment(invoice_id)}", params=query)
            page = invoice_of(answer, invoice_id)
            lines += page.line_items
            if page.line_items_next_offset is None:
                return page.model_copy(update={"line_items": lines})
            if page.line_items_next_offset == query.get("line_items_offset"):
                break  # the same page again, without end
            query["line_items_offset"] = page.line_items_next_offset
        raise unreadable()

    async def list_events(self, **filters: str) -> AsyncIterator[Mapping[str, Any]]:
        """The events of all pages; filters as in the API: `**{"occurred_at[after]": "1785535409"}`.

        Raises BillingFailed.
        """
        query = {"limit": str(PAGE), **filters}
        offset = None
        while True:
            answer = await self._calls.make(Guard(), "list_events", "/events", params=query)
            for entry in answer.get("list", ()):
                yield entry["event"]
            if not answer.get("next_offset"):
                return
            if answer["next_offset"] == offset:
                raise unreadable()  # the same page again, without end
            query["offset"] = offset = answer["next_offset"]

    async def _write(
        self, guard: Guard, invoice_id: str, operation: str, data: dict[str, str], billable: Billable | None = None
    ) -> FoundInvoice:
        """Returns the invoice in the answer: without it, a 200 is not Chargebee's."""
        headers = {IDEMPOTENCY_HEADER: idempotency_key(guard.event_id, operation, billable)}
        path = f"/invoices/{_segment(invoice_id)}/{operation}"
        return invoice_of(await self._calls.make(guard, operation, path, data=data, headers=headers), invoice_id)


def _segment(text: str) -> str:
    """`text` as one segment of a path."""
    return quote(text, safe="")


@asynccontextmanager
async def open_chargebee(access: BillingAccess, budget: Budget) -> AsyncIterator[Chargebee]:
    """Yields a client that keeps its connections open; one TLS context serves them all."""
    async with aiohttp.ClientSession(
        access.site_url,
        # Uncompressed, so that the bound on an answer's length holds.
        headers={
            "Authorization": aiohttp.encode_basic_auth(access.api_key.get_secret_value(), ""),
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        },
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0),  # as many as events are processed at a time
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Chargebee(Calls(session, budget, access.call_timeout, access.lease))
