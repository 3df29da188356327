"""Computes what a rate of webhooks needs, from the figures of capacity_figures.py."""

import math
from typing import NamedTuple

from app.errors import ConfigurationError
from loadtest import capacity_figures as figures
from loadtest.capacity_figures import HIGH_THROUGHPUT_CALLS, Limit, dollars

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
