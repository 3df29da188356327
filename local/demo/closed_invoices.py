"""A worker closes the samples' invoices: each charge is on its invoice exactly once."""

import os
from typing import Any

from app.settings import Settings
from local.audit import audit, wait
from local.demo.output import Output
from local.launch import start_worker
from local.local_run import LocalRun
from local.sample_events import sample_files
from local.seeding import pending

# Chargebee's second plan.
CALLS_A_MINUTE = 1000
SECONDS = 60.0  # for ten invoices


def invoices(run: LocalRun, settings: Settings, output: Output) -> list[str]:
    """Has a worker bill the samples (v01 has done it); returns what is wrong with their invoices."""
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
    """A test site's 150 would let the demo wait."""
    return settings.chargebee_rate if "chargebee_rate" in settings.model_fields_set else CALLS_A_MINUTE


def _audited(run: LocalRun, events: list[dict[str, Any]], output: Output) -> list[str]:
    """Shows how many invoices are closed; returns what is wrong with them."""
    seen = audit(run.chargebee, events)
    output.say(seen.report(len(events)))
    if not seen.problems:
        output.say("\nOK: every invoice is closed once, and has each of its charges exactly once.")
    return seen.problems
