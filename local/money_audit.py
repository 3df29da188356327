"""Asks the Chargebee stand-in whether each webhook's invoice is closed and has each of its charges exactly once."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from local.http import ask
from local.seeding import charges

PENDING = "pending"
_INTERVAL = 0.2


@dataclass(frozen=True)
class AuditResult:
    """The state of the webhooks' invoices at the Chargebee stand-in, and the number of API calls to the stand-in.

    `left` is the number of pending invoices that renew no subscription; the worker must not close such invoices.
    `limit` is the number of API calls that the stand-in accepts in 60 s. `problems` has a line for each wrong invoice
    or charge.
    """

    closed: int
    left: int
    charges: int
    calls: int
    most_calls_in_60s: int
    limit: int
    problems: list[str]

    def report(self, expected: int) -> str:
        left = f", and {self.left} left pending" if self.left else ""
        return (
            f"{self.closed} of {expected} invoices closed, with {self.charges} charges{left}, in {self.calls} API calls"
            f" (at most {self.most_calls_in_60s} in 60 s; the limit is {self.limit:,})"
        )


def invoices(chargebee: str) -> list[dict[str, Any]]:
    """Returns a summary of each invoice at the Chargebee stand-in, whose URL is `chargebee`.

    The invoice that changed last is at the end. Raises ConfigurationError if the stand-in does not answer.
    """
    found: list[dict[str, Any]] = orjson.loads(ask(chargebee, "/_/invoices"))
    return found


def waiting(chargebee: str, events: Iterable[dict[str, Any]]) -> list[str]:
    """Returns the ids of the events' invoices that must be billed and are still pending at the Chargebee stand-in.

    Raises ConfigurationError if the stand-in does not answer.
    """
    wanted = {event["content"]["invoice"]["id"] for event in events if charges(event)}
    return [one["id"] for one in invoices(chargebee) if one["id"] in wanted and one["status"] == PENDING]


def wait(
    chargebee: str,
    events: list[dict[str, Any]],
    seconds: float,
    closed: Callable[[int], None],
    working: Callable[[], bool],
) -> bool:
    """Waits until the events' invoices are closed, and returns True. Ignores invoices that renew no subscription.

    Returns False if invoices are still pending after `seconds`, or when `working()` returns False, for example because
    the worker has ended. While it waits, this function calls `closed` again and again with the number of invoices that
    were closed since the previous call. Raises ConfigurationError if the Chargebee stand-in does not answer.
    """
    deadline, before = time.monotonic() + seconds, sum(bool(charges(event)) for event in events)
    while True:
        still_working = working() and time.monotonic() < deadline
        pending = len(waiting(chargebee, events))
        closed(before - pending)
        if pending == 0 or not still_working:
            return pending == 0
        before = pending
        time.sleep(_INTERVAL)


def audit(chargebee: str, events: Iterable[dict[str, Any]]) -> AuditResult:
    """Compares the charges of the events' invoices with the billable events that `local.seeding` created for them.

    Raises ConfigurationError if the Chargebee stand-in does not answer.
    """
    state = orjson.loads(ask(chargebee, "/_/audit"))
    known = {invoice["id"]: invoice for invoice in state["invoices"]}
    expected = {event["content"]["invoice"]["id"]: event for event in events}
    found = [known[invoice_id] for invoice_id in expected if invoice_id in known]
    return AuditResult(
        closed=sum(invoice["status"] != PENDING for invoice in found),
        left=sum(invoice["status"] == PENDING and not charges(expected[invoice["id"]]) for invoice in found),
        charges=sum(len(invoice["charges"]) for invoice in found),
        calls=sum(len(times) for statuses in state["calls"].values() for times in statuses.values()),
        most_calls_in_60s=state["most_calls_in_60s"],
        limit=state["limit"],
        problems=[line for invoice_id, event in expected.items() for line in _problems(known.get(invoice_id), event)],
    )


def _problems(invoice: dict[str, Any] | None, event: dict[str, Any]) -> Iterator[str]:
    name = event["content"]["invoice"]["id"]
    if invoice is None:
        yield f"{name}: not registered at the Chargebee stand-in"
        return
    wanted = {one.id: one.amount for one in charges(event)}
    if wanted and invoice["status"] == PENDING:
        yield f"{name}: still pending"
    if not wanted and invoice["status"] != PENDING:
        yield f"{name}: closed, although it renews no subscription"
    if len(invoice["closes"]) > 1:
        yield f"{name}: closed {len(invoice['closes'])} times"
    times = Counter(charge["billable"] for charge in invoice["charges"])
    for billable, amount in wanted.items():
        if times[billable] != 1:
            yield f"{name}: {billable} was charged {times[billable]} times"
        elif not any(charge["billable"] == billable and charge["amount"] == amount for charge in invoice["charges"]):
            yield f"{name}: {billable} was charged with a wrong amount; expected {amount}"
    for billable in times.keys() - wanted.keys():
        yield f"{name}: a charge for {billable or 'no billable event'} does not belong to this invoice"
