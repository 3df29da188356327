"""`python -m local invoices`: lists the invoices at the stand-in for Chargebee's API."""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import click

from app.terminal import draws
from local.local_run import read_run
from local.local_settings import load_local_settings
from local.money_audit import invoices as read_invoices

_SECONDS = 1.0
_COLUMNS: tuple[str, ...] = ("id", "customer", "status", "charges", "total", "closed at")
_NUMBERS = ("charges", "total")
# Currencies without decimals (ISO 4217). Those in _THREE_DECIMALS have three; the table shows all others with two.
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
_SHORTEST = 8  # the minimum number of characters that the table shows of a customer's id
_UNLIMITED = 1000  # the number of columns if the output is a pipe or a file


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
    with suppress(KeyboardInterrupt):  # Ctrl-C is the usual end of --watch
        _list(run.chargebee, watch, limit)


def _list(chargebee: str, watch: bool, limit: int) -> None:
    shown = read_invoices(chargebee)
    click.echo(_table(shown, limit, _columns()))
    while watch:
        time.sleep(_SECONDS)
        now = read_invoices(chargebee)
        if now != shown:
            shown = now
            click.echo((_CLEAR if draws(sys.stdout) else "") + _table(shown, limit, _columns()))


def _columns() -> int:
    return shutil.get_terminal_size((_UNLIMITED, 24)).columns


def _table(found: list[dict[str, Any]], limit: int, columns: int) -> str:
    """Returns a table with a line for each invoice, and a line with the counts.

    If the table is wider than `columns`, leaves out Chargebee's status and the closing times, and shortens the
    customers' ids.
    """
    rows = [_COLUMNS, *(_row(invoice) for invoice in found[-limit:])]
    if _width(rows) > columns:
        rows = [(*row[:2], row[2].partition(" (")[0], *row[3:-1]) for row in rows]
        longest = max(_widths(rows)[1] - max(_width(rows) - columns, 0), _SHORTEST)
        rows = [(row[0], _shortened(row[1], longest), *row[2:]) for row in rows]
    lines = ["  ".join(map(_cell, row, _widths(rows), _COLUMNS)).rstrip() for row in rows]
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


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return sum(_widths(rows)) + len("  ") * (len(rows[0]) - 1)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _cell(text: str, width: int, column: str) -> str:
    return text.rjust(width) if column in _NUMBERS else text.ljust(width)
