"""The bounds of histograms, in a deployment and in local mode."""

from itertools import pairwise

import pytest

from app.telemetry.metrics import calls, service, webhooks
from app.telemetry.metrics.bounds import bounds

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
