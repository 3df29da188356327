"""An event loop of virtual time, without a socket, a thread or a sleep. The world decides when its time passes."""

import asyncio
import heapq
from asyncio import events
from collections.abc import Callable
from typing import Any

# Two times that differ by less than this number of seconds are equal.
RESOLUTION = 1e-6


def described(context: dict[str, Any]) -> str:
    """Returns what an event loop reports, without the path of the callback: tables of the simulation are committed."""
    return repr(context["exception"]) if "exception" in context else str(context["message"])


class VirtualLoop(asyncio.BaseEventLoop):
    """The event loop of one process. `now` returns the virtual time in seconds.

    Production code runs on this loop unchanged: tasks, time-outs, locks and sleeps are asyncio's own. `settle` runs the
    callbacks.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now
        self._ready: Any  # the callbacks that asyncio will run next
        self._scheduled: Any  # asyncio's heap of timers

    def time(self) -> float:
        return self._now()

    def settle(self) -> None:
        """Runs all callbacks that are ready, and all timers that are due, until no callback is ready."""
        events._set_running_loop(self)
        try:
            while True:
                self._fire_timers()
                if not self._ready:
                    return
                for _ in range(len(self._ready)):
                    handle = self._ready.popleft()
                    if not handle.cancelled():
                        handle._run()
        finally:
            events._set_running_loop(None)

    @property
    def within_iteration(self) -> bool:
        """True if a callback is ready."""
        return bool(self._ready)

    def next_timer(self, ignored: asyncio.TimerHandle | None = None) -> float | None:
        """Returns the time of the next timer that is not cancelled, or None. `ignored` does not count."""
        self._drop_cancelled()
        if ignored is None:
            return self._scheduled[0].when() if self._scheduled else None
        return min((one.when() for one in self._scheduled if one is not ignored and not one.cancelled()), default=None)

    def _fire_timers(self) -> None:
        self._drop_cancelled()
        while self._scheduled and self._scheduled[0].when() <= self._now() + RESOLUTION:
            self._ready.append(heapq.heappop(self._scheduled))
            self._drop_cancelled()

    def _drop_cancelled(self) -> None:
        while self._scheduled and self._scheduled[0].cancelled():
            heapq.heappop(self._scheduled)

    def end(self) -> None:
        """Cancels all tasks until none is left, and closes the loop. Time no longer passes."""
        while tasks := asyncio.all_tasks(self):
            for task in tasks:
                task.cancel()
            self.settle()
        self.close()
