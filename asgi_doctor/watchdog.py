"""A thread that names the line by which the event loop is blocked.

    with Watchdog(0.1, found):  # on the loop, e.g. in the lifespan of any ASGI app
        yield

Five times in the given seconds it looks at the stack of the loop's thread. A loop that waits in its selector is not
blocked. Any other is asked for a sign (`call_soon_threadsafe`); until it answers, its stack is sampled.
"""

import asyncio
import sys
import threading
import time
from contextlib import suppress
from typing import Self

from asgi_doctor.findings import Findings, Found
from asgi_doctor.scheduling import Look, Spent, ThreadTimes, look
from asgi_doctor.stacks import Place, Stack, depth_of_loop, is_idle, stack_of
from asgi_doctor.turn import Blocked, Turn

LOOKS = 5
ASK_SECONDS = 1.0


class Watchdog:
    """Of the event loop that it is entered on. `seconds`: how long a place must hold the loop to be named.

    `found` is called once for each place, in the watchdog's thread and while the place still holds the loop, with
    the place, its stack and the seconds so far. `blocked` counts all times, `places` those of each place that has let
    go of the loop; a callback of metrics may read both at any time.
    """

    def __init__(self, seconds: float, found: Found) -> None:
        self._findings = Findings(seconds, found)
        self._interval = seconds / LOOKS
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    @property
    def blocked(self) -> int:
        return self._findings.blocked

    @property
    def places(self) -> dict[Place, Blocked]:
        return self._findings.places

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._depth = depth_of_loop()
        self._loop_times = ThreadTimes(threading.get_native_id())
        self._free = self._asked = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        self._own_times = ThreadTimes(threading.get_native_id())
        try:
            with suppress(ProcessLookupError):  # the loop's thread has ended
                self._look_on()
        finally:
            self._loop_times.close()
            self._own_times.close()

    def _look_on(self) -> None:
        self._turn: Turn | None = None
        self._last = look(self._loop_times, self._own_times)
        while not self._ended.wait(self._interval):
            self._look()
        if self._turn is not None:
            self._end(self._turn, self._turn.answered or time.monotonic(), self._loop_times.read())

    def _look(self) -> None:
        turn = self._turn
        answered = turn.answered if turn is not None else None
        # Before anything else: while this thread reads a file, the loop's thread runs on.
        stack = self._stack()
        before, self._last = self._last, look(self._loop_times, self._own_times)
        now, passed = self._last, self._last.since(before)
        if turn is not None:
            turn.wait(passed.waited)
            if answered is not None:
                self._end(turn, answered, now.spent)
                self._free, turn = max(self._free, answered), None
        if turn is None:
            turn = self._next(before, now, idle=stack is None)
        if turn is not None and stack is not None:
            turn.samples.append(stack)
            # Its thread may be waiting for a core now, which is counted only afterwards.
            if passed.waited + passed.computing > passed.seconds / 2 or not self._loop_times.runnable():
                self._findings.count(turn, now.at)

    def _next(self, before: Look, now: Look, *, idle: bool) -> Turn | None:
        """Asks for the end of the next turn, unless the loop seems to be idle."""
        if idle and now.at - self._asked < ASK_SECONDS:
            self._free = now.at
            return None
        passed = now.since(before)
        late = passed.seconds - self._interval - passed.own_waiting
        if late < self._interval or passed.computing + passed.waiting < late / 2:
            return self._ask(now.at, now.spent)
        # The loop's thread did not let this one run, as C code does that keeps the GIL: a regular expression.
        turn = self._ask(before.at + self._interval, before.spent)
        turn.wait(passed.waited)
        return turn

    def _ask(self, now: float, spent: Spent) -> Turn:
        # It may be held for as long as it has not been seen free: for half of that, on average.
        self._asked = now
        turn = self._turn = Turn(now - min(now - self._free, self._interval) / 2, spent.computing)
        try:
            self._loop.call_soon_threadsafe(turn.answer)
        except RuntimeError:  # the loop is closed
            self._ended.set()
        return turn

    def _stack(self) -> Stack | None:
        """None where the loop waits in its selector, as far as one can see."""
        frame = sys._current_frames().get(self._loop_thread)  # documented for debuggers, and the only way
        return None if frame is None or is_idle(frame, self._depth) else stack_of(frame, self._depth)

    def _end(self, turn: Turn, now: float, spent: Spent) -> None:
        self._turn = None
        self._findings.end(turn, now, spent.computing)
