"""A thread that names the line of code that blocks the event loop.

    with Watchdog(0.1, on_found):  # on the loop, e.g. in the lifespan of any ASGI app
        yield

The thread samples the stack of the loop's thread five times in the given seconds. A loop that waits in its selector is
not blocked. Otherwise, the thread pings the loop (`call_soon_threadsafe`) and keeps the samples until it answers.
"""

import asyncio
import sys
import threading
import time
from contextlib import suppress
from typing import Self

from asgi_doctor.findings import BlockedLocation, Findings, OnFound
from asgi_doctor.ping import Ping
from asgi_doctor.scheduling import SchedStat, SchedulingSample, ThreadTimes, take_sample
from asgi_doctor.stacks import Location, Stack, depth_of_loop, is_idle, stack_of

SAMPLES = 5  # in the seconds after which a loop counts as blocked
PING_SECONDS = 1.0  # between two pings while the loop seems to be idle


class Watchdog:
    """Watches the event loop on which it is entered. A location must block the loop for `seconds` to be reported.

    `on_found` is called once per location, in the watchdog's thread and while the location still blocks the loop, with
    the location, the stack and the seconds so far. `blocked` counts all times. `locations` has the totals of each
    location that has stopped blocking. Other threads may read both at any time, for metrics.
    """

    def __init__(self, seconds: float, on_found: OnFound) -> None:
        self._findings = Findings(seconds, on_found)
        self._interval = seconds / SAMPLES
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    @property
    def blocked(self) -> int:
        return self._findings.blocked

    @property
    def locations(self) -> dict[Location, BlockedLocation]:
        return self._findings.locations

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._depth = depth_of_loop()
        self._loop_times = ThreadTimes(threading.get_native_id())
        self._last_free = self._last_ping = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        self._own_times = ThreadTimes(threading.get_native_id())
        try:
            with suppress(ProcessLookupError):  # the loop's thread has ended
                self._sample_until_ended()
        finally:
            self._loop_times.close()
            self._own_times.close()

    def _sample_until_ended(self) -> None:
        self._ping: Ping | None = None
        self._last_sample = take_sample(self._loop_times, self._own_times)
        while not self._ended.wait(self._interval):
            self._sample()
        if self._ping is not None:
            self._end(self._ping, self._ping.answered or time.monotonic(), self._loop_times.read())

    def _sample(self) -> None:
        ping = self._ping
        answered = ping.answered if ping is not None else None
        # The stack comes first: while this thread reads a file, the loop's thread continues.
        stack = self._stack()
        before, self._last_sample = self._last_sample, take_sample(self._loop_times, self._own_times)
        now, passed = self._last_sample, self._last_sample.since(before)
        if ping is not None:
            ping.add_wait(passed.without_core)
            if answered is not None:
                self._end(ping, answered, now.watched)
                self._last_free, ping = max(self._last_free, answered), None
        if ping is None:
            ping = self._next_ping(before, now, idle=stack is None)
        if ping is not None and stack is not None:
            ping.samples.append(stack)
            # The loop's thread may be waiting for a core now; schedstat counts that wait only when it has ended.
            if passed.without_core + passed.cpu > passed.seconds / 2 or not self._loop_times.runnable():
                self._findings.count(ping, now.at)

    def _next_ping(self, before: SchedulingSample, now: SchedulingSample, *, idle: bool) -> Ping | None:
        """Pings the loop, unless it seems to be idle and the last ping was less than PING_SECONDS ago."""
        if idle and now.at - self._last_ping < PING_SECONDS:
            self._last_free = now.at
            return None
        passed = now.since(before)
        late = passed.seconds - self._interval - passed.sampler_run_queue
        if late < self._interval or passed.cpu + passed.run_queue < late / 2:
            return self._send_ping(now.at, now.watched)
        # The loop's thread kept the interpreter lock from this one, as C code may do, for example a regular expression.
        ping = self._send_ping(before.at + self._interval, before.watched)
        ping.add_wait(passed.without_core)
        return ping

    def _send_ping(self, now: float, spent: SchedStat) -> Ping:
        self._last_ping = now
        # The loop may have been blocked since it was last seen free; on average, it was for half of that time.
        ping = self._ping = Ping(now - min(now - self._last_free, self._interval) / 2, spent.cpu)
        try:
            self._loop.call_soon_threadsafe(ping.answer)
        except RuntimeError:  # the loop is closed
            self._ended.set()
        return ping

    def _stack(self) -> Stack | None:
        """Returns the stack of the loop's thread, or None if the loop seems to wait in its selector."""
        frame = sys._current_frames().get(self._loop_thread)  # documented for debuggers, and the only way
        return None if frame is None or is_idle(frame, self._depth) else stack_of(frame, self._depth)

    def _end(self, ping: Ping, now: float, spent: SchedStat) -> None:
        self._ping = None
        self._findings.end(ping, now, spent.cpu)
