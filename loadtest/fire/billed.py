"""Audits at Chargebee's stand-in that every invoice is closed and each charge was made once."""

import time
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

from loadtest.fire.deliveries import Deliveries
from loadtest.fire.killed_workers import Workers
from loadtest.fire.progress import Count
from loadtest.record.billing import ChargebeeCalls
from loadtest.stage.worker_stack import WorkerStack

POLL_SECONDS = 1.0
# Longer than the longest delay of a retry, which is 900 s (see `app.worker.retry`).
STANDSTILL_SECONDS = 1000
WINDOW = 60.0


def wait_until_billed(stage: WorkerStack, planned: Deliveries, workers: Workers, shown: Count) -> float:
    """Returns the seconds until all invoices are closed and the queue is empty.

    Raises TimeoutError if nothing has changed for STANDSTILL_SECONDS, ChildProcessError if a worker has ended by
    itself, and ConfigurationError if Chargebee's stand-in does not answer.
    """
    began = changed = time.monotonic()
    before: tuple[int, int] | None = None
    while True:
        workers.check()
        state = (stage.closed(), stage.waiting())
        shown(state[0])
        if state == (len(planned.events), 0):
            return time.monotonic() - began
        if state != before:
            before, changed = state, time.monotonic()
        if time.monotonic() - changed > STANDSTILL_SECONDS:
            raise TimeoutError(f"{state[0]} of {len(planned.events)} invoices closed, {state[1]} messages left")
        time.sleep(POLL_SECONDS)


def audit(stage: WorkerStack, planned: Deliveries) -> dict[str, Any]:
    """The fields of `BillingAudit` that say what was found."""
    found = stage.audit()
    invoices = {invoice["id"]: invoice for invoice in found["invoices"]}
    charged = [(name, charge) for name, invoice in invoices.items() for charge in invoice["charges"]]
    times = Counter((name, charge["billable"], charge["amount"]) for name, charge in charged)
    wanted = {(name, one, amount) for name, charges in planned.charges.items() for one, amount in charges}
    letters = stage.dead_letters()
    reasons = [letter.attributes.get("reason", "none") for letter in letters]
    return {
        "calls": _calls(found, len(planned.events)),
        "dead_letters": dict(Counter(reasons)),
        "unbilled": [name for name in planned.charges if not invoices[name]["closes"]],
        "twice": [name for name, invoice in invoices.items() if len(invoice["closes"]) > 1],
        "missing": sorted(f"{name}: {one}" for name, one, _ in wanted - times.keys()),
        "repeated": sorted(f"{name}: {one}" for (name, one, _), number in times.items() if number > 1),
        "foreign": sorted(f"{name}: {one}" for name, one, _ in times.keys() - wanted),
        "unexplained": sorted(_unexplained(planned, [letter.attributes for letter in letters])),
        "left_in_queue": stage.waiting(),
    }


def _unexplained(planned: Deliveries, letters: list[dict[str, str]]) -> Iterator[str]:
    """Events that should be there and are not, are there with another reason, or should not be there.

    A worker that is killed between sending and deleting leaves the same letter twice.
    """
    found = {letter.get("event_id", "no event_id"): letter.get("reason", "none") for letter in letters}
    for name in found.keys() | planned.poison.keys():
        wanted, reason = planned.poison.get(name, "nothing"), found.get(name, "nothing")
        if wanted != reason:
            yield f"{name}: {reason} instead of {wanted}"


def _calls(found: dict[str, Any], invoices: int) -> ChargebeeCalls:
    by_status: Counter[str] = Counter()
    all_times = []
    for statuses in found["calls"].values():
        for status, times in statuses.items():
            by_status[status] += len(times)
            all_times += times
    closed = sorted(invoice["closed_at"] for invoice in found["invoices"] if invoice["closed_at"] is not None)
    # In the last tenth, the work that is left waits for its retries.
    busy = (min(all_times), closed[int(0.9 * (invoices - 1))]) if closed else (0.0, 0.0)
    used = _used(sorted(all_times), busy, found["limit"])
    return ChargebeeCalls(limit=found["limit"], by_status=dict(by_status), most=found["most_calls_in_60s"], used=used)


def _used(times: list[float], busy: tuple[float, float], limit: int) -> float | None:
    """The median share of the limit over whole minutes between the times of `busy`; None without such a minute."""
    minutes = int((busy[1] - busy[0]) // WINDOW)
    counts = [
        sum(busy[0] + number * WINDOW <= at < busy[0] + (number + 1) * WINDOW for at in times)
        for number in range(minutes)
    ]
    return median(counts) / limit if counts else None
