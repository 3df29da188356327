"""The delay of the event loop: how much later than scheduled the loop runs a timer.

A request or a response that arrives while the loop is delayed waits for no longer than the delay.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

# Each timer costs an idle process about 0.1 ms of CPU time. One timer every 20 ms uses 0.5 % of a core.
INTERVAL_SECONDS = 0.02
# Time from `start` until the first timer is set. The start of the process may end with a full garbage collection,
# which blocks the loop. After this time, the collection has ended, but no request can have been answered yet.
START_SECONDS = 0.001
WINDOW_SECONDS = 10


class LoopDelay:
    """Measures the event loop's delay from `start` to `stop`. Call both methods on the loop.

    `observe` receives each delay in seconds. Any thread may call `longest`, even while the loop is blocked.
    """

    def __init__(self, observe: Callable[[float], None], interval: float = INTERVAL_SECONDS) -> None:
        self._observe = observe
        self._interval = interval
        self._expected: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        # For each of the last WINDOW_SECONDS seconds: the clock's time in whole seconds, and the longest delay in it.
        self._seconds = [(0, 0.0)] * WINDOW_SECONDS

    def start(self) -> None:
        """Begins to measure after START_SECONDS. Call this method at the end of the process's start."""
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(START_SECONDS, self._schedule)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._expected = None

    def longest(self) -> float:
        """Returns the longest delay of the last WINDOW_SECONDS, in seconds, including a delay that has not ended."""
        now, expected = monotonic(), self._expected
        running = now - expected if expected is not None else 0.0
        return max(running, *(delay for second, delay in list(self._seconds) if second > now - WINDOW_SECONDS), 0.0)

    def _schedule(self) -> None:
        # `loop.time()` would be too early, because uvloop returns the time at which the iteration began.
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
