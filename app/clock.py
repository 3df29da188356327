"""Provides time and random numbers to the worker and its billing work. tests/simulation replaces the `Clock`.

A task inherits the clock of the context that started the task. Read `CLOCK` at each use, and do not store its value:
every simulated process has its own clock.
"""

import random
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple


class Clock(NamedTuple):
    """The functions that read the clocks and return random values.

    `unix_ns` returns the system time in unix ns. `monotonic` returns the time, in seconds, of a clock that never jumps.
    `uniform` returns a random number between its two arguments. `token(n)` returns n random bytes in hexadecimal.
    """

    unix_ns: Callable[[], int]
    monotonic: Callable[[], float]
    uniform: Callable[[float, float], float]
    token: Callable[[int], str]


SYSTEM = Clock(time.time_ns, time.monotonic, random.uniform, secrets.token_hex)  # noqa: S311  # for pauses, not secrets
CLOCK: ContextVar[Clock] = ContextVar("clock", default=SYSTEM)


def now_ms() -> int:
    """Returns the time in unix ms, the unit of `lease_until`, `conflict_at` and `next_at` in the table's items."""
    return CLOCK.get().unix_ns() // 1_000_000


def now_seconds() -> int:
    """Returns the time in whole unix seconds, the unit of times such as `reserved_at` in the table's items."""
    return CLOCK.get().unix_ns() // 1_000_000_000


def monotonic() -> float:
    """Returns the time of the monotonic clock, in seconds."""
    return CLOCK.get().monotonic()


def uniform(low: float, high: float) -> float:
    """Returns a random number between `low` and `high`."""
    return CLOCK.get().uniform(low, high)
