"""Lets a worker close the samples' invoices, and checks that each charge is on its invoice exactly once."""

import os
from typing import Any

from app.settings import Settings
from local.audit import audit, wait
from local.demo.output import Output
from local.launch import start_worker
from local.local_run import LocalRun
from local.sample_events import sample_files
from local.seeding import pending

# The limit of Chargebee's second plan.
CALLS_A_MINUTE = 1000
SECONDS = 60.0  # for ten invoices


def bill_samples(run: LocalRun, settings: Settings, output: Output) -> list[str]:
    """Lets a worker bill the samples, which v01 does itself; returns the invoices' problems."""
    events = list(pending(file.read_bytes() for file in sample_files()))
    if not settings.release.enqueues:
        return _audited(run, events, output)
    output.note(f"\nStarting a worker; the invoices are shown on {run.chargebee}")
    variables = {"APP_CHARGEBEE_RATE": str(calls_a_minute(settings)), "APP_LOG_LEVEL": "ERROR"}
    with start_worker(run, os.environ, variables) as child, output.bar("Invoices closed", len(events)) as closed:
        in_time = wait(run.chargebee, events, SECONDS, closed, lambda: child.poll() is None)
    problems = _audited(run, events, output)
    return problems if in_time else [f"the worker did not close all invoices within {SECONDS:g} s", *problems]


def calls_a_minute(settings: Settings) -> int:
    """Returns APP_CHARGEBEE_RATE if it is set; the default of 150, a test site's limit, would make the demo wait."""
    return settings.chargebee_rate if "chargebee_rate" in settings.model_fields_set else CALLS_A_MINUTE


def _audited(run: LocalRun, events: list[dict[str, Any]], output: Output) -> list[str]:
    """Shows how many invoices are closed; returns the invoices' problems."""
    result = audit(run.chargebee, events)
    output.say(result.report(len(events)))
    if not result.problems:
        output.say("\nOK: every invoice is closed once, and has each of its charges exactly once.")
    return result.problems
