"""The event loop's delay: how much later than scheduled it runs a timer.

Whatever becomes ready at such a moment, a request or an answer of SQS, waits as long.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

# Each wake-up of an idle process takes some 0.1 ms of CPU: 0.5 % of a core.
INTERVAL_SECONDS = 0.02
# Until the first measurement: long enough for the last steps of the process's start, which block the loop once more (a
# full garbage collection), and over before a first request can.
START_SECONDS = 0.001
WINDOW_SECONDS = 10


class LoopDelay:
    """Started and stopped on the event loop; `longest` may be called by any thread, also while the loop is blocked."""

    def __init__(self, observe: Callable[[float], None], interval: float = INTERVAL_SECONDS) -> None:
        self._observe = observe
        self._interval = interval
        self._expected: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        # The longest delay of each second: which second, and how long.
        self._seconds = [(0, 0.0)] * WINDOW_SECONDS

    def start(self) -> None:
        """Measures from START_SECONDS after now, which is the end of the process's start."""
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(START_SECONDS, self._schedule)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._expected = None

    def longest(self) -> float:
        """Seconds: the longest delay of the last WINDOW_SECONDS, the one that has not ended yet included."""
        now, expected = monotonic(), self._expected
        running = now - expected if expected is not None else 0.0
        return max(running, *(delay for second, delay in list(self._seconds) if second > now - WINDOW_SECONDS), 0.0)

    def _schedule(self) -> None:
        # monotonic, because uvloop's own time is that of the iteration's beginning.
        self._expected = monotonic() + self._interval
        self._timer = self._loop.call_later(self._interval, self._tick)

    def _tick(self) -> None:
        assert self._expected is not None
        now = monotonic()
        delay = max(now - self._expected, 0.0)  # uvloop's timers count whole milliseconds, so they may be early
        self._observe(delay)
        second, longest = self._seconds[int(now) % WINDOW_SECONDS]
        if second != int(now) or delay > longest:
            self._seconds[int(now) % WINDOW_SECONDS] = (int(now), delay)
        self._schedule()
