"""The table of deploy/CAPACITY.md: the resources that a rate of webhooks needs, from measurements, quotas, prices."""

import math
from typing import NamedTuple

from app.settings import Release
from loadtest.record.price_estimate import estimate
from loadtest.report import capacity_figures as figures
from loadtest.report.capacity_figures import Limit, dollars
from loadtest.report.cells import markdown, of
from loadtest.report.documents import newest, newest_worker
from loadtest.report.figures import CPU

SIZES = (100, 1_000, 10_000)  # webhooks per second in the table's columns


# A webhook takes the least CPU in full batches, which only a busy process makes. The table assumes pods of a quarter of
# a core, 60 % in use. Such a pod answers about as many webhooks a second as the attack SLOW sends, so the table uses
# the CPU that a webhook takes in this attack.
SLOW, FASTER = "sustained", "published"  # kinds of attack in `history`


class Measured(NamedTuple):
    """The measured costs of a webhook in the web process, and of its event in the worker.

    `web_ms`, `worker_ms`: CPU in ms; `web_ms` is from the attack SLOW. `chargebee_calls`: calls of Chargebee's API.
    """

    web_ms: float
    worker_ms: float
    chargebee_calls: float


class Capacity(NamedTuple):
    """The resources that `rate` webhooks per second need, if the rate stays the same for a month.

    - `calls`: calls of SendMessageBatch per second from all web pods.
    - `dollars_…`: dollars per month. `dollars_sqs` includes the worker's calls, which all have full batches.
    - `gbit_in`: Gbit/s of the webhooks' bodies. `gbit_out`: Gbit/s of the JSON in the calls to SQS. Neither includes
      HTTP headers, TLS and TCP.
    - `sites`: the number of Chargebee sites (Enterprise plan) that the worker's calls need. Each site has an API limit.
    - `limits`: the limits of pods, SQS and network. The limit with the lowest rate comes first.
    """

    rate: float
    web_cores: float
    web_pods: int
    worker_cores: float
    worker_pods: int
    calls: float
    in_flight: float
    dollars_sqs: float
    gbit_in: float
    gbit_out: float
    dollars_nat: float
    dollars_endpoint: float
    sites: int
    limits: tuple[Limit, ...]

    @property
    def met(self) -> list[Limit]:
        """Returns the limits that `rate` exceeds."""
        return [limit for limit in self.limits if limit.rate < self.rate]


def measured() -> Measured:
    """Returns the costs of a webhook and of its event, from the newest measurements.

    Raises NotMeasured if there is no result of `python -m loadtest history` or of `python -m loadtest worker`.
    """
    runs = newest_worker().runs
    worker_ms = estimate(run.cpu_ms_per_event for run in runs).median
    calls = estimate(run.calls_per_event for run in runs).median
    return Measured(attacked(SLOW)[2], worker_ms, calls)


def attacked(kind: str) -> tuple[str, float, float]:
    """Returns, for the attack `kind` of `history`: its newest release, its rate, and the CPU per webhook in ms."""
    history, _ = newest("history")
    name = max(history.names(kind), key=lambda name: list(Release).index(Release(name)))
    found = history.of(kind, name)
    return name, found[0].load.rate, of(found, CPU).median


def full_ms() -> float:
    """Returns the CPU in ms for a webhook in full batches, measured on the newest release of `bench`."""
    bench, _ = newest("bench")
    kinds = [run.kind for release in reversed(Release) for run in bench.runs if run.kind.startswith(release)]
    return of(bench.of(kinds[0], kinds[0]), CPU).median


