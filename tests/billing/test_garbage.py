"""Answers that are not DynamoDB's: none of them is a claim."""

import pytest

from app.billing.items import claim_key, update
from app.errors import TableUnavailable
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("faulty", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"], indirect=True, ids=["{}"])
async def test_a_200_that_is_not_dynamodbs(
    stage: Stage, billing: OpenBilling, faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no claim: a proxy's page would let two workers have the same event."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", faulty)
    async with billing() as worker:
        with pytest.raises(TableUnavailable):
            await worker.table.update(update(claim_key("ev_1"), "SET #a = :a", "attribute_not_exists(#pk)", a=1))
