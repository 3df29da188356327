"""Sends thousands of events to workers, kills a worker every few seconds, and audits every charge.

Some events are redelivered, some arrive in the wrong order, and some can never succeed. Plan names, and the ids and
descriptions of usage, look like the references by which a worker recognises its charges. Chargebee's stand-in answers a
share of the calls with errors, and every 50th call with a 429 and a random Retry-After, which is sometimes absurdly
high. The stand-in enforces the rate limit in real time. But it forgets idempotency keys sooner than Chargebee
does, so that keys expire during the run.

A customer has one or two subscriptions. Each invoice is in one of two currencies. During the run, a simulated person
closes, deletes or voids one invoice in 50, and regenerates the deleted and voided invoices. A simulated service, which
writes usage into the table, repeats the write of one item in 20.

The audit requires that each invoice is closed once. Each item of usage must be charged once, on the invoice of the
item's subscription and in the item's currency. If a person has changed the invoice, a dead letter that says so may
replace the charge. Each message that can never succeed must be in the dead-letter queue with the correct reason. Writes
billing.json to loadtest/results/<date>-<commit>.
"""

import random
import tempfile
from pathlib import Path

import click

from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.fire import progress
from loadtest.fire.billed import audit, wait_until_billed
from loadtest.fire.deliveries import deliveries
from loadtest.fire.killed_workers import Workers
from loadtest.fire.person import Person
from loadtest.fire.writer import Writer
from loadtest.record import folders, meta
from loadtest.record.billing_record import BillingAudit
from loadtest.stage.worker_stack import Rules, open_worker_stack
from local.machine import Watch

EVENTS, ERRORS = 10_000, 0.05  # a run with fewer events or errors is a trial run, which documents do not use
WORKERS = 2
RESTS = 50  # every 50th call gets a 429 with a Retry-After


@click.command(help=__doc__)
@click.option("--events", type=click.IntRange(100), default=EVENTS, show_default=True)
@click.option("--rate", type=click.IntRange(60), default=3500, show_default=True, help="API calls a minute allowed.")
@click.option("--errors", type=click.FloatRange(0, 0.5), default=ERRORS, show_default=True, help="Share of API calls.")
@click.option("--kills/--no-kills", default=True, show_default=True, help="One of the workers, every few seconds.")
@click.option("--seed", type=int, help="[default: a random one, which is printed]")
def main(events: int, rate: int, errors: float, kills: bool, seed: int | None) -> None:
    with exit_on_failure():
        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        click.echo(f"--seed {seed}")
        quick = events < EVENTS or errors < ERRORS
        file = folders.comparison(meta.environment(), quick) / f"billing{'' if kills else '-without-kills'}.json"
        with tempfile.TemporaryDirectory() as folder:
            done = bill(
                events,
                Rules(rate=rate, errors=errors, seed=seed, rests=RESTS),
                Path(folder) / "workers.log",
                kills=kills,
            )
        click.echo(done.text())
        folders.write(file, done)
        click.echo(file)
    if not done.holds:
        raise SystemExit("the audit failed")


def bill(events: int, rules: Rules, log: Path, *, kills: bool) -> BillingAudit:
    """Lets workers bill `events` events, and returns the audit. If `kills` is true, kills a worker now and then.

    Raises TimeoutError if the workers make no progress for too long, and ChildProcessError if a worker ends by itself.
    """
    where = meta.environment()  # read at the start, because somebody may commit during the run
    planned = deliveries(events, rules.seed)
    with (
        Watch() as watch,
        open_worker_stack(rules) as stage,
        progress.count("billing", len(planned.events)) as shown,
    ):
        stage.seed(planned.events, planned.billables)
        stage.send(planned.messages)
        person = Person(stage, planned, rules.seed)
        writer = Writer(stage, planned.billables, rules.seed)
        environment = stage.environment()
        with Workers(WORKERS, environment, log, retry_s=rules.retry_s, seed=rules.seed, killed=kills) as workers:
            seconds = wait_until_billed(stage, planned, workers, (person, writer), shown)
        found = audit(stage, planned, person)
    return BillingAudit(
        environment=where,
        command=interleaved.called("--seed", str(rules.seed)),
        seed=rules.seed,
        events=events,
        again=planned.again,
        too_late=planned.too_late,
        poison=len(planned.poison),
        invoices=len(planned.events),
        charges=sum(map(len, planned.charges.values())),
        workers=WORKERS,
        kills=workers.kills,
        seconds=seconds,
        idempotency_s=rules.idempotency_s,
        lease_s=rules.lease_s,
        error_share=rules.errors,
        rests=rules.rests,
        rewritten=writer.repeated,
        doubts=tuple(watch.busy.doubts()),
        **found,
    )
