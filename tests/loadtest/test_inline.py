"""v01 under attack: invoices are seeded, the audit reads them, and the report shows the published figure as well."""

from collections.abc import Iterator

import httpx
import pytest

from app.settings import Release
from loadtest.fire.attack_measurement import measure
from loadtest.fire.behind import behind
from loadtest.fire.invoice_bodies import Invoices, seeded
from loadtest.fire.queue_audit import audit
from loadtest.interleaved import closed_loop
from loadtest.record.shapes import Load, Measurement
from loadtest.stage import subject
from loadtest.stage.billing_stage import CALL_LATENCY_S, TABLE_LATENCY_S, BillingStack, open_billing

V01 = subject.release(Release.V01_INLINE)


@pytest.fixture(scope="module")
def stack() -> Iterator[BillingStack]:
    with open_billing() as stack:
        yield stack


@pytest.fixture(scope="module")
def measured(stack: BillingStack, tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    return measure(stack, V01, "none", Load(rate=4, duration_s=1, timeout_s=30), out=tmp_path_factory.mktemp("raw"))


def test_an_invoice_for_each_sender(stack: BillingStack) -> None:
    """A closed loop needs more invoices than senders, because senders post one webhook after another."""
    with behind(stack, V01, closed_loop(users=64, duration_s=5)) as far:
        assert len(list(far.traffic("http://127.0.0.1:9").bodies())) > 64


@pytest.mark.slow
def test_every_200_has_its_invoice_closed(measured: Measurement) -> None:
    """All webhooks get 200, and the audit holds. Each makes at least five calls with the chosen latencies."""
    assert measured.statuses.keys() == {"200"}
    assert measured.audit is not None
    assert measured.audit.holds
    assert (measured.audit.accepted, measured.audit.late) == (measured.requests, 0)
    assert measured.latencies.fastest > 1000 * (2 * CALL_LATENCY_S + 3 * TABLE_LATENCY_S)


def test_a_charge_too_many_fails_the_audit(stack: BillingStack) -> None:
    """The audit fails for a closed invoice with a wrong charge, and for a 200 whose invoice is still pending."""
    wrong, pending = seeded(stack, 2)
    invoices = Invoices(stack, [wrong, pending])
    traffic = invoices.traffic("http://127.0.0.1:9")
    list(traffic.bodies())
    first, second = traffic.sent
    _bill_wrongly(stack, wrong)
    invoices.wait(lambda received: True)
    found = audit(traffic.sent, [first, second], invoices.received)
    assert (found.lost, found.altered, found.holds) == (sorted([first, second]), 1, False)


def _bill_wrongly(stack: BillingStack, body: bytes) -> None:
    invoice = body[body.index(b'"draft_inv_') + 1 :].partition(b'"')[0].decode()
    with httpx.Client(
        base_url=f"{stack.chargebee.url}/api/v2/invoices/{invoice}", auth=(stack.chargebee.api_key, ""), timeout=60
    ) as api:
        api.post(
            "/add_charge", data={"amount": 1, "description": "Nobody's [billable:bl_unknown@1]"}
        ).raise_for_status()
        api.post("/close").raise_for_status()
