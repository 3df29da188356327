"""The time that garbage collections take from one thread."""

import gc
import threading
import time
from typing import Any


class GarbageTime:
    """Sums the seconds of the collections that the thread with this identifier ran. Enter it to measure.

    A collection keeps the interpreter lock and runs no Python code, so no sample shows it.
    """

    def __init__(self, thread: int) -> None:
        self._thread, self._ended, self._began = thread, 0.0, 0.0

    @property
    def seconds(self) -> float:
        """Returns the seconds so far. Another thread may ask when a collection has ended, but not yet been added."""
        began = self._began
        return self._ended + (time.perf_counter() - began if began else 0.0)

    def start(self) -> None:
        gc.callbacks.append(self._collecting)

    def stop(self) -> None:
        if self._collecting in gc.callbacks:
            gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, _: dict[str, Any]) -> None:
        if threading.get_ident() == self._thread:
            if phase == "start":
                self._began = time.perf_counter()
            else:
                self._ended += time.perf_counter() - self._began
                self._began = 0.0
