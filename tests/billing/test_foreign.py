"""Answers with 200 that are not Chargebee's, and endless answers, count neither as a charge nor as a close."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from app.billing.answers import ApiAnswer
from app.billing.chargebee_session import MAX_BYTES
from app.errors import ChargebeeUnavailable
from tests.billing.conftest import OpenBilling
from tests.billing.stage import Stage, event_body, event_of, some

pytestmark = pytest.mark.anyio
FOREIGN = [
    {},
    {"ok": True},
    {"api_error_code": "internal_error"},
    {"invoice": {"id": "another", "status": "paid"}},
    {"invoice": {"status": "paid"}},
]


def _answering(worker: Any, patch: pytest.MonkeyPatch, suffix: str, answer: Callable[[], ApiAnswer]) -> None:
    """Calls whose path ends with `suffix` get `answer`; the others reach the stand-in."""
    real = worker.chargebee._calls._send

    async def send(method: str, path: str, seconds: float, request: dict[str, Any]) -> ApiAnswer:
        return answer() if path.endswith(suffix) else await real(method, path, seconds, request)

    patch.setattr(worker.chargebee._calls, "_send", send)


@pytest.mark.parametrize("operation", ["add_charge", "close"])
@pytest.mark.parametrize("content", FOREIGN, ids=str)
async def test_a_200_without_the_invoice(
    stage: Stage, billing: OpenBilling, content: object, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event will be retried, and nothing counts as billed."""
    body = event_body()
    customer = body["content"]["invoice"]["customer_id"]
    stage.register(body)
    stage.put(customer, some(1))
    async with billing() as worker:
        with monkeypatch.context() as patch:
            _answering(worker, patch, operation, lambda: ApiAnswer(200, {}, json.dumps(content).encode()))
            with pytest.raises(ChargebeeUnavailable) as failed:
                await worker.process(event_of(body))
        assert failed.value.code == "chargebee_unreadable"
        assert [one.billed_at for one in stage.billables(customer)] == [None]
        assert await worker.process(event_of(body)) == "closed"
    stage.require_billed_once(body, some(1))


async def test_a_close_that_leaves_the_invoice_pending(
    stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = event_body()
    stage.register(body)
    pending = {"invoice": {"id": body["content"]["invoice"]["id"], "status": "pending"}}
    async with billing() as worker:
        _answering(worker, monkeypatch, "close", lambda: ApiAnswer(200, {}, json.dumps(pending).encode()))
        with pytest.raises(ChargebeeUnavailable):
            await worker.process(event_of(body))


async def test_pages_without_an_end(stage: Stage, billing: OpenBilling, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker does not read a page for ever that names itself as the next one."""
    body = event_body(line_items_next_offset="[1]")
    name = body["content"]["invoice"]["id"]
    page = {"invoice": {"id": name, "status": "pending", "line_items_next_offset": "same"}}
    events = {"list": [], "next_offset": "same"}
    async with billing() as worker:
        _answering(worker, monkeypatch, name, lambda: ApiAnswer(200, {}, json.dumps(page).encode()))
        with pytest.raises(ChargebeeUnavailable):
            await worker.process(event_of(body))
        _answering(worker, monkeypatch, "/events", lambda: ApiAnswer(200, {}, json.dumps(events).encode()))
        with pytest.raises(ChargebeeUnavailable):
            assert [page async for page in worker.chargebee.list_events()] == []


def _whole(body: bytes, *headers: bytes) -> bytes:
    head = [b"HTTP/1.1 200 OK", *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*head, b"", body])


@pytest.mark.parametrize(
    "faulty",
    [_whole(b"x" * (MAX_BYTES + 1)), _whole(gzip.compress(b"x" * 2 * MAX_BYTES, 1), b"Content-Encoding: gzip")],
    indirect=True,
    ids=["long", "compressed"],
)
async def test_an_answer_is_bounded(billing: OpenBilling, faulty: str) -> None:
    """The answer is cut off before it is buffered. It is not expanded, because no compressed answer was asked for."""
    event = event_body(line_items_next_offset="[1]")
    async with billing(chargebee_url=faulty) as worker:
        with pytest.raises(ChargebeeUnavailable):
            await worker.process(event_of(event))
