"""Finds the lines that block the start: the import of the application, and the lifespan until requests are served."""

import threading
from contextlib import suppress
from typing import Self

from asgi_doctor.block import Block, Sample
from asgi_doctor.builders import builds, imports
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.garbage import without_collections
from asgi_doctor.parts import Part
from asgi_doctor.request import NO_REQUEST
from asgi_doctor.stacks import Location, depth_of_loop, inside, is_idle, own_line, stack_of
from asgi_doctor.tally import Tally
from asgi_doctor.watched import Passed, WatchedThread

INTERVAL_SECONDS = 0.02
# At the start, a line that waits for longer than the limit is a finding. A line that computes, for example loads a
# model, is a finding only if it takes longer than this many times the limit.
COMPUTES_LIMITS = 10


class Startup:
    """Samples the thread that creates this object, from `start` to `stop`. `stop` sets `findings`.

    Imports of libraries and the building of clients are not findings, because they belong in the start.
    """

    def __init__(self, limit: float) -> None:
        self.findings: list[Finding] = []
        self._limit = limit
        self._watched, self._depth = WatchedThread(), depth_of_loop()
        self._blocks: dict[Location, Block] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="startup watchdog", daemon=True)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> list[Finding]:
        """Stops sampling, and returns the findings. Further calls return the same findings."""
        if not self._ended.is_set() and self._thread.ident is not None:
            self._ended.set()
            self._thread.join()
            found = [self._found(location, block) for location, block in self._blocks.items()]
            self.findings = [finding for finding in found if finding is not None]
        return self.findings

    def _watch(self) -> None:
        with suppress(ProcessLookupError):
            self._watched.start()
            while not self._ended.wait(INTERVAL_SECONDS):
                self._sample()
            self._watched.stop()

    def _sample(self) -> None:
        with without_collections():
            frames = self._watched.frames()
            stack = () if not frames or is_idle(frames, self._depth) else stack_of(frames, self._depth)
            del frames
        passed = self._watched.passed(INTERVAL_SECONDS)
        location = own_line(stack)
        if location is None or imports(inner := inside(stack, location)):
            return
        if builds(inner, location.source):
            return
        block = self._blocks.setdefault(location, Block(None, NO_REQUEST, 0.0))
        block.seconds += _counted(passed)
        block.add(Sample(stack, passed.with_core, passed.computing, passed.collecting))

    def _found(self, location: Location, block: Block) -> Finding | None:
        part = Part(location, block.samples, block.seconds, block.computing, block.collecting)
        tally = Tally(part, NO_REQUEST, short=False)
        tally.add(part, NO_REQUEST)
        most = self._limit if tally.cause is Kind.WAITS else self._limit * COMPUTES_LIMITS
        return tally.finding(Kind.STARTUP) if block.seconds > most and not location.allowed else None


def _counted(passed: Passed) -> float:
    """Returns the seconds for which the line has blocked, without waits for a core or for the interpreter lock.

    The kernel counts a wait for a core only when the wait ends. Until then, the result counts the wait as time in
    which the line has blocked. The next result subtracts the wait, and may therefore be negative.
    """
    return passed.seconds - passed.without_core - (0 if passed.kept_lock else passed.late)
