"""How long a message that failed stays hidden, and how long this process waits for SQS.

Full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
"""

import math
import random
from collections.abc import Callable

BASE_SECONDS = 30.0
MOST_SECONDS = 900.0
# "The 12-hour limit starts from when Amazon SQS returns the message": extensions do not begin it again.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
VISIBILITY_SECONDS = 12 * 3600
# What is left of it when a call arrives may be less than when it was made.
MARGIN_SECONDS = 60

Uniform = Callable[[float, float], float]


def visible_in(
    received: int,
    held: float,
    retry_after: float | None = None,
    uniform: Uniform = random.uniform,
    *,
    base: float = BASE_SECONDS,
) -> int:
    """Whole seconds until a message that failed is to be seen again.

    `received`: how often it was received; `held`: seconds since it was; `base`: the bound of the first time. Where the
    other side has named a Retry-After, that counts, and not the number of receives: as long, and up to twice that so
    that not all come back at once.
    """
    if retry_after is not None and retry_after > 0:
        seconds = math.ceil(uniform(retry_after, 2 * retry_after))
    else:
        seconds = round(uniform(0.0, bound(received, base)))
    return min(seconds, longest(held))


def bound(received: int, base: float = BASE_SECONDS) -> float:
    """The most seconds for a message that was received so many times."""
    doublings = min(max(received, 1) - 1, 20)  # a float has no room for 2 ** 2000
    return min(MOST_SECONDS, base * 2.0**doublings)


def longest(held: float) -> int:
    """The longest visibility that SQS accepts for a message held for `held` seconds; 0 once it accepts none."""
    return max(int(VISIBILITY_SECONDS - MARGIN_SECONDS - held), 0)


def pause(failures: int, most: float, uniform: Uniform = random.uniform) -> float:
    """Seconds before SQS is called again, after so many failures in a row."""
    return uniform(0.0, min(most, 0.25 * 2.0 ** min(failures, 10)))
