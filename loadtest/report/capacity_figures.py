"""The figures behind deploy/CAPACITY.md: figures of the service, and the limits and prices of AWS and Chargebee.

Prices are list prices in US dollars for the region us-east-1. In November 2026, we read stored copies of the linked
pages. "Not verified" means that no page confirms the figure.
"""

import math
from typing import NamedTuple


class Tier(NamedTuple):
    """A price tier, for up to `amount` units in a month. Further units have the price of the next tier.

    `dollars`: the price of one unit or, for SQS, of a million units.
    """

    amount: float
    dollars: float


class Limit(NamedTuple):
    """A limit on the rate of webhooks. `rate`: webhooks a second. `remedy`: a way to raise or avoid the limit."""

    name: str
    rate: float
    remedy: str


# Figures of the service, measured or assumed. CPU is not among them: `capacity.measured` reads it from the results.

# The cores that a web pod requests in deploy/k8s/base/web/deployment.yaml.
POD_CORES = 0.25
# The assumed share of a pod's cores that is in use. If one of three zones fails, this share is 90 % in the two others.
# (The HPA, the autoscaler, adds pods at 80 %.)
UTILISATION = 0.60
# The bounds of the autoscaler in deploy/k8s/overlays/aws/hpa.yaml.
MIN_PODS, MAX_PODS = 3, 12
ZONES = 3
# Seconds that SQS takes for a call in the load test (`python -m loadtest history`). For real SQS, this is not verified.
SQS_SECONDS = 0.008
# The most calls to SQS that a pod makes at the same time: the default of APP_SQS_BATCHES, or one on a FIFO queue.
CALLS_IN_FLIGHT, FIFO_CALLS_IN_FLIGHT = 4, 1
# Bytes of loadtest/events/default.json, the body in attacks. test_capacity.py checks this figure and the next three.
BODY_BYTES = 5_686
# Bytes of a message's attributes, which SQS counts as part of the message's size.
ATTRIBUTE_BYTES = 137
# ENTRY_BYTES: bytes that a message takes in the JSON of a call, with its attributes but without its body. ESCAPES:
# bytes that escaping adds for each byte of the body.
ENTRY_BYTES = 330
ESCAPES = 0.111
# Seconds from receiving a message to deleting it. This is an assumption about the worker.
PROCESSING_SECONDS = 5.0

MONTH_SECONDS = 730 * 3600  # AWS's month of 730 hours

# Quotas and prices of AWS and Chargebee.

# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
ENTRIES_PER_BATCH = 10
# The most messages in flight in a queue. The first page is for standard queues ("approximately"), the second for FIFO.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html
IN_FLIGHT = 120_000

# Calls a second for each API action. In high-throughput mode, the limit is for each partition of a FIFO queue; without
# this mode, it is for the whole queue.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-fifo-throttling-issues.html
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html
FIFO_CALLS = 300
# Calls a second for each API action in high-throughput mode, in the smallest regions; up to 70,000 in other regions.
# AWS raises the limit on request. Whether each queue or each account has this limit is not verified.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
HIGH_THROUGHPUT_CALLS = 2_400

# "Each 64 KB chunk of a payload is billed as 1 request": https://aws.amazon.com/sqs/features/
# We assume that KB means 1,024 bytes, and that attributes count as payload: not verified.
BILLED_BYTES = 64 * 1024

FREE_REQUESTS = 1_000_000
# Dollars per million requests. https://aws.amazon.com/sqs/pricing/ was not available. Two texts quote its prices:
# https://cloudburn.io/blog/amazon-sqs-pricing (for standard queues; it says that FIFO queues have no tiers) and
# https://unanswered.io/guide/aws-sqs-pricing-and-cost-optimization (for both kinds of queue; it lacks the second tier).
# FIFO's $0.40 for the second tier is from a public repository that quotes AWS's table: not verified.
STANDARD_PRICES = (Tier(100e9, 0.40), Tier(200e9, 0.30), Tier(float("inf"), 0.24))
FIFO_PRICES = (Tier(100e9, 0.50), Tier(200e9, 0.40), Tier(float("inf"), 0.35))

# Dollars per GB (10⁹ bytes) that a NAT gateway or a VPC endpoint processes. Their hourly charges, about ten to a
# hundred dollars a month, are not included.
# https://aws.amazon.com/vpc/pricing/ ("$0.045 per GB", its example for Ohio)
NAT_PRICES = (Tier(float("inf"), 0.045),)
# https://aws.amazon.com/privatelink/pricing/ (three tiers: the first PB, the next 4 PB, the rest)
ENDPOINT_PRICES = (Tier(1e6, 0.01), Tier(5e6, 0.006), Tier(float("inf"), 0.004))
# The most bits a second through a VPC endpoint in one zone. A NAT gateway has the same limit.
# https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-limits-endpoints.html
# https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html
ENDPOINT_BITS = 100e9

# Default limit on API calls a minute for a site, by plan. A custom Enterprise plan may have more ("no upper limit").
# https://www.chargebee.com/docs/2.0/site-configuration/articles-and-faq/what-are-the-chargebee-api-limits.html
CHARGEBEE_CALLS = {"Starter, test site": 150, "Performance": 1_000, "Enterprise": 3_500}


def dollars(amount: float, prices: tuple[Tier, ...]) -> float:
    """Returns the price of `amount` units a month: in dollars or, for SQS, in millionths of a dollar (see `Tier`)."""
    total = below = 0.0
    for tier in prices:
        total += max(0.0, min(amount, tier.amount) - below) * tier.dollars
        below = tier.amount
    return total


def limits(pod_rate: float, out_bytes: float, *, fifo: bool) -> tuple[Limit, ...]:
    """Returns the limits, lowest first. `pod_rate`: a pod's webhooks/s. `out_bytes`: bytes to SQS per webhook."""
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
    """Returns the webhooks a second above which all pods together make more than `calls` calls to SQS a second.

    A pod has a fixed number of slots, each for one call in flight. With full batches, a call has ten webhooks.
    """
    pods = math.floor(calls * SQS_SECONDS / FIFO_CALLS_IN_FLIGHT)  # the most pods whose slots cannot make more calls
    reached = calls if pods < MIN_PODS else max(calls, pods * pod_rate)
    return min(reached, calls * ENTRIES_PER_BATCH)
