"""`python -m app reconcile`: enqueues Chargebee's events that were not processed."""

import asyncio
import re
import sys
import time
import uuid
from contextlib import nullcontext

import click

from app.billing.access import BillingAccess
from app.billing.processing import open_billing
from app.cli import failing
from app.from_settings import billing_access
from app.settings import WorkerSettings, load_worker_settings
from app.sqs.native import open_queue
from app.sqs.queue import QueueAddress, SendLimits
from app.sqs.sdk import require_sdk
from app.telemetry.logging import configure_logging
from app.terminal import is_dumb
from app.worker.event_comparison import Comparison, Summary, filters

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHOWN = 20


def duration(text: str) -> int:
    """Converts the text of an option, such as `90s`, `15m`, `6h` or `3d`, to seconds. Raises BadParameter."""
    if (match := re.fullmatch(r"(\d{1,6})([smhd])", text)) is None:
        raise click.BadParameter(f"{text!r} is not a duration: allowed is a number with s, m, h or d, as in 3d")
    return int(match[1]) * _SECONDS[match[2]]


@click.command()
@click.option("--since", type=duration, default="3d", show_default=True, help="Compare events younger than this.")
@click.option(
    "--settled",
    type=duration,
    default="15m",
    show_default=True,
    help="Skip events younger than this, because the worker may not have processed them yet.",
)
@click.option("--dry-run", is_flag=True, help="Show the missing events without enqueueing them.")
def reconcile(since: int, settled: int, dry_run: bool) -> None:
    """Compare Chargebee's events with the processed events, and enqueue the missing ones.

    The command enqueues only events of the types in APP_EVENT_TYPES. It sends them to APP_SQS_QUEUE_URL. It shows an
    event that can never succeed, but does not enqueue it: the event's message is in the dead-letter queue. The table
    keeps the record of a processed event for 15 days. After that, the event counts as missing, but nothing is charged
    twice.

    If an event cannot be enqueued, the command shows the event and continues. The exit code is then 1. After three
    failures in a row that the events did not cause, the command ends with 2.

    APP_BILLING_TABLE names the table; APP_CHARGEBEE_URL and APP_CHARGEBEE_API_KEY give access to the site.
    """
    if since <= settled:
        raise click.UsageError(
            f"--since is {since:,} s: allowed is more than --settled ({settled:,} s), because no event is in between"
        )
    settings = load_worker_settings()
    configure_logging(settings)
    access = billing_access(settings)
    require_sdk()
    now = int(time.time())
    summary = asyncio.run(_compare(settings, access, now - since, now - settled, dry_run=dry_run))
    _show(summary, dry_run=dry_run)
    if summary.error is not None:
        with failing():
            raise summary.error
    if summary.failed:
        raise click.exceptions.Exit(1)


async def _compare(
    settings: WorkerSettings, access: BillingAccess, since: int, until: int, *, dry_run: bool
) -> Summary:
    address = QueueAddress.at(settings.require_queue_url())
    sending = nullcontext() if dry_run else open_queue(address, SendLimits(settings.sqs_timeout))
    owner = f"reconcile-{uuid.uuid4().hex[:8]}"
    # The number of events is not known in advance. Chargebee returns the events in the order of their times, so the
    # progress bar shows the time of the latest event so far.
    bar = click.progressbar(length=until - since, label="Events", file=sys.stderr, hidden=is_dumb(sys.stderr))
    async with open_billing(access, owner) as billing, sending as queue:
        with bar:
            comparison = Comparison(None if queue is None else queue.send, settings.event_types, fifo=address.fifo)
            return await comparison.run(
                billing.chargebee.list_events(**filters(settings.event_types, since, until)),
                billing.known,
                progress=lambda occurred_at: bar.update(occurred_at - since - bar.pos),
            )


def _show(summary: Summary, *, dry_run: bool) -> None:
    """Prints at most SHOWN missing events, all events that a person must repair or enqueue, and the counts."""
    for event_id in summary.missing[:SHOWN]:
        click.echo(f"  {event_id}")
    if len(summary.missing) > SHOWN:
        click.echo(f"  … and {len(summary.missing) - SHOWN:,} more")
    for event_id, code in summary.judged.items():
        click.echo(f"  {event_id}: can never succeed: {code}")
    for name, cause in summary.failed.items():
        click.echo(f"  {name}: could not be enqueued: {cause}")
    enqueued, judged, failed = len(summary.missing), len(summary.judged), len(summary.failed)
    click.echo(
        f"{summary.seen:,} events at Chargebee: {summary.seen - enqueued - judged - failed:,} processed,"
        f" {enqueued + failed:,} missing, {'none' if dry_run else f'{enqueued:,}'} enqueued,"
        f" {judged:,} that can never succeed, {failed:,} that could not be enqueued"
    )
    if judged:
        click.echo(
            "Those that can never succeed are dead letters: repair the cause, then run `python -m app redrive`."
            ' If a person has closed, voided or deleted the invoice, see "Dead letters" in docs/operating.md'
        )
