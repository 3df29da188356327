"""Computes how long a failed message stays hidden, and how long the worker waits before it repeats a failed call.

The delays have full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
"""

import math

from app.clock import uniform

BASE_SECONDS = 30.0
MAX_SECONDS = 900.0
# The longest time that SQS hides a message. An extension does not restart this time: "The 12-hour limit starts from
# when Amazon SQS returns the message".
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
VISIBILITY_SECONDS = 12 * 3600
# Seconds subtracted from VISIBILITY_SECONDS, because time passes until a call reaches SQS.
MARGIN_SECONDS = 60


def retry_delay(receive_count: int, age: float, retry_after: float | None = None, *, base: float = BASE_SECONDS) -> int:
    """Returns the whole seconds until a failed message becomes visible again.

    `age`: seconds since the last receive; `base`: the longest delay after the first receive, in seconds.
    `retry_after`: seconds until a retry may succeed, or None. If it is above 0, the delay is between `retry_after`
    and twice `retry_after`, so that not all messages become visible at the same time. The delay never exceeds the
    longest visibility timeout that SQS accepts.
    """
    if retry_after is not None and retry_after > 0:
        seconds = math.ceil(uniform(retry_after, 2 * retry_after))
    else:
        seconds = round(uniform(0.0, longest_delay(receive_count, base)))
    return min(seconds, longest_visibility(age))


def longest_delay(receive_count: int, base: float = BASE_SECONDS) -> float:
    """Returns the longest delay, in seconds, of a message that was received `receive_count` times."""
    doublings = min(max(receive_count, 1) - 1, 20)  # at most 20, because 2.0 ** 2000 would overflow
    return min(MAX_SECONDS, base * 2.0**doublings)


def longest_visibility(age: float) -> int:
    """Returns the longest visibility timeout that SQS accepts for a message received `age` seconds ago."""
    return max(int(VISIBILITY_SECONDS - MARGIN_SECONDS - age), 0)


def pause(failures: int, longest: float) -> float:
    """Returns a random time to wait, at most `longest` seconds, before the next call after `failures` failed calls."""
    return uniform(0.0, min(longest, 0.25 * 2.0 ** min(failures, 10)))
