"""Whether the invoices of webhooks are closed at the Chargebee stand-in, with each charge exactly once."""

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
    """What the stand-in has of the expected invoices. `problems` has a line for each that is not as it should be."""

    closed: int
    charges: int
    calls: int
    most_calls_in_60s: int
    limit: int
    problems: list[str]

    def report(self, expected: int) -> str:
        return (
            f"{self.closed} of {expected} invoices closed, with {self.charges} charges, in {self.calls} API calls"
            f" (at most {self.most_calls_in_60s} in 60 s; the limit is {self.limit:,})"
        )


def invoices(chargebee: str) -> list[dict[str, Any]]:
    """A summary of each, in the order of their coming. Raises ConfigurationError."""
    found: list[dict[str, Any]] = orjson.loads(ask(chargebee, "/_/invoices"))
    return found


def waiting(chargebee: str, events: Iterable[dict[str, Any]]) -> list[str]:
    """The ids of the events' invoices that are still pending. Raises ConfigurationError."""
    wanted = {event["content"]["invoice"]["id"] for event in events}
    return [one["id"] for one in invoices(chargebee) if one["id"] in wanted and one["status"] == PENDING]


def wait(
    chargebee: str,
    events: list[dict[str, Any]],
    seconds: float,
    closed: Callable[[int], None],
    working: Callable[[], bool],
) -> bool:
    """Until none of the events' invoices is pending; False after `seconds`, or once nobody is `working` on them.

    `closed` gets how many more are closed. Raises ConfigurationError.
    """
    deadline, before = time.monotonic() + seconds, len(events)
    while True:
        worked = working() and time.monotonic() < deadline
        pending = len(waiting(chargebee, events))
        closed(before - pending)
        if pending == 0 or not worked:
            return pending == 0
        before = pending
        time.sleep(_INTERVAL)


def audit(chargebee: str, events: Iterable[dict[str, Any]]) -> AuditResult:
    """Of the events whose billable events were seeded (`local.seeding`). Raises ConfigurationError."""
    state = orjson.loads(ask(chargebee, "/_/audit"))
    known = {invoice["id"]: invoice for invoice in state["invoices"]}
    expected = {event["content"]["invoice"]["id"]: event for event in events}
    found = [known[invoice_id] for invoice_id in expected if invoice_id in known]
    return AuditResult(
        closed=sum(invoice["status"] != PENDING for invoice in found),
        charges=sum(len(invoice["charges"]) for invoice in found),
        calls=sum(len(times) for statuses in state["calls"].values() for times in statuses.values()),
        most_calls_in_60s=state["most_calls_in_60s"],
        limit=state["limit"],
        problems=[line for invoice_id, event in expected.items() for line in _problems(known.get(invoice_id), event)],
    )


def _problems(invoice: dict[str, Any] | None, event: dict[str, Any]) -> Iterator[str]:
    name = event["content"]["invoice"]["id"]
    if invoice is None:
        yield f"{name}: not there"
        return
    if invoice["status"] == PENDING:
        yield f"{name}: still pending"
    if len(invoice["closes"]) > 1:
        yield f"{name}: closed {len(invoice['closes'])} times"
    wanted = {one.id: one.amount for one in charges(event)}
    times = Counter(charge["billable"] for charge in invoice["charges"])
    for billable, amount in wanted.items():
        if times[billable] != 1:
            yield f"{name}: {billable} was charged {times[billable]} times"
        elif not any(charge["billable"] == billable and charge["amount"] == amount for charge in invoice["charges"]):
            yield f"{name}: {billable} was charged with another amount than {amount}"
    for billable in times.keys() - wanted.keys():
        yield f"{name}: {billable or 'a charge without a reference'} does not belong to it"
