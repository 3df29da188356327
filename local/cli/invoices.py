"""`python -m local invoices`: lists the invoices at the stand-in for Chargebee's API."""

import sys
import time
from collections import Counter
from datetime import datetime
from typing import Any

import click

from local.audit import invoices as read_invoices
from local.local_run import read_run
from local.settings import load_local_settings

_SECONDS = 1.0
_COLUMNS = ("id", "customer", "status", "charges", "total", "closed at")
_NUMBERS = ("charges", "total")
# The currencies that do not have two decimals (ISO 4217).
_NO_DECIMALS = frozenset(
    {
        *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW"),
        *("PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
_THREE_DECIMALS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
# The words that the table shows for each stage of an invoice. The stand-in's web page shows the same words.
_STAGES = {"pending": "pending", "charging": "being charged", "closed": "closed", "void": "void"}
_CLEAR = "\x1b[H\x1b[2J"


@click.command()
@click.option("--watch", is_flag=True, help="List the invoices again after each change, until Ctrl-C.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="Maximum number of invoices to list. The invoice that changed last is at the bottom.",
)
def invoices(watch: bool, limit: int) -> None:
    """List the invoices of the local run (`make run`), and show which of them are pending, being charged or closed.

    The stand-in for Chargebee's API stores the invoices. The stand-in's web page shows the invoices and every change.
    """
    run = read_run(load_local_settings().run_dir)
    shown = read_invoices(run.chargebee)
    click.echo(_table(shown, limit))
    while watch:
        time.sleep(_SECONDS)
        now = read_invoices(run.chargebee)
        if now != shown:
            shown = now
            click.echo((_CLEAR if sys.stdout.isatty() else "") + _table(shown, limit))


def _table(found: list[dict[str, Any]], limit: int) -> str:
    """Returns a table with a line for each invoice, and a line with the counts."""
    rows = [_COLUMNS, *(_row(invoice) for invoice in found[-limit:])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(map(_cell, row, widths, _COLUMNS)).rstrip() for row in rows]
    stages = Counter(invoice["stage"] for invoice in found)
    counts = ", ".join(f"{stages[stage]:,} {words}" for stage, words in _STAGES.items() if stage in stages)
    left_out = [f"… and {len(found) - limit:,} more (--limit)"] if len(found) > limit else []
    return "\n".join([*left_out, *lines, f"{len(found):,} invoices{': ' + counts if counts else ''}"])


def _row(invoice: dict[str, Any]) -> tuple[str, ...]:
    currency, closed = invoice["currency_code"] or "", invoice["closed_at"]
    decimals = 0 if currency in _NO_DECIMALS else 3 if currency in _THREE_DECIMALS else 2
    total = f"{invoice['total'] / 10**decimals:,.{decimals}f}"
    when = datetime.fromtimestamp(closed).astimezone().strftime("%H:%M:%S") if closed else ""
    customer = "".join(letter if letter.isprintable() else "?" for letter in invoice["customer_id"])
    status = _STAGES[invoice["stage"]] + (f" ({invoice['status']})" if invoice["stage"] == "closed" else "")
    return invoice["id"], customer, status, str(invoice["charges"]), f"{total} {currency}".strip(), when


def _cell(text: str, width: int, column: str) -> str:
    return text.rjust(width) if column in _NUMBERS else text.ljust(width)