def capacity(rate: float, of: Measured, fifo: bool = False) -> Capacity:
    """Returns the resources that `rate` webhooks a second need. `of`: a webhook's costs. `fifo`: the queue is FIFO."""
    message = figures.BODY_BYTES + figures.ATTRIBUTE_BYTES
    out_bytes = figures.BODY_BYTES * (1 + figures.ESCAPES) + figures.ENTRY_BYTES
    gigabytes = rate * out_bytes * figures.MONTH_SECONDS / 1e9
    pod_rate = 1000 * figures.POD_CORES * figures.UTILISATION / of.web_ms
    pods = max(figures.MIN_PODS, math.ceil(rate / pod_rate))
    full = rate / figures.ENTRIES_PER_BATCH
    # A slot makes one call to SQS at a time. A free slot sends the waiting messages at once, so a pod makes a call for
    # each webhook until all its slots are busy.
    slots = figures.FIFO_CALLS_IN_FLIGHT if fifo else figures.CALLS_IN_FLIGHT
    calls = max(full, min(rate, pods * slots / figures.SQS_SECONDS))
    units = full * math.ceil(figures.ENTRIES_PER_BATCH * message / figures.BILLED_BYTES)
    requests = max(0.0, (max(calls, units) + units + full) * figures.MONTH_SECONDS - figures.FREE_REQUESTS)
    return Capacity(
        rate=rate,
        web_cores=rate * of.web_ms / 1000,
        web_pods=pods,
        worker_cores=rate * of.worker_ms / 1000,
        worker_pods=math.ceil(rate * of.worker_ms / 1000 / figures.POD_CORES / figures.UTILISATION),
        calls=calls,
        in_flight=rate * figures.PROCESSING_SECONDS,
        dollars_sqs=dollars(requests, figures.FIFO_PRICES if fifo else figures.STANDARD_PRICES) / 1e6,
        gbit_in=rate * figures.BODY_BYTES * 8 / 1e9,
        gbit_out=rate * out_bytes * 8 / 1e9,
        dollars_nat=dollars(gigabytes, figures.NAT_PRICES),
        dollars_endpoint=dollars(gigabytes, figures.ENDPOINT_PRICES),
        sites=math.ceil(rate * of.chargebee_calls * 60 / figures.CHARGEBEE_CALLS["Enterprise"]),
        limits=figures.limits(pod_rate, out_bytes, fifo=fifo),
    )


def table() -> str:
    """Returns a Markdown table with a column for each of SIZES, and a text with the sources of the measured figures.

    Raises NotMeasured if there is no result of `python -m loadtest history`, of `bench` or of `worker`.
    """
    of = measured()
    standard, fifo = ([capacity(size, of, fifo) for size in SIZES] for fifo in (False, True))
    pods = f"pods of {figures.POD_CORES:g} cores, {100 * figures.UTILISATION:.0f} % in use"
    rows = {
        "web: CPU": [f"{row.web_cores:,.2f} cores" for row in standard],
        f"web: {pods}": [f"{row.web_pods:,}" for row in standard],
        "worker: CPU": [f"{row.worker_cores:,.1f} cores" for row in standard],
        f"worker: {pods}": [f"{row.worker_pods:,}" for row in standard],
        "SQS: calls a second to send": [f"{row.calls:,.0f}" for row in standard],
        f"SQS: messages in flight at {figures.PROCESSING_SECONDS:g} s": [f"{row.in_flight:,.0f}" for row in standard],
        "SQS a month, worker included": [f"${row.dollars_sqs:,.0f}" for row in standard],
        "network in, and out to SQS": [f"{row.gbit_in:,.3f}, {row.gbit_out:,.3f} Gbit/s" for row in standard],
        "out by NAT gateways, a month": [f"${row.dollars_nat:,.0f}" for row in standard],
        "out by VPC endpoints, a month": [f"${row.dollars_endpoint:,.0f}" for row in standard],
        "Chargebee sites, by their API's limit": [f"{row.sites:,}" for row in standard],
        "limits met by web and SQS": [_limits(row) for row in standard],
        "the same, FIFO": [_limits(row) for row in fifo],
    }
    shown = markdown(["", *(f"{size:,}/s" for size in SIZES)], [[name, *cells] for name, cells in rows.items()])
    (name, slow, _), (_, faster, faster_ms) = attacked(SLOW), attacked(FASTER)
    history, bench, worker = newest("history")[0], newest("bench")[0], newest_worker()
    return (
        f"{shown}\n\nMeasured: {of.web_ms:.2f} ms of CPU for {name}'s webhook at {slow}/s (the table's, once) and"
        f" {faster_ms:.2f} ms at {faster}/s (`{history.command}` on `{history.environment.commit}`); {full_ms():.3f} ms"
        f" in full batches (`{bench.command}` on `{bench.environment.commit}`); {of.worker_ms:.1f} ms for an event with"
        f" {of.chargebee_calls:.0f} calls of Chargebee (`{worker.command}` on"
        f" `{worker.environment.commit}`)."
    )


def _limits(row: Capacity) -> str:
    met = "; ".join(f"{limit.name}, at {limit.rate:,.0f}/s: {limit.remedy}" for limit in row.met)
    return met or f"none; the next is {row.limits[0].name}, at {row.limits[0].rate:,.0f}/s"
