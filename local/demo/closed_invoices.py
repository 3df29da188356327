"""Lets a worker close the invoices of the sample events, and checks that each invoice has its charges exactly once."""

import os
from typing import Any

from app.events import PENDING_INVOICE_CREATED
from app.settings import WebSettings, load_worker_settings
from local.demo.output import Output
from local.launch import start_worker
from local.local_run import LocalRun
from local.money_audit import audit, wait
from local.sample_events import sample_files
from local.seeding import pending

# The demo's rate limit in calls per minute. Chargebee's plans allow 150, 1,000 or 3,500.
CALLS_A_MINUTE = 1000
SECONDS = 60.0  # the worker must close the ten invoices of the sample events within this time


def bill_samples(run: LocalRun, settings: WebSettings, output: Output) -> list[str]:
    """Lets a worker bill the sample events, and returns a line for each problem.

    v01 needs no worker, because its service has already billed the events.
    """
    events = list(pending(file.read_bytes() for file in sample_files()))
    if PENDING_INVOICE_CREATED not in settings.event_types:
        events = []  # the settings make the service ignore these events
    if not settings.release.enqueues:
        return _audited(run, events, output)
    output.note(f"\nStarting a worker; the invoices are shown on {run.chargebee}")
    variables = {"APP_CHARGEBEE_RATE": str(calls_a_minute()), "APP_LOG_LEVEL": "ERROR"}
    with start_worker(run, os.environ, variables) as child, output.bar("Invoices closed", len(events)) as closed:
        in_time = wait(run.chargebee, events, SECONDS, closed, lambda: child.poll() is None)
        code = child.poll()
    problems = _audited(run, events, output)
    if in_time:
        return problems
    reason = f"did not close all invoices within {SECONDS:g} s" if code is None else f"ended with exit code {code}"
    return [f"the worker {reason}", *problems]


def calls_a_minute() -> int:
    """Returns APP_CHARGEBEE_RATE if it is set, or CALLS_A_MINUTE otherwise.

    The default of APP_CHARGEBEE_RATE is the limit of a Chargebee test site, 150 calls a minute. With so few calls, the
    demo would have to wait for the rate limit.
    """
    settings = load_worker_settings()
    return settings.chargebee_rate if "chargebee_rate" in settings.model_fields_set else CALLS_A_MINUTE


def _audited(run: LocalRun, events: list[dict[str, Any]], output: Output) -> list[str]:
    """Checks the events' invoices, prints how many are closed, and returns a line for each problem."""
    result = audit(run.chargebee, events)
    output.say(result.report(len(events)))
    if not result.problems:
        output.say("\nOK: every invoice of a renewal is closed once, and has each of its charges exactly once.")
    return result.problems
