"""Tests what a person does about an invoice that is wrong: void, delete, regenerate, change line items."""

from typing import Any

import pytest

from tests.local.chargebee.in_process import EVENTS, START, StandIn, code, invoice

TRUNCATED = EVENTS[6]["content"]["invoice"]


def line(number: int, subscription: str, entity_type: str = "plan_item_price", **changes: object) -> dict[str, Any]:
    """Returns a line item of 1,000 cents for a term of a month."""
    return {
        "id": f"li_{number}",
        "subscription_id": subscription,
        "customer_id": f"child-of-{subscription}",
        "entity_type": entity_type,
        "amount": 1000,
        "date_from": 1_800_000_000,
        "date_to": 1_802_592_000,
        "description": "A line",
        **changes,
    }


def consolidated() -> dict[str, Any]:
    """Returns an invoice of two subscriptions and a one-time charge."""
    lines = [line(1, "s1"), line(2, "s2", "addon"), line(3, "s1", "charge_item_price")]
    return invoice(1, subscription_id=None, total=3000, sub_total=3000, amount_due=3000, line_items=lines)


@pytest.fixture
def stand_in() -> StandIn:
    made = StandIn()
    made.register(consolidated())
    return made


def test_void_after_closing(stand_in: StandIn) -> None:
    """A voided invoice keeps its number and its charges, nothing is due, and it can be voided only once."""
    stand_in.add()
    stand_in.close()
    assert stand_in.post("invoices/1/void", {"comment": "wrong"}).status_code == 200
    found = stand_in.get("invoices/1").json()["invoice"]
    assert (found["id"], found["status"], found["total"], found["amount_due"]) == ("1", "voided", 3100, 0)
    assert len(found["line_items"]) == 4
    assert code(stand_in.post("invoices/1/void")) == (409, "invalid_state_for_request")
    listed: dict[str, Any] = {"customer_id[is]": "customer-1"}
    assert [one["invoice"]["status"] for one in stand_in.get("invoices", **listed).json()["list"]] == ["voided"]


def test_what_cannot_be_voided(stand_in: StandIn) -> None:
    """A pending invoice cannot be voided, and neither can a paid one."""
    assert code(stand_in.post("invoices/draft_inv_1/void")) == (409, "invalid_state_for_request")
    stand_in.register(invoice(2, total=0))
    stand_in.close(2)
    assert code(stand_in.post("invoices/1/void")) == (409, "invalid_state_for_request")


def test_delete(stand_in: StandIn) -> None:
    """A deleted invoice is nowhere in the API, be it pending or closed. The audit still has it with its charges."""
    stand_in.register(invoice(2))
    stand_in.add(1)
    stand_in.close(2)
    assert stand_in.post("invoices/draft_inv_1/delete").json()["invoice"]["deleted"] is True
    assert stand_in.post("invoices/1/delete").status_code == 200
    for path in ("invoices/draft_inv_1", "invoices/1"):
        assert code(stand_in.get(path)) == code(stand_in.post(f"{path}/delete")) == (404, "resource_not_found")
    assert code(stand_in.add(1)) == code(stand_in.close(1)) == (404, "resource_not_found")
    listed: dict[str, Any] = {"customer_id[is]": "customer-1"}
    assert stand_in.get("invoices", **listed).json()["list"] == []
    assert [(one["deleted"], len(one["charges"])) for one in stand_in.audit()["invoices"]] == [(True, 1), (True, 0)]


def test_regenerate(stand_in: StandIn) -> None:
    """A new pending invoice has the lines of the subscription's term, and no charge. List Events has its event."""
    stand_in.add()
    stand_in.close()
    stand_in.post("invoices/1/void")
    stand_in.time += 60
    made = stand_in.regenerate("s1").json()["invoice"]
    assert (made["status"], made["total"], made["currency_code"]) == ("pending", 1000, invoice()["currency_code"])
    assert [(one["amount"], one["entity_type"]) for one in made["line_items"]] == [(1000, "plan_item_price")]
    assert made["line_items"][0]["id"] != "li_1"
    [listed] = stand_in.events(**{"event_type[is]": "pending_invoice_created"}).json()["list"]
    event = listed["event"]
    assert (event["occurred_at"], event["content"]["invoice"]) == (START + 60, made)
    assert stand_in.post(f"invoices/{made['id']}/add_charge", {"amount": 5, "description": "x"}).status_code == 200


