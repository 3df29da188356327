"""Prints what a rate of webhooks needs: pods, SQS calls, queues, dollars and network, and which limits it reaches.

deploy/CAPACITY.md explains the results, and has their table.
"""

import click

from app.errors import ConfigurationError
from loadtest import capacity_figures as figures
from loadtest.capacity_calculation import Capacity, capacity
from loadtest.capacity_figures import HIGH_THROUGHPUT_CALLS

SIZES = (100, 1_000, 10_000)  # of the table


def lines(row: Capacity) -> dict[str, str]:
    """Returns the values as text by their names, the same for the command and for the page's table."""
    month, met, coming = row.rate * figures.MONTH_SECONDS, row.met, row.limits[0]
    return {
        "webhooks a month": f"{month:,.0f}" if month < 1e9 else f"{month / 1e9:,.2f} billion",  # noqa: PLR2004
        "CPU": f"{row.cores:,.2f} cores",
        f"pods of {figures.POD_CORES:g} cores, {figures.UTILISATION * 100:.0f} % in use": f"{row.pods:,}",
        f"SQS calls a second, {row.per_call} webhooks each": f"{row.calls_full:,.0f}",
        "SQS calls a second, expected": f"{row.calls_expected:,.0f}",
        "SQS calls a second, one webhook each": f"{row.rate:,.0f}",
        f"messages in flight at {row.in_flight / row.rate:g} s": f"{row.in_flight:,.0f}",
        f"queues, {figures.IN_FLIGHT:,} in flight each": f"{row.queues:,}",
        "FIFO: partitions in high-throughput mode, or queues": f"{row.partitions:,} to {row.partitions_most:,}",
        "FIFO: regions whose quota is enough": (
            "all" if len(row.regions) == len(HIGH_THROUGHPUT_CALLS) else "; ".join(row.regions) or "none"
        ),
        "SQS a month, full batches": f"${row.dollars_full:,.0f}",
        "SQS a month, expected batches": f"${row.dollars_expected:,.0f}",
        "SQS a month, one webhook a call": f"${row.dollars_single:,.0f}",
        "SQS a month, worker included": f"${row.dollars_worker:,.0f}",
        "network in": f"{row.gbit_in:,.3f} Gbit/s",
        "network out, to SQS": f"{row.gbit_out:,.3f} Gbit/s",
        "that through NAT gateways, a month": f"${row.dollars_nat:,.0f}",
        "that through VPC endpoints, a month": f"${row.dollars_endpoint:,.0f}",
        "Chargebee sites, by their API's limit": f"{row.sites:,}",
        "limits met": "; ".join(f"{limit.name}, at {limit.rate:,.0f}/s: {limit.remedy}" for limit in met)
        or f"none; the next is {coming.name}, at {coming.rate:,.0f}/s",
    }


def table() -> str:
    """The sizes side by side, in Markdown: standard queues, and what differs where they are FIFO."""
    columns = [lines(capacity(size)) for size in SIZES]
    fifo = [lines(capacity(size, fifo=True)) for size in SIZES]
    rows = ["|  | " + " | ".join(f"{size:,}/s" for size in SIZES) + " |", "|---" + "|---:" * len(SIZES) + "|"]
    rows += [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]]
    for name in ("SQS calls a second, expected", "SQS a month, expected batches", "limits met"):
        rows.append(f"| FIFO: {name} | " + " | ".join(column[name] for column in fifo) + " |")
    return "\n".join(rows)


@click.command()
@click.option("--rate", type=float, required=True, help="Webhooks a second.")
@click.option(
    "--processing",
    type=float,
    default=figures.PROCESSING_SECONDS,
    show_default=True,
    help="Seconds from receiving a message to deleting it.",
)
@click.option("--body-bytes", type=int, default=figures.BODY_BYTES, show_default=True, help="Size of a webhook's body.")
@click.option("--fifo", is_flag=True, help="The queue is FIFO; otherwise standard.")
@click.option(
    "--cpu-ms", type=float, default=figures.CPU_MS, show_default=True, help="CPU for each webhook, in milliseconds."
)
def main(rate: float, processing: float, body_bytes: int, fifo: bool, cpu_ms: float) -> None:
    """Print what RATE webhooks a second take: pods, SQS calls, queues, dollars, network, the limits that are met.

    Computed, not measured. CPU for each webhook is from `python -m loadtest bench`; quotas and prices are those that
    AWS and Chargebee publish, with their addresses in loadtest/capacity_figures.py. deploy/CAPACITY.md explains each
    line, and says which figures are not verified.
    """
    try:
        row = capacity(rate, processing=processing, body_bytes=body_bytes, fifo=fifo, cpu_ms=cpu_ms)
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from None
    shown = lines(row)
    width = max(map(len, shown))
    for name, value in shown.items():
        click.echo(f"{name:<{width}}  {value}")
