"""Command line: see `python -m loadtest.capacity --help`."""

import sys

import click

from app.errors import ConfigurationError
from loadtest.capacity import estimate, figures
from loadtest.capacity.text import lines


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

    Computed, not measured. CPU for each webhook is from `make bench`; quotas and prices are those that AWS and
    Chargebee publish, with their addresses in loadtest/capacity/quotas.py. deploy/CAPACITY.md explains each
    line, and says which figures are not verified.
    """
    row = estimate.capacity(rate, processing=processing, body_bytes=body_bytes, fifo=fifo, cpu_ms=cpu_ms)
    shown = lines(row)
    width = max(len(name) for name, _ in shown)
    for name, value in shown:
        click.echo(f"{name:<{width}}  {value}")


if __name__ == "__main__":
    try:
        main(prog_name="python -m loadtest.capacity")
    except ConfigurationError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
