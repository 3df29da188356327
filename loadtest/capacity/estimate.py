"""What a rate of webhooks takes: cores, pods, SQS calls, queues, dollars, network, and its limits."""

import math

from app.errors import ConfigurationError
from loadtest.capacity.figures import (
    ATTRIBUTE_BYTES,
    BATCH_BYTES,
    BODY_BYTES,
    CALLS_IN_FLIGHT,
    CPU_MS,
    ENTRY_BYTES,
    ESCAPES,
    FIFO_CALLS_IN_FLIGHT,
    MIN_PODS,
    MONTH_SECONDS,
    POD_CORES,
    PROCESSING_SECONDS,
    SQS_SECONDS,
    UTILISATION,
)
from loadtest.capacity.limits import limits
from loadtest.capacity.quotas import (
    BILLED_BYTES,
    CHARGEBEE_CALLS,
    CHARGEBEE_CALLS_PER_WEBHOOK,
    ENDPOINT_PRICES,
    ENTRIES_PER_BATCH,
    FIFO_CALLS,
    FIFO_PRICES,
    FREE_REQUESTS,
    HIGH_THROUGHPUT_CALLS,
    IN_FLIGHT,
    NAT_PRICES,
    STANDARD_PRICES,
    dollars,
)
from loadtest.capacity.row import Row

MAX_RATE = 1e9
MAX_BODY_BYTES = 1_044_480  # APP_MAX_BODY_BYTES at most


def capacity(
    rate: float,
    *,
    processing: float = PROCESSING_SECONDS,
    body_bytes: int = BODY_BYTES,
    fifo: bool = False,
    cpu_ms: float = CPU_MS,
) -> Row:
    """The row for `rate` webhooks a second. Raises ConfigurationError."""
    _check("--rate", rate, MAX_RATE)
    _check("--processing", processing, 43_200)
    _check("--body-bytes", body_bytes, MAX_BODY_BYTES)
    _check("--cpu-ms", cpu_ms, 60_000)
    message = body_bytes + ATTRIBUTE_BYTES
    per_call = max(1, min(ENTRIES_PER_BATCH, BATCH_BYTES // message))
    out_bytes = body_bytes * (1 + ESCAPES) + ENTRY_BYTES
    pod_rate = POD_CORES * UTILISATION * 1000 / cpu_ms
    pods = max(MIN_PODS, math.ceil(rate / pod_rate))
    full = rate / per_call
    # A free slot takes what is waiting: a pod makes a call for each webhook until all its slots are busy.
    fifo_expected = max(full, min(rate, pods * FIFO_CALLS_IN_FLIGHT / SQS_SECONDS))
    expected = fifo_expected if fifo else max(full, min(rate, pods * CALLS_IN_FLIGHT / SQS_SECONDS))
    units_full = full * math.ceil(per_call * message / BILLED_BYTES)
    units_single = rate * math.ceil(message / BILLED_BYTES)
    units_expected = max(expected, units_full)
    gigabytes = rate * out_bytes * MONTH_SECONDS / 1e9
    return Row(
        rate=rate,
        fifo=fifo,
        processing=processing,
        webhooks_a_month=rate * MONTH_SECONDS,
        cores=rate * cpu_ms / 1000,
        pods=pods,
        per_call=per_call,
        calls_full=full,
        calls_expected=expected,
        calls_single=rate,
        in_flight=rate * processing,
        queues=math.ceil(rate * processing / IN_FLIGHT),
        partitions=math.ceil(full / FIFO_CALLS),
        partitions_most=math.ceil(rate / FIFO_CALLS),
        regions=tuple(name for name, calls in HIGH_THROUGHPUT_CALLS.items() if fifo_expected <= calls),
        dollars_full=_sqs_dollars(units_full, fifo),
        dollars_expected=_sqs_dollars(units_expected, fifo),
        dollars_single=_sqs_dollars(units_single, fifo),
        dollars_worker=_sqs_dollars(units_expected + units_full + full, fifo),
        gbit_in=rate * body_bytes * 8 / 1e9,
        gbit_out=rate * out_bytes * 8 / 1e9,
        dollars_nat=dollars(gigabytes, NAT_PRICES),
        dollars_endpoint=dollars(gigabytes, ENDPOINT_PRICES),
        sites=math.ceil(rate * CHARGEBEE_CALLS_PER_WEBHOOK * 60 / CHARGEBEE_CALLS["Enterprise"]),
        limits=limits(pod_rate, per_call, processing, out_bytes, fifo=fifo),
    )


def _check(option: str, value: float, most: float) -> None:
    if not 0 < value <= most:
        raise ConfigurationError(f"{option} {value:.10g}: allowed is more than 0, at most {most:,.0f}")


def _sqs_dollars(units: float, fifo: bool) -> float:
    """`units` billed requests a second, throughout a month."""
    requests = max(0.0, units * MONTH_SECONDS - FREE_REQUESTS)
    return dollars(requests, FIFO_PRICES if fifo else STANDARD_PRICES) / 1e6
