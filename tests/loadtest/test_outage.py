"""The service recovers after an outage of SQS."""

import pytest

from loadtest.outage import outage

pytestmark = pytest.mark.usefixtures("tools")


@pytest.mark.slow
def test_after_an_outage_everything_is_accepted_again(thorough: bool) -> None:
    """Before and after an outage, every webhook gets 200; during it, 200 or 503. No acknowledged webhook is lost."""
    done = outage(100 if thorough else 50, 15 if thorough else 3)
    assert done.holds, done.text()
    before, during, _ = done.parts
    assert before.statuses.keys() == {"200"}
    assert during.statuses.keys() == {"200", "503"}
