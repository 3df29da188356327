"""Tests the numbers that are computed from two scrapes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from local.live.exposition import Scrape, parse
from local.live.quantiles import quantile
from local.live.values import totals, values

OUTCOMES = {
    "queued": 50,
    "ignored": 2,
    "overloaded": 3,
    "unanswered": 1,
    "invalid-event": 5,
    "queue-unavailable": 3,
    "unauthorized": 0,
}


class Exporter:
    """Exports the metrics of one service, with the names that the page reads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.webhooks = Counter("invoice_webhook_webhooks", "-", ["outcome"], registry=self.registry)
        self.duration = Histogram(
            "http_server_request_duration_seconds", "-", ["http_response_status_code"], registry=self.registry
        )
        self.batches = Histogram("invoice_webhook_sqs_batch_size_messages", "-", registry=self.registry)
        self.calls = Histogram("invoice_webhook_sqs_calls", "-", registry=self.registry)
        self.last = Counter("invoice_webhook_sqs_last_calls", "-", registry=self.registry)
        self.waits = Histogram("invoice_webhook_sqs_wait_seconds", "-", registry=self.registry)
        self.cpu = Counter("process_cpu_time_seconds", "-", ["cpu_mode"], registry=self.registry)

    def scrape(self, taken: float) -> Scrape:
        return parse(generate_latest(self.registry).decode(), taken)


def test_rates_by_outcome() -> None:
    """The values have webhooks per second since the last scrape, separately for each group of outcomes."""
    exporter = Exporter()
    exporter.webhooks.labels("queued").inc(100)
    before = exporter.scrape(10)
    for outcome, number in OUTCOMES.items():
        exporter.webhooks.labels(outcome).inc(number)
    after = exporter.scrape(10.5)
    drawn = values(before, after)
    groups = ("queued", "ignored", "rejected", "overloaded", "unanswered")
    assert [drawn[group] for group in groups] == [100, 4, 16, 6, 2]
    assert totals(after) == {
        "queued": {"queued": 150},
        "ignored": {"ignored": 2},
        "rejected": {"invalid-event": 5, "queue-unavailable": 3},
        "overloaded": {"overloaded": 3},
        "unanswered": {"unanswered": 1},
    }


def test_quantiles_are_of_the_time_between() -> None:
    """The values ignore earlier counts, add up the statuses, and leave unanswered webhooks out of response times."""
    exporter = Exporter()
    for _ in range(1000):
        exporter.duration.labels("200").observe(0.001)
    before = exporter.scrape(0)
    for status, seconds in (("200", 3), ("422", 3), ("", 9), ("", 9)):
        exporter.duration.labels(status).observe(seconds)
    drawn = values(before, exporter.scrape(1))
    assert (drawn["p50"], drawn["p99"]) == (3000, 3000)
    assert values(before, Scrape(1, before.samples))["p50"] is None


@pytest.mark.parametrize(("last", "waited", "full"), [(10, 0.1, 16), (8, 0.1, None), (10, 0.001, None), (0, 0.0, None)])
def test_all_calls_in_flight(last: int, waited: float, full: int | None) -> None:
    """The values name the number of calls if nearly each call is the last one that may begin, and messages wait."""
    exporter = Exporter()
    before = exporter.scrape(0)
    for number in range(10):
        exporter.calls.observe(16)
        exporter.waits.observe(waited)
        exporter.last.inc(number < last)
    drawn = values(before, exporter.scrape(1))
    assert drawn["calls_full"] == full


def test_the_mean_batch_and_cpu() -> None:
    """The values have messages per call, and the CPU time of all modes in percent of a core."""
    exporter = Exporter()
    before = exporter.scrape(0)
    for size in (1, 9):
        exporter.batches.observe(size)
    exporter.cpu.labels("user").inc(0.3)
    exporter.cpu.labels("system").inc(0.1)
    drawn = values(before, exporter.scrape(2))
    assert drawn["batch"] == 5
    assert drawn["cpu"] is not None
    assert round(drawn["cpu"]) == 20


def test_a_service_that_began_anew() -> None:
    """Counters that were reset never give negative rates."""
    old, new = Exporter(), Exporter()
    old.webhooks.labels("queued").inc(9)
    old.duration.labels("200").observe(1)
    old.cpu.labels("user").inc(9)
    drawn = values(old.scrape(0), new.scrape(1))
    assert (drawn["queued"], drawn["p50"], drawn["cpu"]) == (0, None, None)


def test_a_quantile_within_its_bucket() -> None:
    """Without the values' sum, a quantile is the middle of its bucket, or the highest bound."""
    counts = {0.1: 10.0, 0.2: 20.0, math.inf: 20.0}
    assert [quantile(share, {}, counts) for share in (0.5, 0.75, 1)] == pytest.approx([0.05, 0.15, 0.15])
    assert quantile(0.5, {}, {0.1: 0.0, math.inf: 4.0}) == 0.1
    assert quantile(0.5, counts, counts) is None
    assert quantile(0.5, {}, {}) is None


@given(st.lists(st.floats(0.001, 0.3), min_size=1, max_size=9), st.sampled_from([0.5, 0.99]))
def test_a_quantile_with_the_sum_of_the_values(found: list[float], share: float) -> None:
    """The quantile is in the bucket of the true one. It is exact if all values are equal."""
    bounds = (0.01, 0.1, 0.2, math.inf)
    estimate = quantile(share, {}, {bound: sum(value <= bound for value in found) for bound in bounds}, sum(found))
    true = sorted(found)[math.ceil(share * len(found)) - 1]
    lower, upper = max(bound for bound in (0, *bounds) if bound < true), min(bound for bound in bounds if bound >= true)
    assert estimate is not None
    assert lower <= estimate * (1 + 1e-9)
    assert estimate <= upper * (1 + 1e-9)
    if len(set(found)) == 1:
        assert estimate == pytest.approx(min(true, 0.2))


def test_a_percentile_is_not_above_the_longest_value() -> None:
    """An estimate in the highest bucket with a value may be longer than the longest delay that was measured."""
    registry = CollectorRegistry()
    delay = Histogram("event_loop_delay_seconds", "-", buckets=(0.5, 1.0), registry=registry)
    longest = Gauge("event_loop_delay_max_seconds", "-", registry=registry)
    before = parse(generate_latest(registry).decode(), 10)
    for seconds in (0.499, 0.499, 0.6):
        delay.observe(seconds)
    longest.set(0.6)
    drawn = values(before, parse(generate_latest(registry).decode(), 10.5))
    assert (drawn["loop_p99"], drawn["loop_max"]) == (600, 600)
