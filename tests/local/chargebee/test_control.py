"""Tests the control paths: register, audit, change the behaviour, show the page."""

import base64

import pytest

from tests.local.chargebee.in_process import EVENTS, START, StandIn, invoice


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


def test_registering_again_changes_nothing() -> None:
    """A charge stays when its invoice is registered again."""
    stand_in = StandIn()
    assert stand_in.register(invoice(1), invoice(2)).json() == {"invoices": 2, "new": ["draft_inv_1", "draft_inv_2"]}
    stand_in.add(1)
    assert stand_in.register(invoice(1, total=5), invoice(3)).json()["new"] == ["draft_inv_3"]
    assert {one["id"]: one["charges"] for one in stand_in.client.get("/_/invoices").json()} == {
        "draft_inv_1": 1,
        "draft_inv_2": 0,
        "draft_inv_3": 0,
    }


def test_an_event_about_another_invoice() -> None:
    """Only pending invoices are registered; the event is listed in any case."""
    stand_in = StandIn()
    event = EVENTS[0] | {"content": {"invoice": invoice(1, status="paid")}}
    assert stand_in.register({"event": event}).json() == {"invoices": 0, "new": []}
    assert len(stand_in.events().json()["list"]) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'[{"id": ""}]', b'[{"id": "x"}]', b'[{"event": {}}]'])
def test_what_cannot_be_registered(content: bytes) -> None:
    """The answer is 400."""
    assert StandIn().client.put("/_/invoices", content=content).status_code == 400


def test_a_list_is_registered_wholly_or_not_at_all() -> None:
    """After a 400, an invoice of the list is still new, so that the sender writes its usage the next time."""
    stand_in = StandIn()
    assert stand_in.register(invoice(1), {"id": "x"}).status_code == 400
    assert stand_in.register(invoice(2) | {"total": "5"}).status_code == 400
    assert stand_in.register(invoice(1), invoice(2)).json()["new"] == ["draft_inv_1", "draft_inv_2"]


def test_behaviour() -> None:
    """Only the named options change; values out of bounds are rejected."""
    stand_in = StandIn(rate=7)
    assert stand_in.behave(latency=0.001).json() == {
        "rate": 7,
        "latency": 0.001,
        "errors": 0,
        "seed": 0,
        "rests": 0,
        "retry_after": "",
        "renumber": True,
        "idempotency_seconds": 1800,
    }
    assert stand_in.behave(rate=0).status_code == 400
    assert stand_in.behave(colour="red").status_code == 400
    assert stand_in.client.put("/_/behaviour", content=b"[").status_code == 400
    assert stand_in.client.put("/_/behaviour", content=b"[]").status_code == 400
    assert stand_in.client.get("/_/behaviour").json()["rate"] == 7


@pytest.mark.parametrize("path", ["/_/behaviour", "/_/invoices"])
def test_no_website_changes_it(path: str) -> None:
    """A browser sends the website's origin, which gets 403. curl sends none."""
    assert StandIn().client.put(path, content=b"[]", headers={"Origin": "http://elsewhere"}).status_code == 403


def test_the_key_can_be_changed_and_not_read() -> None:
    """No path shows the API key, neither the first one nor a changed one."""
    stand_in = StandIn(api_key="present_key")
    changed = stand_in.behave(api_key="other_key")
    assert stand_in.get("invoices/none", auth=("other_key", "")).status_code == 404
    for shown in (changed, *(stand_in.client.get(path) for path in ("/", "/_/behaviour", "/_/audit", "/_/invoices"))):
        assert (shown.status_code, "present_key" in shown.text, "other_key" in shown.text) == (200, False, False)


def test_the_pages_policy() -> None:
    """The page allows only its own script and style by hash, and no frames."""
    answer = StandIn().client.get("/")
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert policy.count("sha256-") == 2
    assert all(len(base64.b64decode(part[8:-1])) == 32 for part in policy.replace(";", "").split() if "sha256" in part)


def test_a_person_needs_no_key_and_no_calls() -> None:
    """What a person does in the web application neither counts against the limit of calls nor fails at random."""
    stand_in = StandIn(rate=1, errors=1)
    stand_in.register(invoice())
    answers = [stand_in.client.post(f"/_/by_hand/invoices/{path}") for path in ("draft_inv_1/close", "1/void")]
    assert [one.status_code for one in answers] == [200, 200]
    assert stand_in.client.post("/_/by_hand/invoices/1/void").status_code == 409
    assert stand_in.client.get("/_/by_hand/invoices/1").json()["invoice"]["status"] == "voided"
    assert stand_in.audit()["calls"] == {}
