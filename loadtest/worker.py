"""Measures a worker that is limited to a quarter of a core: CPU for each event, and events a second.

All events are in the queue before the worker starts. The queue and the table are in the embedded AWS (an emulator),
over TLS. Chargebee's stand-in returns no errors, and its rate limit is too high to be reached. Writes worker.json to
loadtest/results/<date>-<commit>.
"""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress
from loadtest.fire.deliveries import PLAIN, deliveries
from loadtest.record import folders, meta
from loadtest.record.worker_record import WorkerBench, WorkerRun
from loadtest.stage.budget import LIMITS, Budget, open_budget
from loadtest.stage.budget import doubts as unlimited
from loadtest.stage.budget.budget_limits import MIB
from loadtest.stage.worker_stack import Rules, WorkerStack, open_worker_stack
from loadtest.stage.worker_stage import require_running, started
from local.machine import Watch

# A run with fewer events or repeats is a trial run, which documents do not use.
EVENTS, REPEATS = 1000, 3
BUDGET = "capped"
RULES = Rules(rate=1_000_000, errors=0, seed=0, lease_s=60, call_timeout_s=20, visibility_s=60)
POLL_SECONDS = 0.2
STANDSTILL_SECONDS = 120


@click.command(help=__doc__)
@click.option("--events", type=click.IntRange(100), default=EVENTS, show_default=True)
@click.option("--repeats", type=click.IntRange(1, 50), default=REPEATS, show_default=True)
def main(events: int, repeats: int) -> None:
    with exit_on_failure():
        done = bench(events, repeats)
        click.echo(done.table())
        for doubt in done.doubts:
            click.echo(f"DOUBTFUL: {doubt}")
        file = folders.comparison(done.environment, events < EVENTS or repeats < REPEATS) / "worker.json"
        folders.write(file, done)
        click.echo(file)


def bench(events: int, repeats: int) -> WorkerBench:
    """Measures `repeats` times how a worker bills `events` events.

    Raises TimeoutError if the worker closes no invoice for STANDSTILL_SECONDS, and ChildProcessError if it ends.
    """
    where = meta.environment()  # read at the start, because somebody may commit during the run
    runs, doubts = [], set()
    with progress.count("worker", events * repeats) as shown, tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            with open_budget(BUDGET) as budget, Watch() as watch:
                how = budget.how
                cpus = LIMITS[BUDGET].cpus if budget.limited else None
                run = _run(budget, events, Path(folder) / "worker.log", partial(_add, shown, repeat * events))
            runs.append(run)
            doubts.update(watch.busy.doubts() + unlimited(BUDGET, budget))
    return WorkerBench(
        environment=where,
        command=interleaved.called(),
        events=events,
        cpus=cpus,
        how=how,
        concurrency=RULES.concurrency,
        latency_ms=1000 * RULES.latency_s,
        runs=runs,
        doubts=sorted(doubts),
    )


def _add(shown: progress.Count, before: int, closed: int) -> None:
    shown(before + closed)


def _run(budget: Budget, events: int, log: Path, shown: progress.Count) -> WorkerRun:
    """Runs one worker until it has closed the invoices of `events` events, and returns its figures."""
    planned = deliveries(events, RULES.seed, PLAIN)
    with open_worker_stack(RULES) as stage:
        stage.seed(planned.events, planned.billables)
        stage.send(planned.messages)
        with started(stage.environment(), budget, log) as worker:

            def closed(invoices: int) -> None:
                _wait(stage, invoices, shown, lambda: require_running(worker, log))

            closed(events // 10)
            # Attached only now, because Docker needs some time to put the worker into a control group.
            budget.attach(worker.pid)
            first, cpu, began = stage.closed(), budget.cpu_seconds(), time.monotonic()
            closed(events - events // 10)
            last, cpu, seconds = stage.closed(), budget.cpu_seconds() - cpu, time.monotonic() - began
            closed(events)
            peak = budget.peak_bytes()
        calls = stage.audit()["calls"]
    return WorkerRun(
        cpu_ms_per_event=1000 * cpu / (last - first),
        events_per_s=(last - first) / seconds,
        charges_per_event=sum(map(len, planned.charges.values())) / events,
        calls_per_event=sum(len(times) for statuses in calls.values() for times in statuses.values()) / events,
        peak_mib=peak and peak / MIB,
    )


def _wait(stage: WorkerStack, invoices: int, shown: progress.Count, check: Callable[[], None]) -> None:
    """Waits until `invoices` invoices are closed, and calls `check` repeatedly while it waits."""
    closed, changed = -1, time.monotonic()
    while closed < invoices:
        check()
        if (now := stage.closed()) != closed:
            closed, changed = now, time.monotonic()
            shown(closed)
        if time.monotonic() - changed > STANDSTILL_SECONDS:
            raise TimeoutError(f"{closed} of {invoices} invoices were closed, then none for {STANDSTILL_SECONDS} s")
        time.sleep(POLL_SECONDS)
