"""Reads the answers that Chargebee divides into pages: lists, and invoices with many line items."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote

from app.billing.answers import FoundInvoice, invoice_of, unreadable
from app.billing.api_calls import ApiCalls
from app.billing.caller import Caller

PAGE = 100  # a page has at most this many line items or events
MAX_PAGES = 1000


async def whole_invoice(calls: ApiCalls, caller: Caller, invoice_id: str) -> FoundInvoice:
    """Returns the invoice with the line items of all pages. Raises BillingFailed."""
    query = {"line_items_limit": str(PAGE)}
    lines = []
    for _ in range(MAX_PAGES):
        answer = await calls.make(caller, "retrieve", invoice_path(invoice_id), params=query)
        page = invoice_of(answer)
        if page.id != invoice_id:
            break
        lines += page.line_items
        if page.line_items_next_offset is None:
            return page.model_copy(update={"line_items": lines})
        if page.line_items_next_offset == query.get("line_items_offset"):
            break  # the offset does not advance, so the next answer would be the same page again
        query["line_items_offset"] = page.line_items_next_offset
    raise unreadable()


async def pages(
    calls: ApiCalls, caller: Caller, operation: str, path: str, filters: Mapping[str, str]
) -> AsyncIterator[list[Mapping[str, Any]]]:
    """Yields the pages of a list, with {} for an entry that is no JSON object. Raises BillingFailed."""
    query = {"limit": str(PAGE), **filters}
    offset = None
    while True:
        answer = await calls.make(caller, operation, path, params=query)
        if not isinstance(page := answer.get("list", []), list):
            raise unreadable()
        yield [entry if isinstance(entry, dict) else {} for entry in page]
        if not answer.get("next_offset"):
            return
        if answer["next_offset"] == offset:
            raise unreadable()  # the offset does not advance, so the loop would never end
        query["offset"] = offset = answer["next_offset"]


def invoice_path(invoice_id: str) -> str:
    """Returns the path of the invoice in the API. Special characters of the id are percent-encoded, even slashes."""
    return f"/invoices/{quote(invoice_id, safe='')}"
