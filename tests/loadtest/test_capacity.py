"""The calculated capacity for a rate of webhooks."""

from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.events import Event, parse_event
from app.settings import WebSettings
from app.sqs.message import to_message
from loadtest.report import capacity_figures as figures
from loadtest.report.capacity import (
    FASTER,
    SLOW,
    Capacity,
    Measured,
    attacked,
    capacity,
    full_ms,
    measured,
    table,
)
from loadtest.report.capacity_figures import FIFO_PRICES, STANDARD_PRICES, dollars
from local.sample_events import SAMPLES

DEFAULT = (SAMPLES / "default.json").read_bytes()
DEPLOY = Path(__file__).parents[2] / "deploy"
GROWING = [name for name in Capacity._fields if name not in {"rate", "limits"}]
OF = Measured(web_ms=0.94, worker_ms=8.6, chargebee_calls=3)

rates = st.floats(0.001, 1e9)


@given(rates, rates, st.booleans())
def test_more_webhooks_never_take_less(one: float, other: float, fifo: bool) -> None:
    """No number decreases with a higher rate."""
    few, many = (capacity(rate, OF, fifo=fifo) for rate in sorted([one, other]))
    for name in GROWING:
        assert getattr(few, name) <= getattr(many, name) * (1 + 1e-12), name


@given(rates, st.booleans())
def test_each_part_carries_its_share(rate: float, fifo: bool) -> None:
    """No pod is busier than UTILISATION, and a call carries one to ten webhooks."""
    row = capacity(rate, OF, fifo=fifo)
    slack = 1 + 1e-12
    most = figures.POD_CORES * figures.UTILISATION * slack
    assert row.web_cores / row.web_pods <= most
    assert row.worker_cores / row.worker_pods <= most
    assert row.rate / 10 <= row.calls * slack <= row.rate * slack * slack


def test_a_thousand_a_second_fit() -> None:
    """At 1,000 webhooks a second, our maxReplicas is enough for the web process. Workers need more pods."""
    row = capacity(1_000, OF)
    assert (row.met, row.web_pods, row.worker_pods) == ([], 7, 58)
    assert row.sites == 52


def test_pods_are_computed_with_what_a_webhook_costs_them() -> None:
    """The calculation uses the CPU of the slowest attack, which is the highest, because fuller batches save CPU."""
    assert measured().web_ms == attacked(SLOW)[2] > attacked(FASTER)[2] > full_ms()
    assert attacked(SLOW)[1] < attacked(FASTER)[1]


def test_limits_in_the_order_they_are_met() -> None:
    """100,000/s exceed our maxReplicas and the limit of messages in flight. A FIFO queue has a lower limit."""
    pods, in_flight, network = capacity(100_000, OF).limits
    assert pods.rate == pytest.approx(figures.MAX_PODS * 150 / OF.web_ms)
    assert in_flight.rate == 24_000
    assert network.rate > 1_000_000
    assert [limit.rate for limit in capacity(100_000, OF).met] == [pods.rate, in_flight.rate]
    assert capacity(100_000, OF, fifo=True).met[0].rate == 300


@given(st.sampled_from([300, 2_400]), st.floats(0.05, 50))
def test_calls_reach_a_fifo_quota_where_its_limit_says(calls: int, web_ms: float) -> None:
    """Just below the limit's rate, the calls are within the quota. Just above it, they exceed the quota."""
    of = OF._replace(web_ms=web_ms)
    name = f"{calls:,} calls"
    [limit] = [limit for limit in capacity(1, of, fifo=True).limits if limit.name.startswith(name)]
    assert capacity(limit.rate * 0.999, of, fifo=True).calls <= calls
    assert capacity(limit.rate * 1.001, of, fifo=True).calls > calls


def test_dollars_by_tier() -> None:
    """Each tier's price applies only to the units above the previous tier. The first million requests are free."""
    assert dollars(1e6, STANDARD_PRICES) == pytest.approx(400_000)
    assert dollars(250e9, STANDARD_PRICES) / 1e6 == pytest.approx(40_000 + 30_000 + 12_000)
    assert dollars(250e9, FIFO_PRICES) / 1e6 == pytest.approx(50_000 + 40_000 + 17_500)
    assert capacity(0.1, OF).dollars_sqs == 0


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
    for process in ("web", "worker"):
        deployment = DEPLOY / "k8s/base" / process / "deployment.yaml"
        assert f"cpu: {figures.POD_CORES * 1000:.0f}m" in deployment.read_text(encoding="utf-8")
    assert WebSettings.model_fields["sqs_batches"].default == figures.CALLS_IN_FLIGHT


def test_the_page_has_the_newest_figures() -> None:
    """The page has the table of the newest results. (tests/test_prose.py tests the page's sentences.)"""
    page = (DEPLOY / "CAPACITY.md").read_text(encoding="utf-8")
    assert table() in page
