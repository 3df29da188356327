"""`python -m app unbilled`: shows the usage that is not billed on an invoice."""

import asyncio
import time
from datetime import UTC, datetime

import click

from app.billing.dynamodb import open_table
from app.billing.usage_report import Group, Report
from app.billing.usage_report import unbilled as find
from app.cli import count, end_count, failing
from app.cli.reconcile import duration
from app.settings import load_worker_settings
from app.sqs.sdk import require_sdk
from app.telemetry.logging import configure_logging

LAST = 10**10  # unix seconds, later than any usage: times in keys have only ten digits


@click.command()
@click.option(
    "--older-than",
    type=duration,
    default="35d",
    show_default=True,
    help="Skip usage younger than this. 0s skips nothing, not even usage whose time is in the future.",
)
def unbilled(older_than: int) -> None:
    """Show the usage that is not billed, by customer and currency, with the reasons. The command reads the whole table.

    Usage will never be charged if it came too late for its invoice, or if no invoice covers its period. Usage younger
    than --older-than is not shown, because it may still wait for its invoice. The command also shows usage of any age
    that was changed after an invoice reserved it.

    APP_BILLING_TABLE names the table. The AWS SDK's variables set the endpoint, the region and the credentials.
    """
    settings = load_worker_settings()
    configure_logging(settings)
    table = settings.require_billing_table()
    require_sdk()
    with failing():
        report = asyncio.run(_find(table, int(time.time()) - older_than if older_than else LAST))
    _show(report)


async def _find(table: str, before: int) -> Report:
    async with open_table(table, connections=1) as opened:
        report = await find(opened, before, lambda read: count(f"{read:,} usage items read"))
    end_count()
    return report


def _show(report: Report) -> None:
    if report.groups:
        click.echo(f"{'customer':50} {'currency':8} {'items':>7} {'sum':>14} {'oldest':10} reasons")
    for (customer, currency), group in sorted(report.groups.items()):
        click.echo(_line(_printable(customer), currency or "-", group))
    for charge, now in report.changed:
        changed = "cannot be read now" if now is None else f"is now {now.amount:,}: {_printable(now.description)}"
        what = f"{_printable(charge.customer_id)} {_printable(charge.reference)}"
        click.echo(f"changed too late: {what} is on {charge.invoice_id} with {charge.amount:,}, and {changed}")
    number = sum(group.number for group in report.groups.values())
    click.echo(f"{report.read:,} usage items: {number:,} not billed, {len(report.changed):,} changed too late")


def _line(customer: str, currency: str, group: Group) -> str:
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in group.reasons.most_common())
    oldest = datetime.fromtimestamp(group.oldest, UTC).date()
    return f"{customer:50} {currency:8} {group.number:7,} {group.total:14,} {oldest} {reasons}"


def _printable(text: str) -> str:
    return text if text.isprintable() else repr(text)
