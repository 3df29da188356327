"""The documents of a scenario: Chargebee's events, and the usage items that their invoices cover."""

from dataclasses import dataclass
from typing import Any

from app.billing.charges import Billable, billable_key
from app.events import PENDING_INVOICE_CREATED
from tests.simulation.processes import EPOCH
from tests.simulation.scenarios import Scenario

# Each customer has a second subscription (OTHER), for which there is no invoice.
SUBSCRIPTION, OTHER = "sub", "other"
EXEMPT = "exempt"  # the only id in APP_BILLING_EXEMPT
START, END = EPOCH - 30 * 86_400, EPOCH
# The events are so old that the worker does not wait until Chargebee knows the invoice.
OCCURRED = EPOCH - 3600


@dataclass(frozen=True)
class Expected:
    """An invoice and its events. At least one of the events must close the invoice.

    `billables`: the billable events of the customer in the invoice's period. If `shared` is set, another invoice of the
    customer may have charged these billable events. If `missing` is set, Chargebee has no such invoice.
    """

    invoice_id: str
    customer_id: str
    billables: tuple[Billable, ...]
    events: tuple[str, ...]
    shared: bool = False
    missing: bool = False


def event_of(event: str, expected: Expected, version: int) -> dict[str, Any]:
    """Returns the body of a pending_invoice_created. Only both of its lines together cover the whole period."""
    line = {"unit_amount": 100, "is_taxed": False, "description": "Plan"}
    plan = {"id": f"li_{expected.invoice_id}", "date_from": START, "date_to": END - 1}
    addon = {"id": f"li_{expected.invoice_id}_addon", "date_from": START + 1, "date_to": END}
    invoice = {
        "id": expected.invoice_id,
        "customer_id": expected.customer_id,
        "subscription_id": SUBSCRIPTION,
        "recurring": True,
        "status": "pending",
        "price_type": "tax_exclusive",
        "currency_code": "EUR",
        "tax": 0,
        "sub_total": 100,
        "term_finalized": True,
        "is_gifted": False,
        "resource_version": version,
        "line_items": [
            {**line, **plan, "entity_type": "plan_item_price"},
            {**line, **addon, "entity_type": "addon_item_price"},
        ],
    }
    return {
        "id": event,
        "occurred_at": OCCURRED,
        "source": "scheduled_job",
        "object": "event",
        "api_version": "v2",
        "event_type": PENDING_INVOICE_CREATED,
        "webhook_status": "scheduled",
        "content": {"invoice": invoice},
    }


def expected_of(invoice: int, events: int, scenario: Scenario) -> Expected:
    """Returns the scenario's invoice of this number, which has `events` events. The first usage is the latest."""
    customer = 0 if scenario.overlapping else invoice
    billables = tuple(
        Billable(
            *(f"b{customer}-{one}", 100 + one, f"Usage {one}", START + one if one else END),
            customer_id=f"cus_{customer}",
            subscription_id=SUBSCRIPTION,
        )
        for one in range(scenario.charges)
    )
    names = tuple(f"ev_{invoice}_{event}" for event in range(events))
    shared, missing = scenario.overlapping, scenario.poison
    return Expected(f"inv_{invoice}", f"cus_{customer}", billables, names, shared, missing)


def item_of(billable: Billable) -> dict[str, Any]:
    """Returns the usage item of a billable event."""
    optional = {"subscription_id": billable.subscription_id, "currency": billable.currency}
    return {
        **billable_key(billable.customer_id, billable),
        "id": {"S": billable.id},
        "amount": {"N": str(billable.amount)},
        "description": {"S": billable.description},
        "occurred_at": {"N": str(billable.occurred_at)},
        **{name: {"S": value} for name, value in optional.items() if value is not None},
    }
