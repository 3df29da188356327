"""The bounds of histograms, in a deployment and in a local run."""

from itertools import pairwise

import pytest

from app.telemetry.metrics import calls, service, webhooks
from app.telemetry.metrics.instruments import Histogram, bounds
from app.telemetry.metrics.webhooks import WebhookMetrics
from app.telemetry.record import WebhookRecord

FEW = (webhooks.SECONDS, calls.SECONDS, service.DELAY_SECONDS)


@pytest.mark.parametrize("few", FEW)
def test_the_middle_of_a_fine_bucket_is_near(few: tuple[float, ...]) -> None:
    """Every value is at most 7.2 % from the middle of its bucket; the bounds that rules may name are still there."""
    fine = bounds(few, fine=True)
    assert (
        max(abs((lower + upper) / 2 - end) / end for lower, upper in pairwise(fine) for end in (lower, upper)) < 0.072
    )
    assert set(few) < set(fine)
    assert (fine[0], fine[-1]) == (few[0], few[-1])
    assert bounds(few, fine=False) == few


def test_fine_durations_appear_with_their_first_webhook() -> None:
    """Outcomes begin at 0 with and without `fine`; a histogram of 91 buckets is absent until it has a value."""
    metrics = WebhookMetrics("POST", "/webhooks/chargebee", frozenset(), fine=True)
    metrics.expect([("queued", 200), ("overloaded", 503)])
    outcomes = next(one for one in metrics.instruments if one.description.name == "invoice_webhook.webhooks")
    durations = next(one for one in metrics.instruments if isinstance(one, Histogram) and one.description.labels)
    assert dict(outcomes.points()) == {("queued",): 0, ("overloaded",): 0}
    assert durations.points() == []
    metrics.observe(WebhookRecord(1.0, "overloaded", 503, answered=1.5))
    assert [labels[-1] for labels, _ in durations.points()] == [503]
    assert dict(outcomes.points()) == {("queued",): 0, ("overloaded",): 1}
