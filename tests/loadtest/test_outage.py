"""The service recovers after an outage of SQS."""

import pytest

from loadtest.outage import outage

pytestmark = pytest.mark.usefixtures("tools")


@pytest.mark.slow
def test_after_an_outage_everything_is_accepted_again(thorough: bool) -> None:
    """Webhooks get 200 before and after an outage, and 200 or 503 during it. No acknowledged webhook is lost."""
    done = outage(100 if thorough else 50, 15 if thorough else 3)
    assert done.holds, done.text()
    before, during, _ = done.parts
    assert before.statuses.keys() == {"200"}
    assert during.statuses.keys() == {"200", "503"}
