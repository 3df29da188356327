"""Builds the updates of the table for claims on events and for leases on invoices, without I/O.

Times are in unix ms, except for `expires`, which is in unix seconds.
"""

from app.billing.items import Update, Value, claim_key, invoice_key
from app.errors import Unprocessable

ENDED, OWNED = "SET #lease_until = :ended", "#owner = :owner"


def claim(event_id: str, owner: str, *, until: int, free: int, expires: int) -> Update:
    """Returns the update that claims an event for `owner` until the time `until`.

    The update succeeds if no attempt has claimed the event. It also succeeds if the claim has the status `working`, and
    its lease ended before the time `free`. DynamoDB deletes the claim after `expires`.
    """
    return Update(
        claim_key(event_id),
        "SET #owner = :owner, #lease_until = :until, #status = :working, #expires_at = :expires"
        " REMOVE #verdict ADD #attempts :one",
        "attribute_not_exists(#pk) OR (#status = :working AND #lease_until < :free)",
        owner=owner,
        until=until,
        working="working",
        expires=expires,
        one=1,
        free=free,
    )


def recorded(event_id: str, owner: str, outcome: str, *, expires: int) -> Update:
    """Returns the update that marks an unclaimed event as done, because the event needs no billing work."""
    return Update(
        claim_key(event_id),
        "SET #owner = :owner, #status = :done, #outcome = :outcome, #expires_at = :expires",
        "attribute_not_exists(#pk) OR #owner = :owner",
        owner=owner,
        done="done",
        outcome=outcome,
        expires=expires,
    )


def take_invoice(
    invoice_id: str, event_id: str, owner: str, version: int | None, *, until: int, free: int, expires: int
) -> Update:
    """Returns the update that leases an invoice for the work on one event.

    The update fails if a newer version than `version` was processed, or if another event has a lease on the invoice
    that had not ended at the time `free`. If an earlier attempt for the same event has a lease on the invoice, the
    update replaces this lease, because the earlier attempt has lost its claim on the event. If `version` is None,
    versions are not compared.
    """
    unless_leased = "(attribute_not_exists(#lease_until) OR #lease_until < :free OR #event_id = :event)"
    unless_newer = "(attribute_not_exists(#resource_version) OR #resource_version <= :version)"
    return Update(
        invoice_key(invoice_id),
        "SET #owner = :owner, #lease_until = :until, #event_id = :event, #expires_at = :expires",
        unless_leased if version is None else f"{unless_newer} AND {unless_leased}",
        owner=owner,
        until=until,
        event=event_id,
        expires=expires,
        free=free,
        **({} if version is None else {"version": version}),
    )


def renewals(event_id: str, invoice_id: str | None, owner: str, until: int) -> list[Update]:
    """Returns the updates that extend the lease on an event and, if `invoice_id` is not None, on its invoice."""
    keys = [claim_key(event_id)] + ([invoice_key(invoice_id)] if invoice_id is not None else [])
    return [Update(key, "SET #lease_until = :until", "#owner = :owner", until=until, owner=owner) for key in keys]


def done(event_id: str, owner: str, outcome: str, *, expires: int) -> Update:
    """Returns the update that marks a claimed event as done."""
    return Update(
        claim_key(event_id),
        "SET #status = :done, #outcome = :outcome, #lease_until = :ended, #expires_at = :expires"
        " REMOVE #code, #conflict_at, #verdict",
        "#owner = :owner AND #status = :working",
        done="done",
        working="working",
        outcome=outcome,
        ended=0,
        expires=expires,
        owner=owner,
    )


def failed(event_id: str, owner: str, verdict: Unprocessable, invoice_id: str, closed_as: str) -> Update:
    """Returns the update that stores a binding verdict: each later attempt of the event ends with `verdict`.

    The claim then never expires: the transaction that stores the verdict also removes the verdict's cause, so a later
    attempt could not find this cause again. Only `python -m app release` removes the verdict. The command finds the
    claim by the id of the pending invoice (`invoice_id`) or of the closed invoice (`closed_as`).
    """
    return Update(
        claim_key(event_id),
        "SET #status = :failed, #code = :code, #detail = :detail, #invoice_id = :invoice, #closed_as = :closed_as,"
        " #lease_until = :ended REMOVE #conflict_at, #verdict, #expires_at",
        "#owner = :owner AND #status = :working",
        failed="failed",
        working="working",
        code=verdict.code,
        detail=verdict.detail,
        invoice=invoice_id,
        closed_as=closed_as,
        ended=0,
        owner=owner,
    )


def reopened(event_id: str, code: str, *, expires: int) -> Update:
    """Returns the update that removes a binding verdict, so that the event can be processed again after a redrive.

    `code`: the verdict's code. The event still has a dead letter, so `reconcile` must not enqueue the event too. To
    prevent this, the attribute `verdict` keeps the code until the next attempt, but does not bind this attempt.
    """
    return Update(
        claim_key(event_id),
        "SET #status = :working, #verdict = :code, #expires_at = :expires REMOVE #detail, #invoice_id, #closed_as",
        "#status = :failed",
        working="working",
        failed="failed",
        code=code,
        expires=expires,
    )


def processed(invoice_id: str, owner: str, version: int | None, *, expires: int) -> Update:
    """Returns the update that ends the lease on an invoice, and stores the processed `version` unless it is None."""
    change, known = "SET #lease_until = :ended, #expires_at = :expires", {}
    if version is not None:
        change, known = f"{change}, #resource_version = :version", {"version": version}
    return Update(invoice_key(invoice_id), change, "#owner = :owner", ended=0, expires=expires, owner=owner, **known)


def invoice_released(invoice_id: str, owner: str) -> Update:
    """Returns the update that ends the lease on an invoice. Unlike `processed`, it stores no version."""
    return Update(invoice_key(invoice_id), ENDED, OWNED, ended=0, owner=owner)


def claim_released(event_id: str, owner: str, code: str, conflict_at: int | None, *, judged: bool) -> Update:
    """Returns the update that ends the lease on an event whose attempt has failed.

    `code`: the cause of the failure. `conflict_at`: when Chargebee first rejected a change of the pending invoice; None
    removes the stored time. `judged`: True if a retry cannot succeed. If True, the attribute `verdict` stores the code
    until the next attempt.
    """
    values: dict[str, Value] = {"code": code}
    if judged:
        values["verdict"] = code
    if conflict_at is not None:
        values["conflict_at"] = conflict_at
    change = ENDED + "".join(f", #{name} = :{name}" for name in values)
    if conflict_at is None:
        change += " REMOVE #conflict_at"
    condition = f"({OWNED}) AND #status = :working"
    return Update(claim_key(event_id), change, condition, ended=0, owner=owner, working="working", **values)
