"""Measures the CPU time of garbage collections in one thread, and prevents collections while frames are read."""

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class GarbageTime:
    """Sums the CPU seconds of the collections that run in `thread` (an identifier), from `start` to `stop`.

    A collection keeps the interpreter lock and runs no Python code except finalizers and callbacks of weak references,
    so samples of stacks hardly ever show it.
    """

    def __init__(self, thread: int) -> None:
        self._process, self._thread, self._clock = os.getpid(), thread, _clock_of(thread)
        self._ended, self._began = 0.0, 0.0

    @property
    def seconds(self) -> float:
        """The CPU seconds so far, including a collection that still runs. Any thread may read this."""
        began = self._began
        return self._ended + (self._clock() - began if began else 0.0)

    def start(self) -> None:
        gc.callbacks.append(self._collecting)

    def stop(self) -> None:
        if self._collecting in gc.callbacks:
            gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, _: dict[str, Any]) -> None:
        # A forked process inherits this callback, but cannot read the clock of its parent's thread.
        if threading.get_ident() == self._thread and os.getpid() == self._process:
            if phase == "start":
                self._began = self._clock()
            else:
                self._ended += self._clock() - self._began
                self._began = 0.0


@contextmanager
def without_collections() -> Iterator[None]:
    """Prevents garbage collections in the `with` block, which can then safely read frames of other threads and tasks.

    Python 3.11 may collect garbage while it makes a frame object. A finalizer that runs in this collection may let the
    frame's thread continue. If the frame then ends, the new object is invalid, and the process crashes.
    Python 3.12 collects only between instructions, which is safe: https://github.com/python/cpython/issues/97922
    """
    collects = sys.version_info < (3, 12) and gc.isenabled()
    if collects:
        gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _clock_of(thread: int) -> Callable[[], float]:
    """Returns the thread's CPU clock, which any thread can read. If there is none, returns `time.perf_counter`."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.perf_counter
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)
