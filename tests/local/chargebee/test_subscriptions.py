"""Tests subscriptions: List Subscriptions, charges for a subscription, hierarchies of customers."""

from typing import Any

import pytest

from tests.local.chargebee.in_process import StandIn, code, invoice
from tests.local.chargebee.test_corrections import consolidated


@pytest.fixture
def stand_in() -> StandIn:
    made = StandIn()
    made.register(consolidated())
    return made


def listed(stand_in: StandIn, **params: Any) -> list[dict[str, Any]]:
    answer = stand_in.get("subscriptions", **params)
    assert answer.status_code == 200, answer.text
    return [one["subscription"] for one in answer.json()["list"]]


def test_a_charge_for_a_subscription(stand_in: StandIn) -> None:
    """The line item names the subscription, its customer, who is not the invoice's, and the service period."""
    period: dict[str, Any] = {"line_item[date_from]": 1_800_000_000, "line_item[date_to]": 1_802_592_000}
    line = stand_in.add(subscription_id="s2", **period).json()["invoice"]["line_items"][-1]
    assert (line["subscription_id"], line["customer_id"]) == ("s2", "child-of-s2")
    assert (line["date_from"], line["date_to"]) == (1_800_000_000, 1_802_592_000)
    [charge] = stand_in.audit()["invoices"][0]["charges"]
    assert (charge["subscription_id"], charge["customer_id"], charge["date_to"]) == ("s2", "child-of-s2", 1_802_592_000)


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"subscription_id": "s3"}, "subscription_id"),
        ({"line_item[date_from]": 7, "line_item[date_to]": 6}, "line_item[date_to]"),
    ],
)
def test_a_charge_that_fits_nothing(stand_in: StandIn, params: dict[str, Any], param: str) -> None:
    """A subscription that the invoice does not have, or a period that ends before it begins, gets 400."""
    answer = stand_in.add(**params)
    assert (code(answer), answer.json()["param"]) == ((400, "param_wrong_value"), param)


@pytest.mark.parametrize("name", ["a/b", "ä ö", "it's", 'say "x"', "%2F", "1", "?x#y", "\U0001f680" * 50, "[a]"])
def test_every_legal_id(name: str) -> None:
    """An id of at most 50 characters of any kind is found in the path, percent-encoded once."""
    stand_in = StandIn()
    stand_in.register(invoice(1, id=name, customer_id=name), invoice(2))
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    assert stand_in.get(f"invoices/{encoded}", line_items_limit=1).json()["invoice"]["id"] == name
    charge = {"amount": 1, "description": "x"}
    long = stand_in.post(f"invoices/{encoded}/add_charge", charge).json()["invoice"]
    page = stand_in.get(f"invoices/{encoded}", line_items_limit=1).json()["invoice"]
    rest = stand_in.get(f"invoices/{encoded}", line_items_offset=page["line_items_next_offset"]).json()["invoice"]
    assert page["line_items"] + rest["line_items"] == long["line_items"]
    listed: dict[str, Any] = {"customer_id[is]": name}
    assert len(stand_in.get("invoices", **listed).json()["list"]) == 1
    closed = stand_in.close(2).json()["invoice"]["id"]
    assert closed != name
    assert stand_in.post(f"invoices/{encoded}/delete").status_code == 200
    assert stand_in.get(f"invoices/{closed}").json()["invoice"]["customer_id"] == "customer-2"
