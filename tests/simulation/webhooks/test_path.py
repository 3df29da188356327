"""The webhook's path keeps its invariants in every run within a bound."""

import pytest

from tests.simulation.webhooks.bound import Bound
from tests.simulation.webhooks.search import search

LONG_LIVED = Bound(2, 0, 1, webhooks=2, long_lived=True)
FULL = Bound(1, 1, 0, full=True)
TWO_SLOTS = [pytest.param(bound, marks=pytest.mark.slow) for bound in (Bound(2, 1, 0), Bound(2, 0, 1))]


@pytest.mark.parametrize("bound", [Bound(1, 1, 0), Bound(1, 0, 1), FULL, LONG_LIVED, *TWO_SLOTS])
def test_every_run_within_a_bound(bound: Bound) -> None:
    """A run has at most one fault of SQS, or one special event: see `Bound`."""
    found = search(bound)
    assert found.violation is None, "\n".join(found.trace)
    assert found.runs > 100
