"""Tests injected errors: the share, the repeatable choice, and the faults after the operation."""

import httpx

from local.chargebee.behaviour import API_KEY
from local.chargebee.chargebee_start import start
from tests.local.chargebee.in_process import BROKEN_OFF, StandIn, invoice


def outcomes(seed: int) -> tuple[list[int], StandIn]:
    stand_in = StandIn(errors=0.3, seed=seed, rate=10_000)
    stand_in.register(invoice())
    return [stand_in.add(key=f"k{number}", amount=number + 1).status_code for number in range(200)], stand_in


def test_a_share_of_the_calls_fails() -> None:
    """The invoice has every charge whose call was answered, and some whose call was not."""
    statuses, stand_in = outcomes(1)
    failed = sum(stand_in.audit()["injected"].values())
    assert 30 < failed < 90
    assert set(statuses) == {200, 500, 503, 504, BROKEN_OFF}
    there = {charge["amount"] for charge in stand_in.audit()["invoices"][0]["charges"]}
    answered = {number + 1 for number, status in enumerate(statuses) if status == 200}
    lost = {number + 1 for number, status in enumerate(statuses) if status in {504, BROKEN_OFF}}
    assert there == answered | lost
    assert len(statuses) - len(answered) == failed


def test_the_same_seed() -> None:
    """The same seed fails the same calls; another seed fails other calls."""
    assert outcomes(1)[0] == outcomes(1)[0] != outcomes(2)[0]


def test_repeated_until_it_works() -> None:
    """With an idempotency key, each charge exists once, even if answers were lost."""
    stand_in = StandIn(errors=0.5, rate=10_000)
    stand_in.register(invoice())
    for number in range(50):
        while stand_in.add(key=f"k{number}", amount=number + 1).status_code != 200:
            pass
    assert [charge["amount"] for charge in stand_in.audit()["invoices"][0]["charges"]] == list(range(1, 51))


def test_an_answer_that_breaks_off() -> None:
    """The connection ends in the middle of the body, but the charge exists."""
    with start(errors=1, rate=10_000) as api, httpx.Client(base_url=api.url, auth=(API_KEY, ""), timeout=60) as http:
        http.put("/_/invoices", json=[invoice()])
        amount = next(amount for amount in range(1, 100) if _breaks_off(http, amount))
        audited = http.get("/_/audit").json()
    assert len(audited["calls"]["add_charge"]["cut_off"]) == audited["injected"]["cut_off"] == 1
    assert audited["invoices"][0]["charges"][-1]["amount"] == amount


def _breaks_off(http: httpx.Client, amount: int) -> bool:
    try:
        http.post("/api/v2/invoices/draft_inv_1/add_charge", data={"amount": str(amount), "description": "x"})
    except httpx.RemoteProtocolError:
        return True
    return False
