"""The capacity that a rate of webhooks needs, as calculated."""

import math
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.composition import send_limits
from app.errors import ConfigurationError
from app.events import Event, parse_event
from app.settings import WebSettings
from app.sqs.message import to_message
from loadtest import capacity_figures as figures
from loadtest.capacity import table
from loadtest.capacity_calculation import MAX_BODY_BYTES, MAX_RATE, Capacity, capacity
from loadtest.capacity_figures import FIFO_PRICES, STANDARD_PRICES, dollars
from local.sample_events import SAMPLES

DEFAULT = (SAMPLES / "default.json").read_bytes()
DEPLOY = Path(__file__).parents[2] / "deploy"
GROWING = [
    name
    for name in Capacity._fields
    if name not in {"rate", "per_call", "regions", "limits"}  # not numbers, or fixed
]

rates = st.floats(0.001, MAX_RATE)


@given(rates, rates, st.booleans(), st.integers(1, MAX_BODY_BYTES))
def test_more_webhooks_never_take_less(one: float, other: float, fifo: bool, body_bytes: int) -> None:
    """Each number grows with the rate, or stays; regions with a sufficient quota only become fewer."""
    few, many = (capacity(rate, fifo=fifo, body_bytes=body_bytes) for rate in sorted([one, other]))
    for name in GROWING:
        assert getattr(few, name) <= getattr(many, name) * (1 + 1e-12), name
    assert set(many.regions) <= set(few.regions)


@given(rates, st.integers(1, MAX_BODY_BYTES), st.booleans())
def test_batches_are_between_one_and_full(rate: float, body_bytes: int, fifo: bool) -> None:
    """Expected calls and dollars lie between those of full batches and of one webhook a call."""
    row = capacity(rate, body_bytes=body_bytes, fifo=fifo)
    slack = 1 + 1e-12
    assert row.calls_full <= row.calls_expected * slack <= row.rate * slack * slack
    assert row.dollars_expected <= row.dollars_worker * slack
    assert 1 <= row.per_call <= 10
    assert row.per_call == 1 or row.per_call * body_bytes <= figures.BATCH_BYTES


@given(rates, st.floats(0.001, 43_200))
def test_each_part_carries_its_share(rate: float, processing: float) -> None:
    """No pod is busier than planned, no queue has more in flight than it may."""
    row = capacity(rate, processing=processing)
    slack = 1 + 1e-12
    assert row.cores / row.pods <= figures.POD_CORES * figures.UTILISATION * slack
    assert row.in_flight / row.queues <= 120_000 * slack


def test_a_thousand_a_second_fit() -> None:
    """The smallest deployment and one standard queue are enough, and no limit is reached."""
    row = capacity(1_000)
    assert row.met == []
    assert (row.pods, row.queues, row.calls_full) == (figures.MIN_PODS, 1, 100)


def test_limits_in_the_order_they_are_met() -> None:
    """100,000/s exceed our maxReplicas and the limit of messages in flight. A FIFO queue has an earlier limit."""
    pods, in_flight, network = capacity(100_000).limits
    assert pods.rate == pytest.approx(figures.MAX_PODS * 150 / figures.CPU_MS)
    assert in_flight.rate == 24_000
    assert network.rate > 1_000_000
    assert [limit.rate for limit in capacity(100_000).met] == [pods.rate, in_flight.rate]
    assert capacity(100_000, fifo=True).met[0].rate == 300


@given(st.sampled_from([300, 70_000]), st.floats(0.05, 50))
def test_calls_reach_a_fifo_quota_where_its_limit_says(calls: int, cpu_ms: float) -> None:
    """Just below the limit's rate, the calls are within the quota. Just above it, they exceed the quota."""
    name = f"{calls:,} calls"
    [limit] = [limit for limit in capacity(1, fifo=True, cpu_ms=cpu_ms).limits if limit.name.startswith(name)]
    assert capacity(limit.rate * 0.999, fifo=True, cpu_ms=cpu_ms).calls_expected <= calls
    assert capacity(limit.rate * 1.001, fifo=True, cpu_ms=cpu_ms).calls_expected > calls


