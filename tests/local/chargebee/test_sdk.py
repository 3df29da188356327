"""Tests that the official SDK reads the stand-in's answers and raises the errors as with Chargebee."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import chargebee
import httpx
import orjson
import pytest
from chargebee import Chargebee, InvalidRequestError, OperationFailedError

from local.chargebee.chargebee_start import ChargebeeApi, start
from tests.harness.service import NO_CAS
from tests.local.chargebee.in_process import EVENTS, invoice

KEY = {"chargebee-idempotency-key": "ev_1-add_charge-bl_1"}


@pytest.fixture
def api() -> Iterator[ChargebeeApi]:
    with start(rate=1000) as started:
        register(started, *({"event": event} for event in EVENTS), invoice(1), invoice(2, line_items=[]))
        yield started


def register(api: ChargebeeApi, *entries: dict[str, Any]) -> None:
    httpx.put(f"{api.url}/_/invoices", content=orjson.dumps(entries), verify=NO_CAS, timeout=60).raise_for_status()


@pytest.fixture
def sdk(api: ChargebeeApi, monkeypatch: pytest.MonkeyPatch) -> Chargebee:
    return client(api, monkeypatch, api.api_key)


def client(api: ChargebeeApi, monkeypatch: pytest.MonkeyPatch, key: str) -> Chargebee:
    """The SDK joins site and domain by a dot. It takes https unless its class says otherwise."""
    monkeypatch.setattr(chargebee.Chargebee, "verify_ca_certs", False)
    return Chargebee(key, "127", chargebee_domain=f"0.0.1:{urlsplit(api.url).port}", protocol="http")


def test_add_charge_and_close(sdk: Chargebee) -> None:
    """The SDK parses each answer into its models; a replayed answer is marked."""
    charge = {"amount": 120, "description": "Seats [billable:bl_1@1]"}
    added = sdk.Invoice.add_charge("draft_inv_1", charge, KEY)
    assert (added.is_idempotency_replayed, added.http_status_code) == (False, 200)
    line = added.invoice.line_items[-1]
    assert (line.amount, line.description, line.entity_type) == (120, "Seats [billable:bl_1@1]", "adhoc")
    again = sdk.Invoice.add_charge("draft_inv_1", charge, KEY)
    assert (again.is_idempotency_replayed, again.invoice.line_items[-1].id) == (True, line.id)
    closed = sdk.Invoice.close("draft_inv_1", {"invoice_note": "Thanks"})
    assert (closed.invoice.status, closed.invoice.id) == ("payment_due", "1")
    assert closed.invoice.total == added.invoice.total
    assert sdk.Invoice.retrieve("1").invoice.raw_data == closed.invoice.raw_data


CHARGE = {"amount": 5, "description": "x"}


@pytest.mark.parametrize(
    ("call", "status", "code"),
    [
        (lambda invoices: invoices.retrieve("missing"), 404, "resource_not_found"),
        (lambda invoices: invoices.close("missing"), 404, "resource_not_found"),
        (lambda invoices: invoices.close("draft_inv_2"), 400, "invalid_request"),
        (lambda invoices: invoices.add_charge("draft_inv_1", CHARGE | {"amount": 0}), 400, "param_wrong_value"),
        (lambda invoices: [invoices.close(each) for each in ("draft_inv_1", "1")], 409, "invalid_state_for_request"),
        (lambda invoices: [invoices.add_charge(f"draft_inv_{n}", CHARGE, KEY) for n in (1, 2)], 400, "invalid_request"),
    ],
)
def test_a_request_that_is_wrong(sdk: Chargebee, call: Any, status: int, code: str) -> None:
    """The SDK raises InvalidRequestError with status and code."""
    with pytest.raises(InvalidRequestError) as raised:
        call(sdk.Invoice)
    assert (raised.value.http_status_code, raised.value.api_error_code) == (status, code)


def test_too_many_calls(api: ChargebeeApi, sdk: Chargebee) -> None:
    """The SDK raises OperationFailedError with the time to wait."""
    httpx.put(f"{api.url}/_/behaviour", json={"rate": 1}, verify=NO_CAS, timeout=60).raise_for_status()
    sdk.Invoice.retrieve("draft_inv_1")
    with pytest.raises(OperationFailedError) as raised:
        sdk.Invoice.retrieve("draft_inv_1")
    assert (raised.value.http_status_code, raised.value.api_error_code) == (429, "api_request_limit_exceeded")
    assert 0 < int(raised.value.http_headers["Retry-After"]) <= 60


def test_errors_of_the_server(api: ChargebeeApi, sdk: Chargebee) -> None:
    """The API's faults raise OperationFailedError; a gateway's page and half an answer raise what the SDK chooses."""
    httpx.put(f"{api.url}/_/behaviour", json={"errors": 1}, verify=NO_CAS, timeout=60).raise_for_status()
    seen = {_error(sdk) for _ in range(16)}
    assert seen == {"internal_error", "internal_temporary_error", "gateway_timeout", "cut_off"}


def _error(sdk: Chargebee) -> str:
    try:
        sdk.Invoice.retrieve("draft_inv_1")
    except OperationFailedError as error:
        return str(error.api_error_code)
    except httpx.RemoteProtocolError:
        return "cut_off"
    except Exception as error:
        if "gateway_timeout" in str(error):  # it raises nothing better for what is not JSON
            return "gateway_timeout"
        raise
    return ""


def test_corrections(sdk: Chargebee) -> None:
    """The SDK voids, deletes and regenerates invoices, removes line items and lists subscriptions."""
    own = EVENTS[1]["content"]["invoice"]
    charge = sdk.Invoice.add_charge("draft_inv_1", CHARGE | {"subscription_id": own["subscription_id"]})
    removed = sdk.Invoice.delete_line_items("draft_inv_1", {"line_items": [{"id": charge.invoice.line_items[-1].id}]})
    assert len(removed.invoice.line_items) == len(own["line_items"])
    sdk.Invoice.close("draft_inv_1")
    assert sdk.Invoice.void_invoice("1", {"comment": "wrong"}).invoice.status == "voided"
    assert sdk.Invoice.delete(own["id"]).invoice.deleted
    made = sdk.Subscription.regenerate_invoice(own["subscription_id"]).invoice
    assert (made.status, made.total, made.currency_code) == ("pending", own["total"], own["currency_code"])
    [found] = sdk.Subscription.list({"customer_id": {"is": own["customer_id"]}}).list
    assert (found.subscription.id, found.subscription.status) == (own["subscription_id"], "active")
