"""What SQS, the network around it and Chargebee allow and charge: figures with their sources, no I/O.

Prices are list prices of us-east-1 in US dollars. Read in November 2026 as stored copies of the pages; "not verified"
stands where no page confirms the figure.
"""

from typing import NamedTuple

# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
ENTRIES_PER_BATCH = 10
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html ("approximately")
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html (the same for FIFO)
IN_FLIGHT = 120_000

# Calls a second for each API action of a FIFO queue without high-throughput mode, and of one partition with it.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-fifo-throttling-issues.html
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html
FIFO_CALLS = 300
# The same with high-throughput mode, by region: raised on request. The page does not say whether for each queue or for
# all of an account: not verified.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
HIGH_THROUGHPUT_CALLS = {
    "N. Virginia, Oregon, Ireland": 70_000,
    "Ohio, Frankfurt": 19_000,
    "Mumbai, Singapore, Sydney, Tokyo": 9_000,
    "London, São Paulo": 4_500,
    "any other region": 2_400,
}

# "Each 64 KB chunk of a payload is billed as 1 request": https://aws.amazon.com/sqs/features/
# That KB means 1,024 bytes, and that attributes count as payload: not verified.
BILLED_BYTES = 64 * 1024


class Tier(NamedTuple):
    """Up to `amount` in a month, `dollars` for each unit; the next tier applies to what is above."""

    amount: float
    dollars: float


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
# Of the worker for each pending invoice, at least: POST /api/v2/invoices/{id}/add_charge, then …/close.
CHARGEBEE_CALLS_PER_WEBHOOK = 2


def dollars(amount: float, prices: tuple[Tier, ...]) -> float:
    """What `amount` units in a month cost."""
    total = below = 0.0
    for tier in prices:
        total += max(0.0, min(amount, tier.amount) - below) * tier.dollars
        below = tier.amount
    return total
