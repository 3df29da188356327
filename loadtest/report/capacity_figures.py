"""The figures of deploy/CAPACITY.md: what the service takes, what SQS, the network and Chargebee allow and charge.

Prices are list prices of us-east-1 in US dollars. Read in November 2026 as stored copies of the pages; "not verified"
stands where no page confirms the figure.
"""

import math
from typing import NamedTuple


class Tier(NamedTuple):
    """Up to `amount` in a month, `dollars` for each unit; the next tier applies to what is above."""

    amount: float
    dollars: float


class Limit(NamedTuple):
    """A limit, the webhooks a second at which it is reached, and what to do then."""

    name: str
    rate: float
    remedy: str


# The service itself: what was measured, besides the CPU of the newest results, and what is assumed.

# Cores that a pod requests: deploy/k8s/base/web/deployment.yaml.
POD_CORES = 0.25
# The share of them in use. With one of three zones lost, the other pods are at 90 %. (The HPA adds pods at 80 %.)
UTILISATION = 0.60
# deploy/k8s/overlays/aws/hpa.yaml
MIN_PODS, MAX_PODS = 3, 12
ZONES = 3
# Seconds that SQS takes for a call: the load test's (`python -m loadtest history`); of real SQS not verified.
SQS_SECONDS = 0.008
# Calls in flight from one pod: the default of APP_SQS_BATCHES; always one on a FIFO queue.
CALLS_IN_FLIGHT, FIFO_CALLS_IN_FLIGHT = 4, 1
# loadtest/events/default.json, the body of an attack; the others from tests/loadtest/test_capacity.py, on that body:
BODY_BYTES = 5_686
# … bytes of the attributes, which count in a message's size …
ATTRIBUTE_BYTES = 137
# … bytes of an entry in the call's JSON, attributes included, and those that escaping adds for each byte of the body.
ENTRY_BYTES = 330
ESCAPES = 0.111
# Seconds from receiving a message to deleting it: an assumption about the worker.
PROCESSING_SECONDS = 5.0

MONTH_SECONDS = 730 * 3600  # AWS's month of 730 hours

# Quotas and prices of AWS and Chargebee.

# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
ENTRIES_PER_BATCH = 10
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html ("approximately")
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html (the same for FIFO)
IN_FLIGHT = 120_000

# Calls a second for each API action of a FIFO queue without high-throughput mode, and of one partition with it.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-fifo-throttling-issues.html
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html
FIFO_CALLS = 300
# The same with high-throughput mode, in the smallest regions; up to 70,000 in others. Raised on request. The page does
# not say whether for each queue or for all of an account: not verified.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
HIGH_THROUGHPUT_CALLS = 2_400

# "Each 64 KB chunk of a payload is billed as 1 request": https://aws.amazon.com/sqs/features/
# That KB means 1,024 bytes, and that attributes count as payload: not verified.
BILLED_BYTES = 64 * 1024

FREE_REQUESTS = 1_000_000
# By a million requests. https://aws.amazon.com/sqs/pricing/ was not available: these are as two texts quote it,
# https://cloudburn.io/blog/amazon-sqs-pricing (standard; it calls the FIFO price flat) and
# https://unanswered.io/guide/aws-sqs-pricing-and-cost-optimization (both queues, without the middle tier).
# FIFO's $0.40 for the second tier: from a quotation of AWS's table in a public repository, not verified.
STANDARD_PRICES = (Tier(100e9, 0.40), Tier(200e9, 0.30), Tier(float("inf"), 0.24))
FIFO_PRICES = (Tier(100e9, 0.50), Tier(200e9, 0.40), Tier(float("inf"), 0.35))

# By a GB processed, of 10⁹ bytes. Both also charge by the hour, some ten to a hundred dollars a month, not counted.
# https://aws.amazon.com/vpc/pricing/ ("$0.045 per GB", its example for Ohio)
NAT_PRICES = (Tier(float("inf"), 0.045),)
# https://aws.amazon.com/privatelink/pricing/ (by PB: 1, the next 4, the rest)
ENDPOINT_PRICES = (Tier(1e6, 0.01), Tier(5e6, 0.006), Tier(float("inf"), 0.004))
# Of a VPC endpoint, in each zone: https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-limits-endpoints.html
# The same of a NAT gateway: https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html
ENDPOINT_BITS = 100e9

# Calls a minute that a site's API takes, by its plan's default; on a custom Enterprise plan more, "no upper limit".
# https://www.chargebee.com/docs/2.0/site-configuration/articles-and-faq/what-are-the-chargebee-api-limits.html
CHARGEBEE_CALLS = {"Starter, test site": 150, "Performance": 1_000, "Enterprise": 3_500}


def dollars(amount: float, prices: tuple[Tier, ...]) -> float:
    """Returns the price in dollars of `amount` units in a month."""
    total = below = 0.0
    for tier in prices:
        total += max(0.0, min(amount, tier.amount) - below) * tier.dollars
        below = tier.amount
    return total


def limits(pod_rate: float, out_bytes: float, *, fifo: bool) -> tuple[Limit, ...]:
    """Returns the limits on the way into and through SQS, the lowest rate first."""
    in_flight = f"{IN_FLIGHT:,} messages in flight"
    found = [
        Limit(f"{MAX_PODS} pods, our maxReplicas", MAX_PODS * pod_rate, "raise maxReplicas in overlays/aws/hpa.yaml"),
        Limit(in_flight, IN_FLIGHT / PROCESSING_SECONDS, "a faster worker, more queues, or a higher quota"),
        Limit("100 Gbit/s of a VPC endpoint in each zone", ZONES * ENDPOINT_BITS / 8 / out_bytes, "several VPCs"),
    ]
    if fifo:
        for calls, name, remedy in (
            (FIFO_CALLS, "of a FIFO queue", "high-throughput mode"),
            (HIGH_THROUGHPUT_CALLS, "in high-throughput mode in a small region", "a higher quota, or another region"),
        ):
            found.append(Limit(f"{calls:,} calls a second {name}", _fifo_rate(calls, pod_rate), remedy))
    return tuple(sorted(found, key=lambda limit: limit.rate))


def _fifo_rate(calls: float, pod_rate: float) -> float:
    """Webhooks a second above which there are more calls than `calls`: by the pods' slots, or in full batches."""
    pods = math.floor(calls * SQS_SECONDS / FIFO_CALLS_IN_FLIGHT)  # that make no more
    reached = calls if pods < MIN_PODS else max(calls, pods * pod_rate)
    return min(reached, calls * ENTRIES_PER_BATCH)
