"""What release v01 leaves behind, and that a worker and v01 charge nothing of each other's again."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError
from loguru import logger

from app.billing.answers import InvalidState
from app.billing.charge_items import charge_key
from app.billing.charges import Billable
from app.billing.inline_clients import BlockingClients, build_clients
from app.errors import Unprocessable
from app.from_settings import billing_access
from app.web.releases.v01_inline import bill
from tests.billing.conftest import OpenBilling, settings_of
from tests.billing.stage import START, Stage, again, event_body, event_of, item_of, some

Before = Callable[[str, Callable[[], None]], None]


class Killed(BaseException):
    """Stands for kill -9: no handler of v01 catches it."""


def kill() -> None:
    raise Killed


@pytest.fixture
def clients(stage: Stage) -> Iterator[BlockingClients]:
    found = build_clients(billing_access(settings_of(stage)))
    yield found
    found.dynamodb.close()


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Before:
    """Returns a function that makes something happen once, before the next call of that operation."""

    def happens(operation: str, what: Callable[[], None]) -> None:
        name, original = ("set", BlockingClients.set) if operation == "set" else ("change", BlockingClients.change)

        def called(clients: BlockingClients, *values: Any, **named: Any) -> Any:
            if operation in (name, *values[1:2]):
                monkeypatch.setattr(BlockingClients, name, original)
                what()
            return original(clients, *values, **named)

        monkeypatch.setattr(BlockingClients, name, called)

    return happens


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    found: list[str] = []
    sink = logger.add(lambda message: found.append(message.record["message"]), level="WARNING")
    yield found
    logger.remove(sink)


def renewal(stage: Stage, usage: list[Billable], **invoice: Any) -> dict[str, Any]:
    """Returns the webhook about an invoice with one term, which is at the stand-in, with its customer's usage."""
    body = event_body(**invoice)
    stage.register(body)
    stage.put(body["content"]["invoice"]["customer_id"], usage)
    return body


def next_invoice(stage: Stage, body: dict[str, Any]) -> dict[str, Any]:
    """Returns the webhook about another invoice of the same customer and term."""
    found = again(body, id=f"{body['content']['invoice']['id']}_2")
    stage.register(found)
    return found


def deliver(clients: BlockingClients, body: dict[str, Any]) -> None:
    event = event_of(body)
    assert event.content.invoice is not None
    bill(clients, event, event.content.invoice)


