"""`python -m app release`: releases the usage of an invoice that is void or unknown to Chargebee."""

import asyncio
import sys

import click

from app.billing.access import BillingAccess
from app.billing.processing import open_billing
from app.billing.usage_release import Affected, NotReleased, Releaser
from app.cli import count, end_count, failing
from app.from_settings import billing_access
from app.settings import load_worker_settings
from app.sqs.sdk import require_sdk
from app.telemetry.logging import configure_logging


@click.command()
@click.option("--invoice", "invoice_id", required=True, help="The id of the invoice, or of the draft that it was.")
@click.option("--dry-run", is_flag=True, help="Show what the command would release, and change nothing.")
def release(invoice_id: str, dry_run: bool) -> None:
    """Release the usage of an invoice that is void or gone, so that another invoice can charge the usage.

    An invoice is gone if Chargebee does not know it. The command reads the whole table, and asks Chargebee for the
    invoice. The command changes nothing and exits with 1 if the invoice is neither void nor gone, if another invoice
    contains the charges, or if a worker works on the invoice. The command also removes the binding verdicts (final
    errors) of the invoice's events, so that `redrive` can try these events again.

    APP_BILLING_TABLE names the table; APP_CHARGEBEE_URL and APP_CHARGEBEE_API_KEY give access to the site.
    """
    settings = load_worker_settings()
    configure_logging(settings)
    access = billing_access(settings)
    require_sdk()
    try:
        with failing():
            asyncio.run(_release(access, invoice_id, dry_run=dry_run))
    except NotReleased as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


async def _release(access: BillingAccess, invoice_id: str, *, dry_run: bool) -> None:
    async with open_billing(access, "release") as billing:
        releaser = Releaser(billing.table, billing.chargebee, _progress)
        affected = await releaser.find(invoice_id)
        end_count()
        if affected.usage or affected.verdicts:
            await (releaser.require_void(affected) if dry_run else releaser.release(affected))
    _show(invoice_id, affected, dry_run=dry_run)


def _progress(read: int) -> None:
    count(f"{read:,} items of the invoice found")


def _show(invoice_id: str, affected: Affected, *, dry_run: bool) -> None:
    usage = [one for some in affected.usage.values() for one in some]
    if not usage and not affected.verdicts:
        click.echo(f"The invoice {invoice_id} has no usage and no binding verdict: there is nothing to release")
        return
    for one in usage:
        click.echo(f"  {one.customer_id} {one.reference} {one.amount:,} {one.currency or ''}".rstrip())
    for event_id, code in affected.verdicts.items():
        click.echo(f"  {event_id} {code}")
    verb = "would be" if dry_run else "were"
    click.echo(f"{len(usage):,} usage items and {len(affected.verdicts):,} verdicts {verb} released from {invoice_id}")
