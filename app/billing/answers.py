"""Reads the answers of Chargebee's API, and translates failed answers into exceptions, without I/O.

Error codes: https://apidocs.chargebee.com/docs/api/error-handling
"""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

import orjson
from loguru import logger
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.clock import now_ms
from app.errors import BillingFailed, ChargebeeUnavailable, Postponed, Unprocessable
from app.unreadable import readable

PENDING, VOIDED = "pending", "voided"
INVOICE_NOT_FOUND = "invoice_not_found"
# A longer Retry-After counts as this many seconds. Chargebee counts calls per minute, so a longer Retry-After must be
# an error of Chargebee or of a proxy.
LONGEST_REST = 120.0
# The service reads only this many characters of a Retry-After. With more characters, `float` could return infinity.
MAX_DIGITS = 20
# If Chargebee answers with one of these error codes, the same call may succeed later, even if the status is 400.
_TRANSIENT = frozenset({"lock_timeout", "internal_temporary_error", "internal_error", "request_blocked"})
_REJECTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})


class InvalidState(Exception):
    """Chargebee has rejected a call because of the invoice's state (error code `invalid_state_for_request`).

    Most likely, the invoice is no longer pending. Chargebee also uses this error code while it still executes an
    earlier call with the same idempotency key.
    """


class FoundLine(BaseModel):
    """A line item in an answer. Check `subscription_id` and `customer_id` with `app.events.valid_id` before use."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    date_from: int
    date_to: int
    description: str = ""
    entity_type: str
    unit_amount: int
    subscription_id: Any = None
    customer_id: Any = None


class FoundInvoice(BaseModel):
    """The fields of an invoice that the billing work reads from Chargebee's answer.

    `line_items`: the lines of one page of the answer, or of all pages if the invoice comes from `Chargebee.retrieve`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    id: str
    customer_id: str = ""
    status: str
    line_items: Annotated[list[FoundLine], Field(default_factory=list)]
    line_items_next_offset: str | None = None

    @property
    def is_pending(self) -> bool:
        return self.status == PENDING


class FoundSubscription(BaseModel):
    """The fields of a subscription that say when it began and ended, in unix seconds, or None if absent."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    id: str
    created_at: int | None = None
    start_date: int | None = None
    started_at: int | None = None
    cancelled_at: int | None = None

    def was_alive(self, start: int, end: int) -> bool:
        """Returns whether the subscription was alive at some time between `start` and `end`."""
        begins = (self.started_at, self.start_date, self.created_at, 0)
        first = next(time for time in begins if time is not None)
        return first <= end and (self.cancelled_at is None or self.cancelled_at >= start)


class ApiAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def content_of(answer: ApiAnswer) -> Mapping[str, Any]:
    """Returns the JSON object in the answer. Raises InvalidState or BillingFailed if the call failed."""
    content = _object(answer.body)
    if answer.status == HTTPStatus.OK and content is not None:
        return content
    raise _failure(answer, content or {})


def invoice_of(content: Mapping[str, Any]) -> FoundInvoice:
    """Returns the invoice in an answer or a list entry. Raises ChargebeeUnavailable if it is missing or invalid."""
    try:
        return FoundInvoice.model_validate(content.get("invoice"))
    except ValidationError:
        raise unreadable() from None


def subscription_of(content: Mapping[str, Any]) -> FoundSubscription:
    """Returns the subscription in a list entry. Raises ChargebeeUnavailable if it is missing or invalid."""
    try:
        return FoundSubscription.model_validate(content.get("subscription"))
    except ValidationError:
        raise unreadable() from None


def unreadable() -> ChargebeeUnavailable:
    return ChargebeeUnavailable("Chargebee's answer has unexpected content", "chargebee_unreadable")


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            # orjson rejects some valid JSON, for example a lone surrogate in a string. Such a string may be in a field
            # that is not needed here.
            content = orjson.loads(readable(body))
        except orjson.JSONDecodeError:
            return None
    return content if isinstance(content, dict) else None


def _failure(answer: ApiAnswer, content: Mapping[str, Any]) -> BillingFailed | InvalidState:
    code = content.get("api_error_code")
    status = answer.status
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        # The API key is wrong, or the site is blocked. The event is not at fault, so the worker retries it until a
        # person has corrected the cause.
        return Postponed("Chargebee refuses access", f"chargebee_{HTTPStatus(status).name.lower()}")
    if not isinstance(code, str) or not code.isidentifier():
        detail = f"Chargebee has answered with status {status}"
        return ChargebeeUnavailable(detail, f"chargebee_http_{status}", _wait(answer))
    if code == "invalid_state_for_request":
        return InvalidState()
    if status not in _REJECTED or code in _TRANSIENT:
        return ChargebeeUnavailable(f"Chargebee has answered with status {status}: {code}", code, _wait(answer))
    return _rejection(status, code)


def _rejection(status: int, code: str) -> BillingFailed:
    if status != HTTPStatus.NOT_FOUND:
        return Unprocessable(f"Chargebee rejected the call, and would reject a retry as well: {code}", code)
    if code == "resource_not_found":
        return Unprocessable("Chargebee has no such invoice", INVOICE_NOT_FOUND)
    # Error codes such as `site_not_found` mean that the site's URL is wrong. The event itself may be fine.
    return Postponed(f"Chargebee has answered with status {status}: {code}", code)


def _wait(answer: ApiAnswer) -> float | None:
    """Returns the seconds that the Retry-After header demands, at most LONGEST_REST, or None if it is not valid.

    The header is a number of seconds, or a date: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3. This function
    also accepts a number with a fraction, although RFC 9110 allows only whole numbers.
    """
    value = answer.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", value):
        seconds = float(value[:MAX_DIGITS])
    else:
        try:
            moment = parsedate_to_datetime(value)
            # A date without an offset, as the C function `asctime` writes it, is in UTC.
            seconds = max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now_ms() / 1000, 0.0)
        except (ValueError, OverflowError):
            return None
    if seconds > LONGEST_REST:
        logger.warning("Chargebee's Retry-After of {} s is cut to {:g} s", f"{seconds:.15g}", LONGEST_REST)
    return min(seconds, LONGEST_REST)
