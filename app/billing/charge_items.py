"""Defines charge items, in which the billing work stores what happens to usage items. Everything here is without I/O.

Another service writes the usage items, and may overwrite them at any time. So the reservation of a usage item is in a
charge item, which the other service never writes. The charge item has the key of the usage item, with `charge#` instead
of `billable#`. It contains a copy (snapshot) of the attributes that the charge depends on. README.md in this folder
describes the attributes.
"""

from app.billing.charges import Billable
from app.billing.items import Item, Key, Update, Value, number, text
from app.billing.references import DESCRIPTION_LENGTH, cut

USAGE, CHARGE = "billable#", "charge#"
# ASIDE: the attributes of a charge item whose usage was set aside. ON_INVOICE: the attributes of a charge item whose
# usage is reserved or billed.
ASIDE = ("reason", "set_aside_at", "event_id")
ON_INVOICE = ("invoice_id", "reserved_at", "billed_at", "closed_as")
UNRESERVED = "attribute_not_exists(#invoice_id)"


def charge_key(customer_id: str, suffix: str) -> Key:
    """Returns the key of a charge item. The sort key of its usage item is `billable#<suffix>`."""
    return {"pk": {"S": f"customer#{customer_id}"}, "sk": {"S": f"{CHARGE}{suffix}"}}


def suffix_of(item: Item) -> str:
    """Returns the part of the sort key that a usage item and its charge item have in common."""
    found: str = item["sk"]["S"]
    return found.partition("#")[2]


def snapshot(billable: Billable) -> dict[str, Value]:
    """Returns the attributes of a charge item that say what is charged.

    The description is cut to DESCRIPTION_LENGTH, because long texts would make a transaction too large.
    """
    found: dict[str, Value | None] = {
        "amount": billable.amount,
        "description": cut(billable.description, DESCRIPTION_LENGTH),
        "currency": billable.currency,
        "subscription_id": billable.subscription_id,
    }
    return {name: value for name, value in found.items() if value is not None}


def read(customer_id: str, item: Item) -> Billable:
    """Returns the billable event that the charge item `item` describes. The item must have an `invoice_id`."""
    seconds, _, name = suffix_of(item).partition("#")
    return Billable(
        id=name,
        amount=int(item["amount"]["N"]),
        description=item["description"]["S"],
        occurred_at=int(seconds),
        invoice_id=text(item, "invoice_id"),
        reserved_at=number(item, "reserved_at"),
        billed_at=number(item, "billed_at"),
        customer_id=customer_id,
        currency=text(item, "currency"),
        subscription_id=text(item, "subscription_id"),
        closed_as=text(item, "closed_as"),
        payer=text(item, "payer"),
    )


def reserved(billable: Billable, invoice_id: str, now: int) -> Update:
    """Returns the update that reserves a billable event for an invoice.

    If `billable.closed_as` is None, the update fails if the event is reserved or billed already. Otherwise, the event
    is billed on another invoice, and the update takes the event away from that invoice. The caller must have checked
    that the other invoice is void or unknown to Chargebee.
    """
    values: dict[str, Value] = {"invoice_id": invoice_id, **snapshot(billable), "reserved_at": now}
    if billable.payer is not None:
        values["payer"] = billable.payer
    if billable.closed_as is None:
        return _set(billable, values, UNRESERVED)
    values["taken_from"] = billable.closed_as
    return _set(billable, values, _UNCHANGED, **_known(billable))


def billed(billable: Billable, closed_as: str, now: int) -> Update:
    """Returns the update that marks a reserved billable event as billed.

    `closed_as`: the id that the invoice got when it was closed. The caller must write the update only after the close.
    """
    change = "SET #billed_at = :billed_at, #closed_as = :closed_as"
    key = charge_key(billable.customer_id, billable.suffix)
    condition = "#invoice_id = :invoice"
    return Update(key, change, condition, billed_at=now, closed_as=closed_as, invoice=billable.invoice_id or "")


_UNCHANGED = "#invoice_id = :old AND #billed_at = :old_billed_at"


def _known(billable: Billable) -> dict[str, Value]:
    return {"old": billable.invoice_id or "", "old_billed_at": billable.billed_at or 0}


def _set(billable: Billable, values: dict[str, Value], condition: str, **known: Value) -> Update:
    """Returns an update that sets `values`, and removes the optional attributes that `values` does not contain."""
    optional = ("currency", "subscription_id", "payer", *ON_INVOICE, *ASIDE)
    change = "SET " + ", ".join(f"#{name} = :{name}" for name in values)
    change += " REMOVE " + ", ".join(f"#{name}" for name in optional if name not in values)
    return Update(charge_key(billable.customer_id, billable.suffix), change, condition, **values, **known)


def set_aside(customer_id: str, suffix: str, reason: str, event_id: str, now: int) -> Update:
    """Returns the update that stores why usage cannot be charged. It fails if the usage is reserved or billed."""
    change = "SET #reason = :reason, #event_id = :event_id, #set_aside_at = :now"
    key = charge_key(customer_id, suffix)
    return Update(key, change, UNRESERVED, reason=reason, event_id=event_id, now=now)


def taken_aside(billable: Billable, reason: str, event_id: str, now: int) -> Update:
    """Returns an update that takes usage from a void or deleted invoice, and stores why the usage cannot be charged."""
    values: dict[str, Value] = {"reason": reason, "event_id": event_id, "set_aside_at": now, **snapshot(billable)}
    return _set(billable, {**values, "taken_from": billable.closed_as or ""}, _UNCHANGED, **_known(billable))


def freed(billable: Billable, reason: str, event_id: str, now: int) -> Update:
    """Returns the update that undoes a reservation, because the invoice is void, or has no charge for the usage.

    The charge item then has the attribute `reason`, as if the usage were set aside.
    """
    change = "SET #reason = :reason, #event_id = :event_id, #set_aside_at = :now REMOVE #invoice_id, #reserved_at"
    key, invoice = charge_key(billable.customer_id, billable.suffix), billable.invoice_id or ""
    condition = "#invoice_id = :invoice AND attribute_not_exists(#billed_at)"
    return Update(key, change, condition, reason=reason, event_id=event_id, now=now, invoice=invoice)


def released(billable: Billable) -> Update:
    """Returns the update that takes usage from a void or deleted invoice. Another invoice may then charge the usage."""
    change = "SET #taken_from = :old REMOVE #invoice_id, #reserved_at, #billed_at, #closed_as"
    key = charge_key(billable.customer_id, billable.suffix)
    return Update(key, change, "#invoice_id = :old", old=billable.invoice_id or "")


def differs(usage: Billable | None, charge: Billable) -> bool:
    """Returns whether a usage item was changed after its reservation, so that it differs from the charge item.

    `usage`: what the usage item contains now, or None if it cannot be charged any more.
    """
    return usage is None or snapshot(usage) != snapshot(charge)
