"""Waits until workers have billed all invoices, and audits the result at Chargebee's stand-in."""

import time
from collections import Counter
from statistics import median
from typing import Any

from loadtest.fire.deliveries import Deliveries
from loadtest.fire.judgement import Judge
from loadtest.fire.killed_workers import Workers
from loadtest.fire.person import Person
from loadtest.fire.progress import Count
from loadtest.fire.writer import Writer
from loadtest.record.billing_record import ChargebeeCalls
from loadtest.stage.worker_stack import WorkerStack

POLL_SECONDS = 1.0
# Must be longer than the longest delay of a retry, which is 900 s (see `app.worker.retry`).
STANDSTILL_SECONDS = 1000
WINDOW = 60.0


def wait_until_billed(
    stage: WorkerStack, planned: Deliveries, workers: Workers, beside: tuple[Person, Writer], shown: Count
) -> float:
    """Waits until the queue is empty, and the person and the writer (`beside`) are done. Returns the seconds it took.

    Lets the person and the writer act meanwhile. Raises TimeoutError if nothing has changed for STANDSTILL_SECONDS,
    ChildProcessError if a worker has ended by itself, and ConfigurationError if Chargebee's stand-in does not answer.
    """
    began = changed = time.monotonic()
    before: tuple[int, int] | None = None
    person, writer = beside
    waiting = len(planned.messages)
    while True:
        workers.check()
        invoices = stage.invoices()
        ended = sum(one["stage"] in {"closed", "void"} for one in invoices if one["id"] in planned.charges)
        shown(ended)
        # If the queue is empty, the workers are done, even if some invoices are not closed.
        progress = ended / len(planned.events) if waiting else 1.0
        person.act(invoices, progress)
        writer.act(progress)
        waiting = stage.waiting()  # counted after `person.act`, which sends further events
        if not waiting and person.is_done() and writer.is_done():
            return time.monotonic() - began
        state = (ended, waiting)
        if state != before:
            before, changed = state, time.monotonic()
        if time.monotonic() - changed > STANDSTILL_SECONDS:
            raise TimeoutError(f"{ended} of {len(planned.events)} invoices closed, {waiting} messages left")
        time.sleep(POLL_SECONDS)


def audit(stage: WorkerStack, planned: Deliveries, person: Person) -> dict[str, Any]:
    """Returns the fields of `BillingAudit` about calls, dead letters, messages in the queue, and charges."""
    found = stage.audit()
    letters = [letter.attributes for letter in stage.dead_letters()]
    return {
        "calls": _calls(found, len(planned.events)),
        "dead_letters": dict(Counter(letter.get("reason", "none") for letter in letters)),
        "left_in_queue": stage.waiting(),
        "by_person": dict(Counter(deed.what for deed in person.deeds.values())),
        **Judge(planned, person.deeds, found["invoices"], letters).found(),
    }


def _calls(found: dict[str, Any], invoices: int) -> ChargebeeCalls:
    by_status: Counter[str] = Counter()
    all_times = []
    for statuses in found["calls"].values():
        for status, times in statuses.items():
            by_status[status] += len(times)
            all_times += times
    closed = sorted(invoice["closed_at"] for invoice in found["invoices"] if invoice["closed_at"] is not None)
    # The time of the last tenth of the invoices is left out, because their events mostly wait for retries.
    busy = (min(all_times), closed[int(0.9 * (min(invoices, len(closed)) - 1))]) if closed else (0.0, 0.0)
    used = _used(sorted(all_times), busy, found["limit"])
    return ChargebeeCalls(limit=found["limit"], by_status=dict(by_status), most=found["most_calls_in_60s"], used=used)


def _used(times: list[float], busy: tuple[float, float], limit: int) -> float | None:
    """Returns the number of calls in the median minute, divided by `limit`. None if `busy` is shorter than a minute.

    `times`: the time of each call. `busy`: the start and the end of the time to consider. Only whole minutes count.
    """
    minutes = int((busy[1] - busy[0]) // WINDOW)
    counts = [
        sum(busy[0] + number * WINDOW <= at < busy[0] + (number + 1) * WINDOW for at in times)
        for number in range(minutes)
    ]
    return median(counts) / limit if counts else None
