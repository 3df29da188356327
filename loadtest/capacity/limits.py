"""What is met on the way to a rate: limits of the pods, of SQS and of the network."""

import math

from loadtest.capacity.figures import FIFO_CALLS_IN_FLIGHT, MAX_PODS, MIN_PODS, SQS_SECONDS, ZONES
from loadtest.capacity.quotas import ENDPOINT_BITS, FIFO_CALLS, HIGH_THROUGHPUT_CALLS, IN_FLIGHT
from loadtest.capacity.row import Limit


def limits(pod_rate: float, per_call: int, processing: float, out_bytes: float, *, fifo: bool) -> tuple[Limit, ...]:
    """Those on the way into and through SQS, the lowest rate first."""
    found = [
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
            found.append(Limit(f"{calls:,} calls a second {name}", _fifo_rate(calls, pod_rate, per_call), remedy))
    return tuple(sorted(found, key=lambda limit: limit.rate))


def _fifo_rate(calls: float, pod_rate: float, per_call: int) -> float:
    """Webhooks a second above which there are more calls than `calls`: by the pods' slots, or in full batches."""
    pods = math.floor(calls * SQS_SECONDS / FIFO_CALLS_IN_FLIGHT)  # that make no more
    reached = calls if pods < MIN_PODS else max(calls, pods * pod_rate)
    return min(reached, calls * per_call)
