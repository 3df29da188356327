"""Backoff: full jitter, Retry-After, and SQS's own bound."""

from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.clock import CLOCK, SYSTEM
from app.worker.retry import MAX_SECONDS, VISIBILITY_SECONDS, longest_delay, longest_visibility, pause, retry_delay

RECEIVES = st.integers(1, 10_000)
AGES = st.floats(0, 2 * VISIBILITY_SECONDS)


def _delay(share: float, *arguments: Any) -> int:
    """Returns the delay if each random number is at `share` of its range."""
    context = copy_context()
    context.run(CLOCK.set, SYSTEM._replace(uniform=lambda low, high: low + share * (high - low)))
    return context.run(retry_delay, *arguments)


@given(RECEIVES, st.floats(0, 1))
def test_it_is_anything_between_nothing_and_the_bound(receive_count: int, share: float) -> None:
    """The delay is uniform from 0 to min(15 min, 30 s · 2^(n-1))."""
    seconds = _delay(share, receive_count, 0)
    assert seconds == round(share * min(900, 30 * 2 ** min(receive_count - 1, 20)))


def test_the_bound_doubles_up_to_a_quarter_of_an_hour() -> None:
    assert [longest_delay(number) for number in range(1, 8)] == [30, 60, 120, 240, 480, 900, 900]
    assert longest_delay(10**9) == MAX_SECONDS


@given(RECEIVES, st.floats(0.01, 20_000), st.floats(0, 1))
def test_what_the_other_side_names_counts_more(receive_count: int, retry_after: float, share: float) -> None:
    """The delay is one to two times Retry-After, however often the message was received."""
    seconds = _delay(share, receive_count, 0, retry_after)
    assert retry_after <= seconds <= 2 * retry_after + 1


@given(RECEIVES, AGES, st.none() | st.floats(0, 10**6))
def test_sqs_accepts_it(receive_count: int, age: float, retry_after: float | None) -> None:
    """The delay and the time since the receive are together at most twelve hours."""
    seconds = retry_delay(receive_count, age, retry_after)
    assert 0 <= seconds <= longest_visibility(age)
    assert age + seconds <= VISIBILITY_SECONDS or seconds == 0


@pytest.mark.parametrize("failures", [1, 3, 1000])
def test_pauses_are_bounded(failures: int) -> None:
    assert 0 <= pause(failures, 5) <= 5
