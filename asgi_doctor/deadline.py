"""Detects that the start of an application hangs, and where: in the import, the factory, or the lifespan."""

import sys
import threading
from collections.abc import Callable

from asgi_doctor import loops
from asgi_doctor.garbage import without_collections
from asgi_doctor.greenlets import frames_of, frames_of_thread
from asgi_doctor.stacks import Location, own_line, stack_of
from asgi_doctor.threads import stacks_of_tasks

# The start may take this long even if `--for` is shorter, because a healthy start may import large libraries.
LEAST_SECONDS = 30.0
_LIFESPAN = "/uvicorn/lifespan/on.py"


class Deadline:
    """Calls `missed` with a text about what the start waits for, unless `met` is called within `seconds`.

    Another thread calls `missed`. Create the object in the thread that starts the application.
    """

    def __init__(self, seconds: float, missed: Callable[[str], None]) -> None:
        loops.observe()
        self._part = "the import"
        self._seconds, self._thread, self._depth = seconds, threading.get_ident(), len(frames_of(sys._getframe(1)))
        self._met = threading.Event()
        threading.Thread(target=self._wait, args=(missed,), name="deadline of the start", daemon=True).start()

    def imported(self) -> None:
        """Records that the import has ended, so the start now waits for the lifespan."""
        self._part = "the lifespan"

    def met(self) -> None:
        self._met.set()

    def _wait(self, missed: Callable[[str], None]) -> None:
        if not self._met.wait(min(self._seconds, threading.TIMEOUT_MAX)):
            missed(self._missed())

    def _missed(self) -> str:
        line = self._line()
        at = f", at {line}: {line.source}" if line is not None else ""
        return f"has not ended after {self._seconds:g} s: it waits for {self._part}{at}"

    def _line(self) -> Location | None:
        """Returns the user's innermost line in the thread's stack. If there is none, searches the lifespan's stack."""
        with without_collections():
            return self._read_line()

    def _read_line(self) -> Location | None:
        line = own_line(stack_of(frames_of_thread(self._thread), self._depth))
        for running in list(loops.running):
            if running.thread.ident == self._thread:
                stacks = stacks_of_tasks(running.loop).values()
                awaiting = (own_line(stack) for stack in stacks if any(_is_lifespan(one) for one in stack))
                line = line or next(filter(None, awaiting), None)
        return line


def _is_lifespan(location: Location) -> bool:
    return location.file.replace("\\", "/").endswith(_LIFESPAN)
