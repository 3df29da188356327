"""The thread that the doctor watches, and how it is scheduled."""

import sys
import threading
from types import FrameType
from typing import NamedTuple

from asgi_doctor.garbage import GarbageTime
from asgi_doctor.greenlets import frames_of_thread
from asgi_doctor.scheduling import Interval, ThreadTimes, take_sample

# If the sampler waits for the interpreter lock and gets a core more often than this per switch interval, the lock was
# released meanwhile. Measured: 1 to 2 times if C code keeps the lock, and 12 to 20 times if an event loop iterates.
_RELEASED = 5


class Passed(NamedTuple):
    """Measurements of the time between two samples. `at` is the time of the second sample by `time.monotonic`.

    `late`: seconds by which the sampler woke up too late although it had a core, because it waited for the interpreter
    lock. `collecting`: seconds of garbage collections in the watched thread.
    """

    at: float
    interval: Interval
    late: float
    collecting: float

    @property
    def computing(self) -> float:
        return self.interval.cpu

    @property
    def seconds(self) -> float:
        return self.interval.seconds

    @property
    def without_core(self) -> float:
        return self.interval.without_core

    @property
    def with_core(self) -> float:
        return max(self.seconds - self.without_core, self.computing)

    def before(self, moment: float) -> tuple[float, float, float]:
        """Returns at most how many seconds before `moment` the thread had a core, computed, and collected garbage."""
        most = min(max(moment - (self.at - self.seconds), 0.0), self.with_core)
        return most, min(self.computing, most), min(self.collecting, most)

    @property
    def kept_lock(self) -> bool:
        """Returns whether the watched thread itself kept the interpreter lock, as C code may do."""
        return self.interval.cpu + self.interval.run_queue >= self.late / 2

    @property
    def released_lock(self) -> bool:
        """Returns whether the watched thread often released the interpreter lock and took it again at once.

        An event loop does so in each iteration. The sampler waits for the lock and wakes up at each release. Without
        releases, it wakes up once in each `sys.getswitchinterval()`.
        """
        return self.interval.sampler_turns > _RELEASED * self.late / sys.getswitchinterval()


class WatchedThread:
    """Samples the stack and the CPU time of one thread.

    The sampling thread calls `start`, then `frames` and `passed` for each sample, and `stop` at the end.
    """

    def __init__(self, thread: threading.Thread | None = None) -> None:
        watched = thread or threading.current_thread()
        # After a fork, as in gunicorn's workers, the thread object may keep the native id of the parent's thread:
        # https://github.com/python/cpython/issues/132542
        native_id = threading.get_native_id() if watched is threading.current_thread() else watched.native_id
        assert watched.ident is not None
        assert native_id is not None
        self.ident = watched.ident
        self._native_id, self._garbage = native_id, GarbageTime(watched.ident)

    def start(self) -> None:
        """Takes the first sample. Raises ProcessLookupError if the thread has ended."""
        self._times, self._own_times = ThreadTimes(self._native_id), ThreadTimes(threading.get_native_id())
        self._garbage.start()
        self.last = take_sample(self._times, self._own_times)
        self._collected = self._garbage.seconds

    def stop(self) -> None:
        self._garbage.stop()
        self._times.close()
        self._own_times.close()

    def frames(self) -> list[FrameType]:
        """Returns the thread's frames, the outermost first, or [] if the thread has ended."""
        return frames_of_thread(self.ident)

    def passed(self, wanted: float) -> Passed:
        """Returns what has happened since the last call. `wanted`: how long the sampler meant to sleep, in seconds.

        Raises ProcessLookupError if the thread has ended.
        """
        before, self.last = self.last, take_sample(self._times, self._own_times)
        interval = self.last.since(before)
        collected, self._collected = self._garbage.seconds - self._collected, self._garbage.seconds
        late = max(interval.seconds - wanted - interval.sampler_run_queue, 0.0)
        return Passed(self.last.at, interval, late, collected)

    def waits_for_core(self, passed: Passed) -> bool:
        """Returns whether the thread may be waiting for a core now. schedstat counts a wait only after its end."""
        accounted = passed.without_core + passed.computing > passed.seconds / 2
        return not accounted and self._times.runnable()
