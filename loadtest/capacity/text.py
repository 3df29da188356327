"""A row to read: as lines of the command, and as the table of deploy/CAPACITY.md."""

from loadtest.capacity.estimate import capacity
from loadtest.capacity.figures import POD_CORES, UTILISATION
from loadtest.capacity.quotas import HIGH_THROUGHPUT_CALLS, IN_FLIGHT
from loadtest.capacity.row import Row

SIZES = (1_000, 100_000, 1_000_000)


def lines(row: Row) -> list[tuple[str, str]]:
    """The row to read: pairs of name and value, the same for the command and for the page's table."""
    shown = [
        ("webhooks a month", _short(row.webhooks_a_month)),
        ("CPU", f"{row.cores:,.2f} cores"),
        (f"pods of {POD_CORES:g} cores, {UTILISATION * 100:.0f} % in use", f"{row.pods:,}"),
        (f"SQS calls a second, {row.per_call} webhooks each", f"{row.calls_full:,.0f}"),
        ("SQS calls a second, expected", f"{row.calls_expected:,.0f}"),
        ("SQS calls a second, one webhook each", f"{row.calls_single:,.0f}"),
        (f"messages in flight at {row.processing:g} s", f"{row.in_flight:,.0f}"),
        (f"queues, {IN_FLIGHT:,} in flight each", f"{row.queues:,}"),
        ("FIFO: partitions in high-throughput mode, or queues", f"{row.partitions:,} to {row.partitions_most:,}"),
        ("FIFO: regions whose quota is enough", _regions(row.regions)),
        ("SQS a month, full batches", f"${row.dollars_full:,.0f}"),
        ("SQS a month, expected batches", f"${row.dollars_expected:,.0f}"),
        ("SQS a month, one webhook a call", f"${row.dollars_single:,.0f}"),
        ("SQS a month, worker included", f"${row.dollars_worker:,.0f}"),
        ("network in", f"{row.gbit_in:,.3f} Gbit/s"),
        ("network out, to SQS", f"{row.gbit_out:,.3f} Gbit/s"),
        ("that through NAT gateways, a month", f"${row.dollars_nat:,.0f}"),
        ("that through VPC endpoints, a month", f"${row.dollars_endpoint:,.0f}"),
        ("Chargebee sites, by their API's limit", f"{row.sites:,}"),
    ]
    first = row.first
    if first is None:
        coming = row.limits[0]
        shown.append(("first limit met", f"none; the next is {coming.name}, at {coming.rate:,.0f}/s"))
    else:
        shown.append(("first limit met", f"{first.name}, at {first.rate:,.0f}/s: {first.remedy}"))
        others = [f"{limit.name}, at {limit.rate:,.0f}/s" for limit in row.limits[1:] if limit.rate < row.rate]
        shown.append(("then", "; ".join(others) or "none"))
    return shown


def _regions(regions: tuple[str, ...]) -> str:
    if len(regions) == len(HIGH_THROUGHPUT_CALLS):
        return "all"
    return "; ".join(regions) or "none"


def _short(number: float) -> str:
    """2,628,000,000 as 2.63 billion."""
    for size, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if number >= size:
            return f"{number / size:,.2f}{name}"
    return f"{number:,.0f}"


def table() -> str:
    """The three sizes side by side, in Markdown: standard queues, and what is limited where they are FIFO."""
    columns = [dict(lines(capacity(size))) for size in SIZES]
    rows = ["|  | " + " | ".join(f"{size:,}/s" for size in SIZES) + " |", "|---" + "|---:" * len(SIZES) + "|"]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows += [f"| {name} | " + " | ".join(column.get(name, "–") for column in columns) + " |" for name in names]
    fifo = [dict(lines(capacity(size, fifo=True))) for size in SIZES]
    for name in ("SQS calls a second, expected", "SQS a month, expected batches", "first limit met", "then"):
        rows.append(f"| FIFO: {name} | " + " | ".join(column.get(name, "–") for column in fifo) + " |")
    return "\n".join(rows)
