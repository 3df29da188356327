"""Tests the calls per minute and repeated requests, with a clock that the test sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.chargebee.api_errors import ApiError
from local.chargebee.api_limits import WINDOW, RateLimit
from tests.local.chargebee.in_process import StandIn, code, invoice


def test_calls_a_minute() -> None:
    """A call over the limit gets 429 with the seconds until the first leaves the window; then it succeeds."""
    stand_in = StandIn(rate=3)
    stand_in.register(invoice())
    for _ in range(3):
        assert stand_in.retrieve().status_code == 200
        stand_in.time += 10
    refused = stand_in.retrieve()
    assert code(refused) == (429, "api_request_limit_exceeded")
    assert (refused.json()["type"], refused.headers["Retry-After"]) == ("operation_failed", "30")
    stand_in.time += 29.9
    assert stand_in.retrieve().status_code == 429
    stand_in.time += 0.1
    assert stand_in.retrieve().status_code == 200
    assert stand_in.audit()["most_calls_in_60s"] == 5
    assert stand_in.audit()["most_taken_in_60s"] == 3


@given(st.integers(1, 5), st.lists(st.integers(0, 320), max_size=60))
def test_the_limit_holds_in_any_window(rate: int, eighths: list[int]) -> None:
    """No 60 s have more calls than the limit; a client that waits for Retry-After is not rejected again."""
    limit, now, taken = RateLimit(rate), 0.0, []
    for pause in eighths:
        now += pause / 8
        try:
            limit.take(now)
        except ApiError as error:
            now += int(error.headers["Retry-After"])
            limit.take(now)
        taken.append(now)
    for moment in taken:
        assert sum(moment - WINDOW < other <= moment for other in taken) <= rate


def test_a_repeated_request() -> None:
    """Until it expires, a key repeats the answer and does nothing; afterwards, the operation runs again."""
    stand_in = StandIn()
    stand_in.register(invoice())
    first = stand_in.add(key="k1")
    assert "chargebee-idempotency-replayed" not in first.headers
    stand_in.time += 1799
    again = stand_in.add(key="k1")
    assert (again.content, again.headers["chargebee-idempotency-replayed"]) == (first.content, "true")
    assert stand_in.audit()["replayed"] == 1
    stand_in.time += 1
    assert "chargebee-idempotency-replayed" not in stand_in.add(key="k1").headers
    assert [charge["idempotency_key"] for charge in stand_in.audit()["invoices"][0]["charges"]] == ["k1", "k1"]


@pytest.mark.parametrize("changed", [{"amount": 101}, {"number": 2}])
def test_a_key_for_something_else(changed: dict[str, int]) -> None:
    """A key that is used with other parameters or another path is rejected."""
    stand_in = StandIn()
    stand_in.register(invoice(1), invoice(2))
    stand_in.add(key="k1")
    assert code(stand_in.add(key="k1", **changed)) == (400, "invalid_request")
    assert sum(len(one["charges"]) for one in stand_in.audit()["invoices"]) == 1


def test_an_error_is_not_repeated() -> None:
    """A key works again after the reason for an error is gone."""
    stand_in = StandIn()
    stand_in.register(invoice(1, line_items=[]))
    assert stand_in.close(key="k1").status_code == 400
    stand_in.add()
    assert stand_in.close(key="k1").status_code == 200
    assert stand_in.close(key="k1").headers["chargebee-idempotency-replayed"] == "true"
