"""`python -m app redrive`: moves dead letters back to the queue."""

import asyncio

import click
from botocore.exceptions import BotoCoreError, ClientError

from app.cli import count, end_count, failing
from app.errors import CommandFailed
from app.settings import WorkerSettings, load_worker_settings
from app.sqs.failures import NotAcknowledgedError
from app.sqs.sdk import require_sdk
from app.telemetry.logging import configure_logging
from app.telemetry.record import unobserved
from app.worker.consumed_queue import ConsumedQueue
from app.worker.dead_letter_moves import count_by_reason
from app.worker.dead_letter_moves import redrive as move
from app.worker.worker_process import open_queues_of


@click.command()
@click.option("--dry-run", is_flag=True, help="Count the dead letters by reason without moving them.")
@click.option("--limit", type=click.IntRange(min=1), help="Move at most this many dead letters, one by one.")
def redrive(dry_run: bool, limit: int | None) -> None:
    """Move the messages of APP_DEAD_LETTER_QUEUE_URL back to APP_SQS_QUEUE_URL.

    On AWS, SQS itself moves the messages (StartMessageMoveTask). With --limit, and on emulators without that call, this
    command sends each message to the queue, and then deletes the dead letter. The sent message lacks the attributes
    that say why the message became a dead letter. --dry-run receives each dead letter once, and then makes it visible
    again.

    If a dead letter cannot be moved, the command shows it with the cause, and continues. The exit code is then 1. After
    three failures in a row that the messages did not cause, the command ends with 2.
    """
    settings = load_worker_settings()
    configure_logging(settings)
    require_sdk()
    try:
        with failing():
            asyncio.run(_redrive(settings, limit, dry_run=dry_run))
    except (BotoCoreError, ClientError, NotAcknowledgedError, TimeoutError) as error:
        raise CommandFailed(f"SQS: {str(error) or type(error).__name__}") from None


async def _redrive(settings: WorkerSettings, limit: int | None, *, dry_run: bool) -> None:
    async with open_queues_of(settings, unobserved) as (queue, dead):
        await (_count if dry_run else _move)(queue, dead, limit)


async def _count(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None) -> None:
    counts = await count_by_reason(dead, limit)
    for reason, number in counts.by_reason.items():
        click.echo(f"{number:7,}  {reason}")
    more = f"; the reasons of {counts.not_counted:,} more were not read" if counts.not_counted else ""
    click.echo(f"{sum(counts.by_reason.values()):,} messages would go from {dead.name} to {queue.name}{more}")


async def _move(queue: ConsumedQueue, dead: ConsumedQueue, limit: int | None) -> None:
    result = await move(queue, dead, limit, lambda moved, total: count(f"{moved:,} of {total:,}"))
    end_count()
    for name, cause in result.failed.items():
        click.echo(f"  {name}: {cause}")
    failed = f", {len(result.failed):,} could not be moved" if result.failed else ""
    click.echo(f"{result.moved:,} messages moved from {dead.name} to {queue.name}{failed}")
    if result.error is not None:
        raise result.error
    if result.failed:
        raise click.exceptions.Exit(1)
