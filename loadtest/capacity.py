"""Computes what a rate of webhooks needs: pods, SQS calls, queues, dollars and network, and which limits it reaches.

deploy/CAPACITY.md explains the results, and has their table.
"""

import math
from typing import NamedTuple

import click

from app.errors import ConfigurationError
from loadtest import capacity_figures as figures
from loadtest.capacity_figures import HIGH_THROUGHPUT_CALLS, Limit, dollars

SIZES = (100, 1_000, 10_000)  # of the table
MAX_RATE = 1e9
MAX_BODY_BYTES = 1_044_480  # APP_MAX_BODY_BYTES at most


class Capacity(NamedTuple):
    """The resources that `rate` webhooks per second need, if the rate stays the same for a month.

    - `calls_…`: calls of SendMessageBatch per second. In `calls_full`, each batch is full and has `per_call` webhooks.
      In `calls_expected`, batches are as full as the pods make them.
    - `dollars_…`: dollars per month. `dollars_full`, `dollars_expected` and `dollars_single` are SQS's price for full
      batches, for expected batches and for one webhook per call. `dollars_worker` adds to `dollars_expected` the price
      of receiving and deleting in full batches.
    - `gbit_in`, `gbit_out`: Gbit/s of the webhooks' bodies, and of the JSON of the calls, without HTTP headers, TLS and
      TCP.
    - `queues`: the number of queues, of which each stays within its limit of messages in flight.
    - `partitions`: partitions of a FIFO queue in high-throughput mode, or FIFO queues without this mode, if all
      messages of a batch belong to one partition. `partitions_most`: the same if each message belongs to another one.
    - `regions`: the AWS regions whose quota for FIFO queues allows the calls that are expected with a FIFO queue.
    - `sites`: the number of Chargebee sites (Enterprise) whose API limits together allow the worker's calls.
    - `limits`: the limits on the way into and through SQS, the one with the lowest rate first.
    """

    rate: float
    cores: float
    pods: int
    per_call: int
    calls_full: float
    calls_expected: float
    in_flight: float
    queues: int
    partitions: int
    partitions_most: int
    regions: tuple[str, ...]
    dollars_full: float
    dollars_expected: float
    dollars_single: float
    dollars_worker: float
    gbit_in: float
    gbit_out: float
    dollars_nat: float
    dollars_endpoint: float
    sites: int
    limits: tuple[Limit, ...]

    @property
    def met(self) -> list[Limit]:
        """The limits that are met on the way to this rate."""
        return [limit for limit in self.limits if limit.rate < self.rate]


def capacity(
    rate: float,
    *,
    processing: float = figures.PROCESSING_SECONDS,
    body_bytes: int = figures.BODY_BYTES,
    fifo: bool = False,
    cpu_ms: float = figures.CPU_MS,
) -> Capacity:
    """Returns what `rate` webhooks a second take. Raises ConfigurationError."""
    _check("--rate", rate, MAX_RATE)
    _check("--processing", processing, 43_200)
    _check("--body-bytes", body_bytes, MAX_BODY_BYTES)
    _check("--cpu-ms", cpu_ms, 60_000)
    message = body_bytes + figures.ATTRIBUTE_BYTES
    per_call = max(1, min(figures.ENTRIES_PER_BATCH, figures.BATCH_BYTES // message))
    out_bytes = body_bytes * (1 + figures.ESCAPES) + figures.ENTRY_BYTES
    gigabytes = rate * out_bytes * figures.MONTH_SECONDS / 1e9
    pod_rate = figures.POD_CORES * figures.UTILISATION * 1000 / cpu_ms
    pods = max(figures.MIN_PODS, math.ceil(rate / pod_rate))
    full = rate / per_call
    # A free slot takes what is waiting: a pod makes a call for each webhook until all its slots are busy.
    fifo_expected = max(full, min(rate, pods * figures.FIFO_CALLS_IN_FLIGHT / figures.SQS_SECONDS))
    expected = fifo_expected if fifo else max(full, min(rate, pods * figures.CALLS_IN_FLIGHT / figures.SQS_SECONDS))
    units_full = full * math.ceil(per_call * message / figures.BILLED_BYTES)
    units_expected = max(expected, units_full)
    return Capacity(
        rate=rate,
        cores=rate * cpu_ms / 1000,
        pods=pods,
        per_call=per_call,
        calls_full=full,
        calls_expected=expected,
        in_flight=rate * processing,
        queues=math.ceil(rate * processing / figures.IN_FLIGHT),
        partitions=math.ceil(full / figures.FIFO_CALLS),
        partitions_most=math.ceil(rate / figures.FIFO_CALLS),
        regions=tuple(name for name, calls in HIGH_THROUGHPUT_CALLS.items() if fifo_expected <= calls),
        dollars_full=_sqs_dollars(units_full, fifo),
        dollars_expected=_sqs_dollars(units_expected, fifo),
        dollars_single=_sqs_dollars(rate * math.ceil(message / figures.BILLED_BYTES), fifo),
        dollars_worker=_sqs_dollars(units_expected + units_full + full, fifo),
        gbit_in=rate * body_bytes * 8 / 1e9,
        gbit_out=rate * out_bytes * 8 / 1e9,
        dollars_nat=dollars(gigabytes, figures.NAT_PRICES),
        dollars_endpoint=dollars(gigabytes, figures.ENDPOINT_PRICES),
        sites=math.ceil(rate * figures.CHARGEBEE_CALLS_PER_WEBHOOK * 60 / figures.CHARGEBEE_CALLS["Enterprise"]),
        limits=figures.limits(pod_rate, per_call, processing, out_bytes, fifo=fifo),
    )


def _check(option: str, value: float, most: float) -> None:
    if not 0 < value <= most:
        raise ConfigurationError(f"{option} {value:.10g}: allowed is more than 0, at most {most:,.0f}")


def _sqs_dollars(units: float, fifo: bool) -> float:
    """`units` billed requests a second, throughout a month."""
    requests = max(0.0, units * figures.MONTH_SECONDS - figures.FREE_REQUESTS)
    return dollars(requests, figures.FIFO_PRICES if fifo else figures.STANDARD_PRICES) / 1e6


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