def repeated(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the webhook as Chargebee repeats it."""
    return body | {"webhooks": [{"id": "whv2_1", "webhook_status": "re_scheduled", "object": "webhook"}]}


def charged(stage: Stage, body: dict[str, Any]) -> list[str]:
    return [charge["billable"] for charge in stage.invoice(body["content"]["invoice"]["id"])["charges"]]


def marks(stage: Stage, body: dict[str, Any]) -> list[Any]:
    """Returns the charge items of the webhook's customer."""
    items = stage.items(body["content"]["invoice"]["customer_id"])
    return [item for item in items if item["sk"]["S"].startswith("charge#")]


def test_a_kill_between_charge_and_close(
    stage: Stage, clients: BlockingClients, before: Before, warnings: list[str]
) -> None:
    """The flaw: if Chargebee has forgotten the keys, the repeated webhook charges again. The log names the usage."""
    stage.behave(idempotency_seconds=0.001)
    body = renewal(stage, some(2))
    before("close", kill)
    with pytest.raises(Killed):
        deliver(clients, body)
    assert (charged(stage, body), warnings) == (["b0", "b1"], [])
    deliver(clients, repeated(body))
    assert charged(stage, body) == ["b0", "b1", "b0", "b1"]
    [warning] = warnings
    assert all(reference in warning for reference in (f"b0@{START}", f"b1@{START + 1}"))


@pytest.mark.parametrize("operation", ["add_charge", "close", "set"])
def test_a_kill_and_a_repetition_within_half_an_hour(
    stage: Stage, clients: BlockingClients, before: Before, operation: str
) -> None:
    """While Chargebee keeps the idempotency keys, the repeated webhook charges nothing again, and ends the work."""
    stage.behave(renumber=True)
    body = renewal(stage, some(2))
    before(operation, kill)
    with pytest.raises(Killed):
        deliver(clients, body)
    deliver(clients, repeated(body))
    assert charged(stage, body) == ["b0", "b1"]
    assert len(marks(stage, body)) == 2


def test_a_kill_between_close_and_mark(
    stage: Stage, clients: BlockingClients, before: Before, warnings: list[str]
) -> None:
    """The flaw: the usage is not marked. Later repetitions fail, and log it; another invoice of the term charges it."""
    stage.behave(idempotency_seconds=0.001, renumber=True)
    body = renewal(stage, some(2))
    before("set", kill)
    with pytest.raises(Killed):
        deliver(clients, body)
    with pytest.raises(Unprocessable) as failed:
        deliver(clients, repeated(body))
    assert failed.value.code == "invoice_not_found"
    [warning] = warnings
    assert f"b0@{START}" in warning
    other = next_invoice(stage, body)
    deliver(clients, other)
    assert charged(stage, body) == charged(stage, other) == ["b0", "b1"]


@pytest.mark.parametrize("renumber", [True, False])
def test_a_person_closes_the_invoice_in_between(
    stage: Stage, clients: BlockingClients, before: Before, warnings: list[str], renumber: bool
) -> None:
    """The work fails, now and at each repetition, and nothing is marked. The repetition logs the usage."""
    stage.behave(renumber=renumber, idempotency_seconds=0.001)
    body = renewal(stage, some(2))
    before("close", partial(stage.close, body["content"]["invoice"]["id"]))
    for delivered in (body, repeated(body)):
        with pytest.raises(Unprocessable if renumber else InvalidState):
            deliver(clients, delivered)
    assert charged(stage, body) == ["b0", "b1"]
    assert marks(stage, body) == []
    [warning] = warnings
    assert f"b1@{START + 1}" in warning


def test_what_is_marked(stage: Stage, clients: BlockingClients) -> None:
    """A charge item has the snapshot and both ids of the invoice. An amount of 0 is marked without a charge."""
    stage.behave(renumber=True, idempotency_seconds=0.001)
    body = renewal(stage, [Billable("none", 0, "Nothing", START), *some(1, START + 1)])
    aside = charge_key(body["content"]["invoice"]["customer_id"], f"{START:010}#none")
    for name in ("reason", "event_id"):  # before the usage was corrected
        stage.set(aside, name, {"S": name})
    deliver(clients, body)
    assert charged(stage, body) == ["b0"]
    free, paid = marks(stage, body)
    assert "reason" not in free
    assert (free["sk"], free["amount"]) == ({"S": f"charge#{START:010}#none"}, {"N": "0"})
    assert paid["invoice_id"] == {"S": body["content"]["invoice"]["id"]}
    assert paid["closed_as"]["S"].isdecimal()
    assert (paid["amount"], paid["description"]) == ({"N": "100"}, {"S": "Usage 0"})
    assert int(paid["billed_at"]["N"]) > START - 10**9
    deliver(clients, repeated(body))  # changes nothing
    assert charged(stage, body) == ["b0"]


@pytest.mark.parametrize("first", ["v01", "worker"])
@pytest.mark.anyio
async def test_one_after_the_other(stage: Stage, clients: BlockingClients, billing: OpenBilling, first: str) -> None:
    """A worker does not charge again, on another invoice of the term, what v01 has charged; nor does v01."""
    body = renewal(stage, some(3))
    other = next_invoice(stage, body)
    async with billing() as worker:
        if first == "v01":
            deliver(clients, body)
            await worker.process(event_of(other))
        else:
            await worker.process(event_of(body))
            deliver(clients, other)
    assert charged(stage, body) == ["b0", "b1", "b2"]
    assert charged(stage, other) == []
    assert stage.invoice(other["content"]["invoice"]["id"])["closes"]


def test_what_is_not_this_invoice_s(stage: Stage, clients: BlockingClients, warnings: list[str]) -> None:
    """Usage that cannot be charged, or may belong to two subscriptions, is left out and logged. The rest is charged."""
    lines = event_body()["content"]["invoice"]["line_items"]
    two = [line | {"subscription_id": name} for line in lines for name in ("sub_1", "sub_2")]
    usage = [
        Billable("odd", -5, "", START, subscription_id="sub_1"),
        Billable("whose", 5, "", START),
        Billable("b0", 7, "", START, subscription_id="sub_2"),
        Billable("yen", 7, "", START, subscription_id="sub_1", currency="JPY"),
        Billable("three", 7, "", START, subscription_id="sub_3"),
    ]
    body = renewal(stage, usage, line_items=two)
    deliver(clients, body)
    assert charged(stage, body) == ["b0"]
    [warning] = warnings
    assert all(name in warning for name in ("#odd", "#whose"))
    assert not any(name in warning for name in ("#yen", "#three", "#b0"))


def test_usage_that_is_reserved(stage: Stage, clients: BlockingClients) -> None:
    """If a worker has reserved usage for the invoice, v01 neither charges nor closes it."""
    body = renewal(stage, some(2))
    invoice = body["content"]["invoice"]
    item = item_of(invoice["customer_id"], some(1)[0])
    item |= {"sk": {"S": item["sk"]["S"].replace("billable", "charge")}, "invoice_id": {"S": invoice["id"]}}
    stage.dynamodb.put_item(TableName=stage.table, Item=item | {"reserved_at": {"N": str(START)}})
    with pytest.raises(Unprocessable) as failed:
        deliver(clients, body)
    assert failed.value.code == "reserved"
    assert charged(stage, body) == []
    assert stage.invoice(invoice["id"])["closes"] == []


def test_a_worker_reserves_the_usage_meanwhile(stage: Stage, clients: BlockingClients, before: Before) -> None:
    """The flaw: the usage is charged on v01's invoice as well. The worker's reservation stays, and v01's work fails."""
    body = renewal(stage, some(1))
    key = charge_key(body["content"]["invoice"]["customer_id"], some(1)[0].suffix)
    before("set", partial(stage.set, key, "invoice_id", {"S": "draft_inv_of_a_worker"}))
    with pytest.raises(ClientError) as failed:
        deliver(clients, body)
    assert failed.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert charged(stage, body) == ["b0"]
    assert [item["invoice_id"] for item in marks(stage, body)] == [{"S": "draft_inv_of_a_worker"}]