def test_each_subscription_is_regenerated_once(stand_in: StandIn) -> None:
    """Each subscription of a consolidated invoice gets its own, and another one only when that is void."""
    stand_in.post("invoices/draft_inv_1/delete")
    ids = [stand_in.regenerate(subscription).json()["invoice"]["id"] for subscription in ("s1", "s2")]
    assert code(stand_in.regenerate("s1")) == (409, "invalid_state_for_request")
    stand_in.post(f"invoices/{ids[0]}/delete")
    assert stand_in.regenerate("s1").status_code == 200


def test_what_cannot_be_regenerated(stand_in: StandIn) -> None:
    """The invoice must be void, and the subscription must exist and be renewed."""
    assert code(stand_in.regenerate("s1")) == (409, "invalid_state_for_request")
    assert code(stand_in.regenerate("s3")) == (404, "resource_not_found")
    stand_in.post("invoices/draft_inv_1/delete")
    cancelled = [{"id": "s1", "customer_id": "child-of-s1", "status": "cancelled"}]
    stand_in.client.put("/_/subscriptions", json=cancelled)
    assert code(stand_in.regenerate("s1")) == (409, "invalid_state_for_request")


def test_a_regenerated_event_leaves_line_items_out() -> None:
    """The event of a long invoice has the first line items, and the offset of the others."""
    stand_in = StandIn()
    rest = [{**TRUNCATED["line_items"][0], "id": f"li_{number}"} for number in range(9)]
    stand_in.register({"event": EVENTS[6], "more_line_items": rest})
    stand_in.post(f"invoices/{TRUNCATED['id']}/delete")
    made = stand_in.regenerate(TRUNCATED["subscription_id"]).json()["invoice"]
    event = stand_in.events(**{"id[is_not]": EVENTS[6]["id"]}).json()["list"][0]["event"]
    assert event["content"]["invoice"] == made
    further = stand_in.get(f"invoices/{made['id']}", line_items_offset=made["line_items_next_offset"])
    assert len(made["line_items"]) == 300
    assert further.json()["invoice"]["line_items"]


def test_removing_line_items(stand_in: StandIn) -> None:
    """Line items of the invoice and charges can be removed while it is pending, and the totals follow."""
    stand_in.add(amount=70)
    charge = stand_in.add(amount=7).json()["invoice"]["line_items"][-1]["id"]
    path = "invoices/draft_inv_1/delete_line_items"
    found = stand_in.post(path, {"line_items[id][0]": charge, "line_items[id][1]": "li_2"}).json()["invoice"]
    assert (found["total"], [one["amount"] for one in found["line_items"]]) == (2070, [1000, 1000, 70])
    assert [one["amount"] for one in stand_in.audit()["invoices"][0]["charges"]] == [70]
    assert code(stand_in.post(path, {"line_items[id][0]": "li_2"})) == (400, "param_wrong_value")
    assert code(stand_in.post(path)) == (400, "param_wrong_value")
    stand_in.close()
    last = stand_in.post("invoices/1/delete_line_items", {"line_items[id][0]": "li_1"})
    assert code(last) == (409, "invalid_state_for_request")


def test_editing_a_line_item(stand_in: StandIn) -> None:
    """An edited charge has its new amount and description in the audit."""
    charge = stand_in.add(amount=7).json()["invoice"]["line_items"][-1]["id"]
    changes = {"invoice_id": "draft_inv_1", "id": charge, "amount": 9, "description": "Corrected"}
    assert stand_in.client.put("/_/line_items", json=[changes]).status_code == 200
    audited = stand_in.audit()["invoices"][0]
    assert audited["total"] == 3009
    assert [(one["amount"], one["description"]) for one in audited["charges"]] == [(9, "Corrected")]
    assert stand_in.client.put("/_/line_items", json=[changes | {"id": "li_9"}]).status_code == 400


@pytest.mark.parametrize("operation", ["void", "delete"])
def test_a_repeated_correction_is_answered_from_its_key(stand_in: StandIn, operation: str) -> None:
    """The operations take an idempotency key, as add_charge does."""
    stand_in.close()
    first, second = (stand_in.post(f"invoices/1/{operation}", key="k") for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
