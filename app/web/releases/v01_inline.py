"""0.1.0: the handler does the billing work.

Problem: a webhook reports a pending invoice, which must be closed after the customer's usage is added.
Change: an async handler does the whole billing work with blocking clients of DynamoDB and Chargebee.
Cost: each call to DynamoDB or Chargebee blocks the event loop. Chargebee waits for the whole work, and times out.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request

from app.billing.blocking import BlockingBilling, build_billing
from app.events import PENDING_INVOICE_CREATED
from app.web.service import Service
from app.web.threads import set_tokens
from app.web.webhook import Answer, Processed, ignored, processed, read_event

TOKENS = 40


@asynccontextmanager
async def lifespan(service: Service) -> AsyncIterator[None]:
    set_tokens(service.settings.threadpool_tokens or TOKENS)
    if service.settings.warm_clients:
        build_billing(service.billing)  # discarded: building a client makes botocore cache its models
    yield


def open_billing(request: Request) -> BlockingBilling:
    return build_billing(Service.of(request).billing)


async def receive(request: Request, billing: Annotated[BlockingBilling, Depends(open_billing)]) -> Answer | Processed:
    body = await request.body()
    event = read_event(request, body)
    if event is None:
        return ignored(request)
    if event.event_type == PENDING_INVOICE_CREATED:  # events of other types need no billing work
        invoice = billing.read(event)
        charges = billing.unbilled(event, invoice)
        billing.add(event, invoice, charges)
        billing.close(event, invoice)
        billing.mark(event, charges)
    return processed(request)
