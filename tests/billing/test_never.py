"""Events and items that can never be billed end at once, for a person to see; they are not repeated without end."""

import pytest

from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("version", [10**38, -1, 1.5, "1"])
async def test_a_version_that_dynamodb_cannot_hold_is_none(stage: Stage, billing: OpenBilling, version: object) -> None:
    """An event is not refused for its order."""
    body = event_body(resource_version=version)
    stage.register(body)
    async with billing() as worker:
        assert await worker.process(event_of(body)) == "closed"
