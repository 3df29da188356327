"""The meaning of Chargebee's answers."""

import json

import pytest

from app.billing.answers import ApiAnswer, InvalidState, content_of, invoice_of
from app.clock import CLOCK, SYSTEM
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
        ("1.5", 1.5),
        ("0.25", 0.25),
        ("7.", 7.0),
        ("120.5", 120.0),
        ("soon", None),
        (".5", None),
        ("1.5.1", None),
        ("1,5", None),
        ("7 s", None),
        ("-1", None),
        ("", None),
        ("\u0663", None),
        ("1e9", None),
    ],
)
def test_retry_after_is_kept(value: str, seconds: float | None) -> None:
    """Retry-After is a number of seconds, and counts as at most 120. Values that are no number are ignored."""
    assert _retry_after(value) == seconds


NOW = 1_785_535_200  # Fri, 31 Jul 2026 22:00:00 UTC


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Fri, 31 Jul 2026 22:00:07 GMT", 7.0),
        ("Friday, 31-Jul-26 22:00:07 GMT", 7.0),
        ("Fri Jul 31 22:00:07 2026", 7.0),
        ("Sat, 01 Aug 2026 00:00:07 +0200", 7.0),
        ("Fri, 31 Jul 2026 21:59:59 GMT", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Fri, 31 Jul 2026 22:02:01 GMT", 120.0),
        ("Sun, 06 Nov 9999 08:49:37 GMT", 120.0),
        ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", None),
        ("Fri, 31 Jul 2026 22:00:07 +99999999999999999999", None),
        ("Fri, 31 Jul 2026", None),
        ("Fri, 99 Jul 2026 22:00:07 GMT", None),
    ],
)
def test_retry_after_may_be_a_date(value: str, seconds: float | None) -> None:
    """All formats of RFC 9110 are dates; a date in the past means now, and a date that does not exist is ignored."""
    token = CLOCK.set(SYSTEM._replace(unix_ns=lambda: NOW * 1_000_000_000))
    try:
        assert _retry_after(value) == seconds
    finally:
        CLOCK.reset(token)


def _retry_after(value: str) -> float | None:
    with pytest.raises(ChargebeeUnavailable) as failed:
        content_of(_answer(429, "api_request_limit_exceeded", **{"Retry-After": value}))
    return failed.value.retry_after


def test_an_invoice_without_its_fields_is_unreadable() -> None:
    """The worker does not guess what has been charged."""
    for content in ({}, {"invoice": {"id": "x"}}, {"invoice": {"id": "x", "status": "pending", "line_items": [{}]}}):
        with pytest.raises(ChargebeeUnavailable):
            invoice_of(content)


@pytest.mark.parametrize("value", [rb'"\ud800"', b"1" * 4301], ids=["lone surrogate", "long number"])
def test_an_unread_field_may_have_any_json(value: bytes) -> None:
    """An invoice that the webhook accepts must not become unreadable when Chargebee's API answers with it."""
    body = b'{"invoice": {"id": "i", "status": "pending", "cf_note": ' + value + b"}}"
    assert invoice_of(content_of(ApiAnswer(200, {}, body))).id == "i"
