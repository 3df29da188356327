"""What a rate of webhooks takes, on paper: cores, pods, SQS calls, queues, dollars, network, and its limits. No I/O.

Quotas and prices are in `quotas.py`, each with its address. Figures of the service itself are here, each with the
command that measured it. deploy/CAPACITY.md explains the results.
"""

import math
from typing import NamedTuple

from app.errors import ConfigurationError
from app.sqs.quotas import (
    BILLED_BYTES,
    CHARGEBEE_CALLS,
    CHARGEBEE_CALLS_PER_WEBHOOK,
    ENDPOINT_BITS,
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

# CPU for each webhook, in milliseconds: v10_lean_client on a hard quarter of a core, `make bench` on 952eb32.
CPU_MS = 0.27
# Cores that a pod requests: deploy/k8s/base/web/deployment.yaml.
POD_CORES = 0.25
# The share of them in use. With one of three zones lost, the other pods are at 90 %. (The HPA adds pods at 80 %.)
UTILISATION = 0.60
# deploy/k8s/overlays/aws/hpa.yaml
MIN_PODS, MAX_PODS = 3, 12
ZONES = 3
# Seconds that SQS takes for a call: the load test's (`make history`); of real SQS not verified.
SQS_SECONDS = 0.008
# Calls in flight from one pod: the default of APP_SQS_BATCHES; always one on a FIFO queue.
CALLS_IN_FLIGHT, FIFO_CALLS_IN_FLIGHT = 4, 1
# The default of APP_SQS_BATCH_BYTES.
BATCH_BYTES = 262_144
# loadtest/events/default.json, the body of `make bench`; the others from tests/sqs/test_capacity.py, on that body:
BODY_BYTES = 5_686
# … bytes of the attributes, which count in a message's size …
ATTRIBUTE_BYTES = 137
# … bytes of an entry in the call's JSON, attributes included, and those that escaping adds for each byte of the body.
ENTRY_BYTES = 330
ESCAPES = 0.111
# Seconds from receiving a message to deleting it: an assumption about the worker.
PROCESSING_SECONDS = 5.0

MONTH_SECONDS = 730 * 3600  # AWS's month of 730 hours
MAX_RATE = 1e9
MAX_BODY_BYTES = 1_044_480  # APP_MAX_BODY_BYTES at most


class Limit(NamedTuple):
    """A limit, the webhooks a second at which it is reached, and what to do then."""

    name: str
    rate: float
    remedy: str


class Row(NamedTuple):
    """What `rate` webhooks a second take. A month is one of this rate throughout.

    `calls_…`: SendMessageBatch a second, with batches that are full (`per_call`), as full as the pods make them
    (`calls_expected`), or of one message. `dollars_…`: a month; `dollars_worker` adds receiving and deleting in full
    batches to `dollars_expected`. `gbit_in`: bodies; `gbit_out`: the JSON of the calls; both without HTTP heads,
    TLS and TCP. `queues`: so that each stays within its messages in flight. `partitions`: of a FIFO queue in
    high-throughput mode (or, without it, so many queues), where all messages of a batch are of one partition;
    `partitions_most`: where each is of another, as calls of one message are. `regions`: those whose FIFO quota is at
    least `calls_expected` of FIFO. `sites`: of Chargebee, whose API limits on Enterprise add up to the worker's calls.
    """

    rate: float
    fifo: bool
    processing: float
    webhooks_a_month: float
    cores: float
    pods: int
    per_call: int
    calls_full: float
    calls_expected: float
    calls_single: float
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
    def first(self) -> Limit | None:
        """The limit that is met first on the way to this rate, if any is."""
        return self.limits[0] if self.limits[0].rate < self.rate else None


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
        limits=_limits(pod_rate, per_call, processing, out_bytes, fifo=fifo),
    )


def _check(option: str, value: float, most: float) -> None:
    if not 0 < value <= most:
        raise ConfigurationError(f"{option} {value:.10g}: allowed is more than 0, at most {most:,.0f}")


def _sqs_dollars(units: float, fifo: bool) -> float:
    """`units` billed requests a second, throughout a month."""
    requests = max(0.0, units * MONTH_SECONDS - FREE_REQUESTS)
    return dollars(requests, FIFO_PRICES if fifo else STANDARD_PRICES) / 1e6


def _limits(pod_rate: float, per_call: int, processing: float, out_bytes: float, *, fifo: bool) -> tuple[Limit, ...]:
    """Those on the way into and through SQS, the lowest rate first."""
    limits = [
        Limit(f"{MAX_PODS} pods, our maxReplicas", MAX_PODS * pod_rate, "raise maxReplicas in overlays/aws/hpa.yaml"),
        Limit(
            f"{IN_FLIGHT:,} messages in flight",
            IN_FLIGHT / processing,
            "a faster worker, more queues, or a higher quota",
        ),
        Limit("100 Gbit/s of a VPC endpoint in each zone", ZONES * ENDPOINT_BITS / 8 / out_bytes, "several VPCs"),
    ]
    if fifo:
        for calls, name, remedy in (
            (FIFO_CALLS, "of a FIFO queue", "high-throughput mode"),
            (max(HIGH_THROUGHPUT_CALLS.values()), "in high-throughput mode", "a higher quota, or more regions"),
        ):
            limits.append(Limit(f"{calls:,} calls a second {name}", _fifo_rate(calls, pod_rate, per_call), remedy))
    return tuple(sorted(limits, key=lambda limit: limit.rate))


def _fifo_rate(calls: float, pod_rate: float, per_call: int) -> float:
    """Webhooks a second above which there are more calls than `calls`: by the pods' slots, or in full batches."""
    pods = math.floor(calls * SQS_SECONDS / FIFO_CALLS_IN_FLIGHT)  # that make no more
    reached = calls if pods < MIN_PODS else max(calls, pods * pod_rate)
    return min(reached, calls * per_call)
