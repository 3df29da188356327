"""The meaning of Chargebee's answers."""

import json

import pytest

from app.billing.answers import ApiAnswer, InvalidState, content_of, invoice_of
from app.errors import ChargebeeUnavailable, Postponed, Unprocessable


def _answer(status: int, code: str | None, **headers: str) -> ApiAnswer:
    return ApiAnswer(status, headers, json.dumps({"api_error_code": code} if code else {}).encode())


@pytest.mark.parametrize(
    ("status", "code", "error", "means"),
    [
        (429, "api_request_limit_exceeded", ChargebeeUnavailable, "api_request_limit_exceeded"),
        (429, "lock_timeout", ChargebeeUnavailable, "lock_timeout"),
        (500, "internal_error", ChargebeeUnavailable, "internal_error"),
        (503, "internal_temporary_error", ChargebeeUnavailable, "internal_temporary_error"),
        (502, None, ChargebeeUnavailable, "chargebee_http_502"),
        (302, None, ChargebeeUnavailable, "chargebee_http_302"),
        (200, "x", None, ""),
        (404, "resource_not_found", Unprocessable, "invoice_not_found"),
        (404, "site_not_found", Postponed, "site_not_found"),
        (404, None, ChargebeeUnavailable, "chargebee_http_404"),
        (400, "param_wrong_value", Unprocessable, "param_wrong_value"),
        (400, "lock_timeout", ChargebeeUnavailable, "lock_timeout"),
        (400, None, ChargebeeUnavailable, "chargebee_http_400"),
        (400, "two words\n", ChargebeeUnavailable, "chargebee_http_400"),
        (401, "api_authentication_failed", Postponed, "chargebee_unauthorized"),
        (403, "api_authorization_failed", Postponed, "chargebee_forbidden"),
        (409, "invalid_state_for_request", InvalidState, ""),
        (400, "invalid_state_for_request", InvalidState, ""),
        (409, "resource_conflict", ChargebeeUnavailable, "resource_conflict"),
    ],
)
def test_a_status_and_a_code_have_one_meaning(
    status: int, code: str | None, error: type[Exception] | None, means: str
) -> None:
    """Only a call that Chargebee itself has rejected makes the event unprocessable."""
    if error is None:
        assert content_of(_answer(status, code)) == {"api_error_code": code}
        return
    with pytest.raises(error) as failed:
        content_of(_answer(status, code))
    assert type(failed.value) is error
    assert getattr(failed.value, "code", "") == means


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b"\xff"])
def test_an_answer_that_is_not_chargebees_is_no_success(body: bytes) -> None:
    """Such an answer may be a proxy's page."""
    with pytest.raises(ChargebeeUnavailable):
        content_of(ApiAnswer(200, {}, body))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("120", 120.0),
        ("121", 120.0),
        ("9" * 400, 120.0),
        ("9" * 9999, 120.0),
        ("soon", None),
        ("-1", None),
        ("", None),
        ("\u0663", None),
        ("1e9", None),
    ],
)
def test_retry_after_is_kept(value: str, seconds: float | None) -> None:
    """Retry-After is a whole number of seconds, and counts as at most 120. Other values are ignored."""
    with pytest.raises(ChargebeeUnavailable) as failed:
        content_of(_answer(429, "api_request_limit_exceeded", **{"Retry-After": value}))
    assert failed.value.retry_after == seconds


def test_an_invoice_without_its_fields_is_unreadable() -> None:
    """The worker does not guess what has been charged."""
    for content in ({}, {"invoice": {"id": "x"}}, {"invoice": {"id": "x", "status": "pending", "line_items": [{}]}}):
        with pytest.raises(ChargebeeUnavailable):
            invoice_of(content)
