"""The figures of deploy/CAPACITY.md: needs of the service, and limits and prices of SQS, the network and Chargebee.

Prices are list prices of us-east-1 in US dollars, read in November 2026 in stored copies of the pages. "Not verified"
means that no page confirms the figure.
"""

import math
from typing import NamedTuple


class Tier(NamedTuple):
    """A price tier: `dollars` for each unit up to `amount` units in a month. The next tier is for the units above."""

    amount: float
    dollars: float


class Limit(NamedTuple):
    """A limit. `rate`: the webhooks a second at which it is reached. `remedy`: how to avoid it."""

    name: str
    rate: float
    remedy: str


# The service itself: measured figures other than the CPU of the newest results, and assumptions.

# Cores that a pod requests: deploy/k8s/base/web/deployment.yaml.
POD_CORES = 0.25
# The share of a pod's cores in use. If one of three zones fails, it is 90 % in the others. (The HPA adds pods at 80 %.)
UTILISATION = 0.60
# deploy/k8s/overlays/aws/hpa.yaml
MIN_PODS, MAX_PODS = 3, 12
ZONES = 3
# Seconds that SQS takes for a call, as in the load test (`python -m loadtest history`). For real SQS: not verified.
SQS_SECONDS = 0.008
# Calls in flight from one pod: the default of APP_SQS_BATCHES; always one on a FIFO queue.
CALLS_IN_FLIGHT, FIFO_CALLS_IN_FLIGHT = 4, 1
# The size of loadtest/events/default.json, the body in attacks. tests/loadtest/test_capacity.py checks the next three.
BODY_BYTES = 5_686
# Bytes of the attributes, which count towards a message's size.
ATTRIBUTE_BYTES = 137
# Bytes that an entry adds to the body in the call's JSON, with attributes, and bytes that escaping adds per body byte.
ENTRY_BYTES = 330
ESCAPES = 0.111
# Seconds from receiving a message to deleting it. This is an assumption about the worker.
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
# Calls a second for each API action in high-throughput mode, in the smallest regions; up to 70,000 in other regions.
# AWS raises the limit on request. The page does not say whether it is for a queue or for an account: not verified.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
HIGH_THROUGHPUT_CALLS = 2_400

# "Each 64 KB chunk of a payload is billed as 1 request": https://aws.amazon.com/sqs/features/
# We assume that KB means 1,024 bytes, and that attributes count as payload: not verified.
BILLED_BYTES = 64 * 1024

FREE_REQUESTS = 1_000_000
# Per million requests. https://aws.amazon.com/sqs/pricing/ was not available. Two texts quote its prices:
# https://cloudburn.io/blog/amazon-sqs-pricing (standard; it calls the FIFO price flat) and
# https://unanswered.io/guide/aws-sqs-pricing-and-cost-optimization (both queues, without the middle tier).
# FIFO's $0.40 for the second tier is from a quotation of AWS's table in a public repository: not verified.
STANDARD_PRICES = (Tier(100e9, 0.40), Tier(200e9, 0.30), Tier(float("inf"), 0.24))
FIFO_PRICES = (Tier(100e9, 0.50), Tier(200e9, 0.40), Tier(float("inf"), 0.35))

# Per GB (10⁹ bytes) processed. The hourly charges of both, about ten to a hundred dollars a month, are not included.
# https://aws.amazon.com/vpc/pricing/ ("$0.045 per GB", its example for Ohio)
NAT_PRICES = (Tier(float("inf"), 0.045),)
# https://aws.amazon.com/privatelink/pricing/ (three tiers: the first PB, the next 4 PB, the rest)
ENDPOINT_PRICES = (Tier(1e6, 0.01), Tier(5e6, 0.006), Tier(float("inf"), 0.004))
# Bits a second of a VPC endpoint in each zone. A NAT gateway has the same limit.
# https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-limits-endpoints.html
# https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html
ENDPOINT_BITS = 100e9

# Default API calls a minute of a site, by plan. A custom Enterprise plan may have more ("no upper limit").
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
    """Returns the limits for sending to SQS and receiving from it, the lowest rate first."""
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
    """Returns the webhooks a second above which the pods make more than `calls` calls a second.

    The pods' slots bound their calls. Full batches need a tenth of the webhooks as calls.
    """
    pods = math.floor(calls * SQS_SECONDS / FIFO_CALLS_IN_FLIGHT)  # the most pods whose slots cannot make more calls
    reached = calls if pods < MIN_PODS else max(calls, pods * pod_rate)
    return min(reached, calls * ENTRIES_PER_BATCH)
