"""0.1.0: the handler does the billing work.

Problem: a webhook reports a pending invoice. The customer's usage must be added to the invoice before it is closed.
Change: an async handler does the whole billing work with blocking clients of DynamoDB and Chargebee.
Cost: each call to DynamoDB or Chargebee blocks the event loop. Chargebee waits for the whole work, and times out. The
handler marks usage as billed only after it has closed the invoice. If the process crashes before it marks the usage, or
if a person closes the invoice before the handler does, the invoice may have charges for usage that is not marked. A
later delivery of the webhook, or another invoice of the period, charges this usage again. When Chargebee repeats the
webhook, the log names this usage.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request
from loguru import logger

from app.billing.charge_items import ASIDE, CHARGE, USAGE, charge_key, snapshot
from app.billing.charges import Billable, between, idempotency_key, without
from app.billing.coverage import Coverage, coverages, covering, why_left_alone
from app.billing.inline_clients import BlockingClients, build_clients
from app.billing.references import described
from app.billing.selection import Selection, Selector
from app.clock import now_seconds
from app.errors import BillingUnavailable, Unprocessable
from app.events import PENDING_INVOICE_CREATED, Event, Invoice
from app.sqs.failures import code_of
from app.web.service import Service
from app.web.threads import set_tokens
from app.web.webhook import Answer, Processed, ignored, processed, read_event

VERSION = "0.1.0"
ENQUEUES = False
TOKENS = 40
router = APIRouter()
Usage = dict[Billable, Coverage]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    service = Service.of(app)
    set_tokens(service.settings.threadpool_tokens or TOKENS)
    build_clients(service.billing)  # built only to make botocore cache its models
    yield


def open_clients(request: Request) -> BlockingClients:
    return build_clients(Service.of(request.app).billing)


@router.post("/webhooks/chargebee", response_model=Processed)
async def receive(request: Request, clients: Annotated[BlockingClients, Depends(open_clients)]) -> Answer | Processed:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    if event.event_type == PENDING_INVOICE_CREATED and event.content.invoice is not None:  # other events need no work
        try:
            bill(clients, event, event.content.invoice)
        except Exception as error:
            cause = getattr(error, "code", None) or code_of(error)
            raise BillingUnavailable("The billing work failed; send the webhook again", cause) from error
    return processed(request)


def bill(clients: BlockingClients, event: Event, invoice: Invoice) -> None:
    covered = coverages(invoice, clients.lines(invoice.id) if invoice.is_truncated else invoice.line_items)
    if reason := why_left_alone(invoice, covered, clients.access.exempt):
        logger.warning("Invoice {} is left pending: {}", invoice.id, reason)
    elif (usage := read(clients, event, invoice, covered)) is not None:
        for one, coverage in usage.items():
            charge(clients, event, invoice, one, coverage)
        closed_as = close(clients, event, invoice)
        for one in usage:
            mark(clients, invoice, one, closed_as)


def read(clients: BlockingClients, event: Event, invoice: Invoice, covered: list[Coverage]) -> Usage | None:
    """Returns the usage to charge, or None if an earlier delivery of the webhook has closed the invoice."""
    found, selector = Selection.empty(), Selector(invoice.id, invoice.currency_code, event.id, covered)
    first, last = min(between(one.period)[0] for one in covered), max(between(one.period)[1] for one in covered)
    for customer in {one.customer_id for one in covered}:
        charges = clients.items(customer, first.replace(USAGE, CHARGE), last.replace(USAGE, CHARGE))
        selector.select(found, customer, clients.items(customer, first, last), charges)
    if found.free and (event.is_retry or found.own):
        logger.warning("Invoice {} may have charges already: {}", invoice.id, [one.reference for one in found.free])
    if any(one.billed_at is None for one in found.own):
        raise Unprocessable("A worker has reserved usage for the invoice", "reserved")
    if found.own:
        return None
    owners = {one: covering(covered, one.customer_id, one.subscription_id, one.occurred_at) for one in found.free}
    usage = {one: possible[0] for one, possible in owners.items() if len(possible) == 1}
    others = found.elsewhere + without(found.free, usage)
    if left := [one.suffix for one in found.odd] + [one.suffix for one in others]:
        logger.warning("Invoice {} is closed without this usage: {}", invoice.id, left)
    return usage


def charge(clients: BlockingClients, event: Event, invoice: Invoice, usage: Billable, coverage: Coverage) -> None:
    key = idempotency_key(event.id, "add_charge", replace(usage, payer=invoice.customer_id))
    form = {"amount": usage.amount, "description": described(usage), "subscription_id": coverage.subscription_id}
    form |= {"line_item[date_from]": coverage.period.start, "line_item[date_to]": coverage.period.end}
    if usage.amount > 0:
        clients.change(invoice.id, "add_charge", key, form)


def close(clients: BlockingClients, event: Event, invoice: Invoice) -> str:
    return clients.change(invoice.id, "close", idempotency_key(event.id, "close"), {}).id


def mark(clients: BlockingClients, invoice: Invoice, usage: Billable, closed_as: str) -> None:
    on_invoice = {"invoice_id": invoice.id, "payer": invoice.customer_id, "closed_as": closed_as}
    billed = {**snapshot(usage), **on_invoice, "billed_at": now_seconds()}
    clients.set(charge_key(usage.customer_id, usage.suffix), billed, remove=ASIDE, unless="invoice_id")
