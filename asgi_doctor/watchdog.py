"""A thread that names the line of code that blocks the event loop.

    with Watchdog(0.1, on_found):  # on the loop, e.g. in the lifespan of any ASGI app
        yield

0.1 is the limit of a block, in seconds. In this time, the watchdog's thread samples the stack of the loop's
thread five times. If the loop does not wait in its selector, the watchdog schedules a callback on the loop, the ping
(`call_soon_threadsafe`), and samples more often during the first half of the limit. The loop answers the ping by
running it. Before this, the loop may run several other callbacks; each of them is a separate block.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Hashable
from contextlib import suppress
from typing import Self

from asgi_doctor import greenlets
from asgi_doctor.block import SAMPLES, Block, Ping, Sample, begun
from asgi_doctor.finding import Finding
from asgi_doctor.findings import Findings, OnFinding, OnFound
from asgi_doctor.garbage import without_collections
from asgi_doctor.pools import Pools
from asgi_doctor.request import ENDED, NO_REQUEST, Request, callback_of
from asgi_doctor.stacks import depth_of_loop, is_idle, stack_of
from asgi_doctor.watched import Passed, WatchedThread

FINE = 4  # in the first half of the limit, the watchdog samples a block this many times as often
LEAST, MOST = 0.01, 60  # the shortest and the longest limit that a user may choose, in seconds
PING_SECONDS = 1.0  # time between two pings while the loop seems to be idle


def allowed_limit(seconds: float) -> float:
    """Returns `seconds`. Raises ValueError if `seconds` is less than LEAST or more than MOST."""
    if not LEAST <= seconds <= MOST:
        raise ValueError(f"{seconds!r}: allowed is a number of seconds, from {LEAST:g} to {MOST:g}")
    return seconds


class Watchdog:
    """Watches the event loop that runs the `with` block. `seconds` is the limit of a single block.

    `on_found` is called once per line, with the location, the stack and the seconds so far. The watchdog's thread calls
    it, usually while the line still blocks the loop. `on_finding` is called when a line's first long block ends or
    lasts STUCK_LIMITS (findings.py) times the limit, when the sum of short blocks is too large, and for starvation.
    `blocked` counts all blocks above the limit. Any thread may read `blocked` and `findings` at any time, for metrics.
    `collected` replaces the two callbacks, and several watchdogs may share it.
    """

    def __init__(
        self,
        seconds: float,
        on_found: OnFound | None = None,
        on_finding: OnFinding | None = None,
        collected: Findings | None = None,
    ) -> None:
        self.collected = collected or Findings(seconds, on_found, on_finding)
        self.pools = Pools(seconds, self.collected.add)
        self._interval = seconds / SAMPLES
        self._limit = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._ping: Ping | None = None
        self._block: Block | None = None

    @property
    def blocked(self) -> int:
        return self.collected.blocked

    @property
    def findings(self) -> list[Finding]:
        return self.collected.all()

    def __enter__(self) -> Self:
        return self.start(asyncio.get_running_loop(), threading.current_thread(), depth_of_loop())

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread, depth: int) -> Self:
        """Watches `loop`, which runs in `thread`. `depth`: how many of the outermost frames are the loop's own."""
        self.loop, self._depth = loop, depth
        self._watched = WatchedThread(thread)
        self._last_free = self._last_ping = time.monotonic()
        if thread is threading.current_thread():
            greenlets.observe()
        self._thread.start()
        return self

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._watched.ident == threading.get_ident():
            greenlets.forget()
        else:
            with suppress(RuntimeError):  # the loop is closed
                self.loop.call_soon_threadsafe(greenlets.forget)

    def _watch(self) -> None:
        with suppress(ProcessLookupError):  # the loop's thread has ended
            self._watched.start()
            wanted = self._interval
            while not self._ended.wait(wanted):
                self._sample(wanted)
                wanted = self._next_interval()
        self._end((self._ping and self._ping.answered) or time.monotonic())
        self._watched.stop()

    def _next_interval(self) -> float:
        block = self._block
        fine = block is not None and time.monotonic() - block.began < self._limit / 2
        return self._interval / FINE if fine else self._interval

    def _sample(self, wanted: float) -> None:
        if not self.loop.is_running():
            self._rest(wanted)
            return
        answered = self._ping.answered if self._ping is not None else None
        # Read the stack before schedstat, because the loop's thread may continue while this thread reads a file.
        lasting = self._block if answered is None else None
        known = (lasting.callback, lasting.request) if lasting is not None else (None, NO_REQUEST)
        with without_collections():
            frames = self._watched.frames()
            stack = () if not frames or is_idle(frames, self._depth) else stack_of(frames, self._depth)
            key, request = callback_of(self.loop, frames, self._depth, known) if stack else (None, NO_REQUEST)
            del frames
        if key == ENDED:
            stack = ()  # the callback with this stack has ended
        passed = self._watched.passed(wanted)
        self._account(passed, answered)
        if self._ping is None:
            self._start(passed, wanted, key, request, idle=not stack)
        elif stack and (self._block is None or self._block.callback != key):
            # The loop now runs another callback. The loop answers the ping only after this callback.
            earliest = self._block.began if self._block is not None else self._last_free
            block = begun(key, request, passed, wanted, (earliest, passed.at - passed.seconds / 2))
            self._end(block.began)
            self._block = block
        if self._block is not None and stack:
            seconds = passed.with_core if self._block.taken else min(passed.with_core, passed.at - self._block.began)
            self._block.add(Sample(stack, seconds, passed.computing, passed.collecting))
            if not self._watched.waits_for_core(passed):
                self.collected.count(self._block, passed.at)
        others = time.process_time() - self._watched.last.watched.cpu
        self.pools.look(passed.at, others, self.loop, free=self._ping is None or not stack)

    def _rest(self, wanted: float) -> None:
        """Ends the block, because the loop has stopped. If the loop is closed, ends the watchdog's thread, too."""
        passed = self._watched.passed(wanted)
        self._account(passed, self._ping.answered if self._ping is not None else None)
        self._end(passed.at - passed.seconds / 2)
        self._ping, self._last_free = None, passed.at
        if self.loop.is_closed():
            self._ended.set()

    def _account(self, passed: Passed, answered: float | None) -> None:
        """Subtracts time without a core or lock from the block. Ends the block at `answered`, unless it is None."""
        if self._block is not None:
            self._block.without_core += passed.without_core
            if passed.late > self._interval and not passed.kept_lock:
                self._block.without_core += max(passed.late - passed.without_core, 0)  # another thread kept the lock
        if answered is not None:
            if self._block is not None:
                self._block.prolong(*passed.before(answered))
            self._end(answered)
            self._ping = None
            self._last_free = max(self._last_free, answered)

    def _start(self, passed: Passed, wanted: float, key: Hashable, request: Request, *, idle: bool) -> None:
        """Pings the loop, and begins a block unless the loop seems idle. Pings an idle loop only every PING_SECONDS."""
        if idle and passed.at - self._last_ping < PING_SECONDS:
            self._last_free = passed.at
            return
        # The block began at an unknown moment after the loop was last seen free, on average in the middle of this time.
        half = min(passed.at - self._last_free, self._interval) / 2
        block = begun(key, request, passed, wanted, (self._last_free, passed.at - half))
        self._block = None if idle else block
        self._last_ping = passed.at
        self._ping = Ping()
        try:
            self.loop.call_soon_threadsafe(self._answer, self._ping)
        except RuntimeError:  # the loop is closed
            self._ended.set()

    def _answer(self, ping: Ping) -> None:
        """Answers a ping. Runs on the event loop. The last call may be after `stop`."""
        ping.answered = time.monotonic()
        # If the loop has stopped and runs again, another function may run it. So count the loop's own frames again.
        # In Python 3.14, a callback that another thread has scheduled has one more frame, which does not count.
        names = [frame.f_code.co_name for frame in greenlets.frames_of(sys._getframe().f_back)]
        self._depth = len(names) - (names[-2:] == ["_run", "_run"])
        if not self._ended.is_set():
            greenlets.observe()  # the application may import `greenlet` late

    def _end(self, now: float) -> None:
        if self._block is not None:
            self.collected.end(self._block, now)
        self._block = None
