"""Creates the invoices and the billable events of a local run. A billable event is usage that a customer must pay for.

For each webhook about a pending invoice, `seed` creates the invoice at the Chargebee stand-in, and writes a few
billable events of the invoice's customer into the DynamoDB table. `charges` computes the billable events from the
webhook's event id, so an audit can compute again which charges the invoice must have.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from app.errors import ConfigurationError, InvalidEvent
from app.events import PENDING_INVOICE_CREATED, Event, parse_event
from app.unreadable import readable
from local.chargebee.terms import Term, terms
from local.http import ask
from local.local_run import LocalRun
from local.stand_ins import StandIns
from local.usage_events import SeededBillable

_WANTED = frozenset({PENDING_INVOICE_CREATED})
_MOST_BILLABLES = 3
_MORE_LINE_ITEMS = 25
_MONTH = 30 * 86_400
# Webhooks per request to the Chargebee stand-in. A webhook has up to 150 kB, so a request must not contain too many.
_EVENTS_AT_ONCE = 200
# Items per request to DynamoDB. The operation BatchWriteItem accepts at most 25 items.
_ITEMS_AT_ONCE = 25
# The embedded AWS reads the region from the signature, but does not check the signature.
_HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.BatchWriteItem",
    "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host,"
    " Signature=0",
}
_USAGES = ("API calls", "Messages sent", "Storage, GB-hours", "Exports", "Seats added", "Reports")


def pending(bodies: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the webhooks about pending invoices as dicts, and leaves out the other webhooks in `bodies`."""
    for body in bodies:
        try:
            event = parse_event(body, _WANTED)
        except InvalidEvent:
            continue
        if isinstance(event, Event) and event.event_type == PENDING_INVOICE_CREATED:
            yield orjson.loads(readable(body))


def charges(event: dict[str, Any]) -> list[SeededBillable]:
    """Returns one to three billable events for the event's invoice. The result depends only on `event`.

    The time of each billable event is in a billing period (term) of the invoice's line items, including line items that
    the webhook does not contain (see `more_line_items`). Returns an empty list if the invoice renews no subscription,
    because the worker leaves such an invoice pending.
    """
    invoice, digest = event["content"]["invoice"], hashlib.sha256(event["id"].encode()).digest()
    found = terms(invoice, [*invoice.get("line_items", []), *more_line_items(event)]) if invoice["recurring"] else {}
    renewed = sorted((name, term) for name, term in found.items() if term.date_to > term.date_from)
    return [
        _billable(number, digest, invoice, *renewed[number % len(renewed)])
        for number in range(1 + digest[0] % _MOST_BILLABLES if renewed else 0)
    ]


def _billable(number: int, digest: bytes, invoice: dict[str, Any], subscription: str, term: Term) -> SeededBillable:
    share, amount, usage = digest[3 * number + 1 : 3 * number + 4]
    # The first billable event lies near the end of the term.
    share = 255 if number == 0 else share
    return SeededBillable(
        f"bl_{digest[16:24].hex()}_{number + 1}",
        term.customer_id,
        100 + 37 * amount,
        f"{_USAGES[usage % len(_USAGES)]} ({number + 1})",
        term.date_from + (term.date_to - term.date_from) * share // 256,
        invoice["currency_code"],
        subscription,
    )


def more_line_items(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Invents the line items that the webhook leaves out of the invoice. Returns [] if the webhook is complete.

    Chargebee leaves line items out of a long webhook. The period of each returned line item ends a month after the
    period of the webhook's last line item.
    """
    invoice = event["content"]["invoice"]
    if not invoice.get("line_items_next_offset") or not invoice.get("line_items"):
        return []
    last, start = invoice["line_items"][-1], len(invoice["line_items"])
    return [
        {**last, "id": f"{last.get('id', '')[:-4]}{start + number:04}", "date_to": last["date_to"] + _MONTH}
        for number in range(_MORE_LINE_ITEMS)
    ]


def seed(run: LocalRun | StandIns, bodies: Iterable[bytes]) -> None:
    """Registers the webhooks' pending invoices at the Chargebee stand-in, and writes billable events into the table.

    If an invoice is already registered, changes nothing for it, so the same webhook can be sent twice. Raises
    ConfigurationError if a stand-in does not answer, or rejects a request, for example because the table is missing.
    """
    events = pending(bodies)
    while some := list(islice(events, _EVENTS_AT_ONCE)):
        new = register(run, some)
        # Removes duplicate webhooks, because BatchWriteItem rejects a request that contains an item twice.
        events_of = {event["content"]["invoice"]["id"]: event for event in reversed(some)}
        fresh = [event for invoice_id, event in events_of.items() if invoice_id in new]
        try:
            write(run, [billable for event in fresh for billable in charges(event)])
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error}; the invoices are registered, but their usage is missing, and sending the webhooks again"
                " does not add it: restart the Chargebee stand-in before you send them again"
            ) from None


def register(run: LocalRun | StandIns, events: Iterable[dict[str, Any]]) -> set[str]:
    """Registers the events' invoices at the Chargebee stand-in. Returns the ids of newly registered invoices.

    Raises ConfigurationError if the stand-in does not answer.
    """
    new: set[str] = set()
    rest = iter(events)
    while some := list(islice(rest, _EVENTS_AT_ONCE)):
        entries = [{"event": event, "more_line_items": more_line_items(event)} for event in some]
        answer = ask(run.chargebee, "/_/invoices", orjson.dumps(entries), method="PUT")
        new.update(orjson.loads(answer)["new"])
    return new


def write(run: LocalRun | StandIns, billables: list[SeededBillable]) -> None:
    """Writes the billable events into the DynamoDB table. Raises ConfigurationError if DynamoDB does not answer."""
    for start in range(0, len(billables), _ITEMS_AT_ONCE):
        items = [{"PutRequest": {"Item": one.item()}} for one in billables[start : start + _ITEMS_AT_ONCE]]
        body = orjson.dumps({"RequestItems": {run.table: items}})
        ask(run.endpoint, "/", body, method="POST", headers=_HEADERS, ca_bundle=run.ca_bundle)
