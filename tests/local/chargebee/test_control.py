"""Tests the control paths: register, audit, change the behaviour, show the page."""

import pytest

from tests.local.chargebee.in_process import START, StandIn, invoice


def test_the_audit() -> None:
    """The audit has the charges with their billable events, the closes, and the time of every call."""
    stand_in = StandIn()
    stand_in.register(invoice())
    stand_in.add(key="k1", amount=5, description="Seats [billable:bl_9@1]")
    stand_in.time += 1.5
    stand_in.close(key="k2")
    stand_in.retrieve(2)
    audited = stand_in.audit()
    [one] = audited["invoices"]
    [charge] = one["charges"]
    assert (
        charge.items()
        >= {
            "billable": "bl_9",
            "amount": 5,
            "description": "Seats [billable:bl_9@1]",
            "idempotency_key": "k1",
            "at": START,
        }.items()
    )
    assert (one["closes"], one["closed_at"]) == ([{"idempotency_key": "k2", "at": START + 1.5}], START + 1.5)
    assert audited["calls"] == {
        "add_charge": {"200": [START]},
        "close": {"200": [START + 1.5]},
        "retrieve": {"404": [START + 1.5]},
    }


@pytest.mark.parametrize(
    ("description", "billable"),
    [("x", None), ("x [a] [billable:b@1]", "b"), ("x [billable:b@1] ", None), ("x [b]", None)],
)
def test_what_was_billed(description: str, billable: str | None) -> None:
    """A reference counts only at the end of the description."""
    stand_in = StandIn()
    stand_in.register(invoice())
    stand_in.add(description=description)
    assert stand_in.audit()["invoices"][0]["charges"][0]["billable"] == billable


def test_the_key_can_be_changed_and_not_read() -> None:
    """No path shows the API key, neither the first one nor a changed one."""
    stand_in = StandIn(api_key="present_key")
    changed = stand_in.behave(api_key="other_key")
    assert stand_in.get("invoices/none", auth=("other_key", "")).status_code == 404
    for shown in (changed, *(stand_in.client.get(path) for path in ("/", "/_/behaviour", "/_/audit", "/_/invoices"))):
        assert (shown.status_code, "present_key" in shown.text, "other_key" in shown.text) == (200, False, False)


def test_a_person_needs_no_key_and_no_calls() -> None:
    """What a person does in the web application neither counts against the limit of calls nor fails at random."""
    stand_in = StandIn(rate=1, errors=1)
    stand_in.register(invoice())
    answers = [stand_in.client.post(f"/_/by_hand/invoices/{path}") for path in ("draft_inv_1/close", "1/void")]
    assert [one.status_code for one in answers] == [200, 200]
    assert stand_in.client.post("/_/by_hand/invoices/1/void").status_code == 409
    assert stand_in.client.get("/_/by_hand/invoices/1").json()["invoice"]["status"] == "voided"
    assert stand_in.audit()["calls"] == {}


@pytest.mark.parametrize("path", ["invoices", "subscriptions", "line_items"])
@pytest.mark.parametrize("body", ["", "{}", "[1]"])
def test_a_body_that_is_no_list_of_objects(path: str, body: str) -> None:
    """The answer is an error, because nothing has changed."""
    answer = StandIn().client.put(f"/_/{path}", content=body)
    assert (answer.status_code, answer.json()["message"]) == (400, "the body must be a JSON list of objects")
