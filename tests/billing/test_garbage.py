"""A failed call, of the table or of Chargebee, leaves no frame of this project in a cycle."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from app.billing.items import Update, claim_key
from app.errors import Postponed, TableUnavailable
from loadtest.record.folders import ROOT
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio
APP = f"{ROOT}/app/"  # the whole path, because the folder of a clone may be called `app`, too
ANSWERS = [
    b"",
    b"HTTP/1.1 200",
    b"garbage\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 41\r\n\r\n" + b'{"__type": "x#ResourceNotFoundException"}',
]


@contextmanager
def saved() -> Iterator[list[str]]:
    """Yields a list, which then gets the functions of `app` whose frames only the garbage collector could free."""
    found: list[str] = []
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        codes = [one.f_code for one in gc.garbage if isinstance(one, FrameType)]
        found += [code.co_qualname for code in codes if code.co_filename.startswith(APP)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("faulty", ANSWERS, indirect=True, ids=repr)
async def test_a_call_of_the_table(
    stage: Stage, billing: OpenBilling, faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", faulty)
    async with billing() as worker:
        with saved() as left, pytest.raises(Postponed):
            await worker.process(event_of(event_body()))
    assert left == []


@pytest.mark.parametrize("faulty", ANSWERS, indirect=True, ids=repr)
async def test_a_call_of_chargebee(stage: Stage, billing: OpenBilling, faulty: str) -> None:
    body = event_body()
    stage.put(body["content"]["invoice"]["customer_id"], some(1))
    async with billing(chargebee_url=faulty) as worker:
        with saved() as left, pytest.raises(Postponed):
            await worker.process(event_of(body))
    assert left == []


@pytest.mark.parametrize("faulty", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"], indirect=True, ids=["{}"])
async def test_a_200_that_is_not_dynamodbs(
    stage: Stage, billing: OpenBilling, faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy's page with status 200 is no claim; otherwise, two workers could claim the same event."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", faulty)
    async with billing() as worker:
        with pytest.raises(TableUnavailable):
            await worker.table.update(Update(claim_key("ev_1"), "SET #a = :a", "attribute_not_exists(#pk)", a=1))