def test_a_quick_worker_needs_one_queue() -> None:
    """A worker that takes 0.5 s for a message needs one queue at 100,000/s, as deploy/CAPACITY.md says."""
    assert capacity(100_000, processing=0.5).queues == 1


def test_dollars_by_tier() -> None:
    """Each tier's price applies to what is above the one before."""
    assert dollars(1e6, STANDARD_PRICES) == pytest.approx(400_000)
    assert dollars(250e9, STANDARD_PRICES) / 1e6 == pytest.approx(40_000 + 30_000 + 12_000)
    assert dollars(250e9, FIFO_PRICES) / 1e6 == pytest.approx(50_000 + 40_000 + 17_500)
    assert capacity(0.1).dollars_single == 0  # the free million


def test_a_million_webhooks_cost_what_the_changelog_says() -> None:
    """$0.40 one by one, $0.04 in tens: its section "What it costs in SQS"."""
    rate = 2e6 * 1e6 / figures.MONTH_SECONDS / 1e6  # two million a month, of which one is free
    assert capacity(rate).dollars_single == pytest.approx(0.40)
    assert capacity(10 * rate).dollars_full == pytest.approx(0.40)


def test_large_bodies_are_billed_by_64_kb() -> None:
    """A body of 100 kB is two requests; two of them fit into a batch, which is four."""
    row = capacity(1_000, body_bytes=100_000)
    assert row.per_call == 2
    assert row.dollars_single == pytest.approx(2 * capacity(1_000).dollars_single, rel=1e-3)
    assert row.dollars_full == pytest.approx(row.dollars_single)


def test_sizes_are_those_of_the_sample() -> None:
    """The figures have the sizes of the sample's body, its attributes, and its entry in the JSON of a call."""
    event = parse_event(DEFAULT, frozenset({"pending_invoice_created"}))
    assert isinstance(event, Event)
    message = to_message(event, DEFAULT, fifo=False)
    assert (len(DEFAULT), message.size - len(DEFAULT)) == (figures.BODY_BYTES, figures.ATTRIBUTE_BYTES)
    entry = len(orjson.dumps({"Id": "0", **message.parameters()}))
    assert entry == pytest.approx(len(DEFAULT) * (1 + figures.ESCAPES) + figures.ENTRY_BYTES, rel=0.001)


def test_constants_are_those_of_the_deployment() -> None:
    """The figures have the replicas and cores of the manifests, and the defaults of the settings."""
    [replicas] = yaml.safe_load_all((DEPLOY / "k8s/overlays/aws/hpa.yaml").read_text(encoding="utf-8"))
    assert (replicas["spec"]["minReplicas"], replicas["spec"]["maxReplicas"]) == (figures.MIN_PODS, figures.MAX_PODS)
    assert f"cpu: {figures.POD_CORES * 1000:.0f}m" in (DEPLOY / "k8s/base/web/deployment.yaml").read_text(
        encoding="utf-8"
    )
    defaults = WebSettings.model_fields
    assert defaults["sqs_batches"].default == figures.CALLS_IN_FLIGHT
    assert send_limits(WebSettings()).call_bytes == figures.BATCH_BYTES


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e10])
def test_an_impossible_rate_is_refused(value: float) -> None:
    """The error names the value and what is allowed."""
    with pytest.raises(ConfigurationError, match=r"--rate .*: allowed is more than 0, at most 1,000,000,000"):
        capacity(value)


def test_the_page_has_the_functions_figures() -> None:
    """The page has the table that `make docs` generates, and its text states what the functions return."""
    page = (DEPLOY / "CAPACITY.md").read_text(encoding="utf-8")
    assert table() in page
    text = " ".join(page.split())
    assert f"expected to need {capacity(100_000, fifo=True).calls_expected:,.0f}" in text
    assert f"reached at {capacity(1).limits[0].rate:,.0f}/s" in text
    assert f"takes {capacity(1).limits[0].rate / figures.MAX_PODS:,.0f} webhooks a second" in text
    assert f"up to {capacity(1_000, fifo=True).calls_expected:,.0f} calls" in text
