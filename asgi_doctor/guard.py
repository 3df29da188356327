"""`no_blocking` watches every event loop that runs during a `with` block, usually in a test.

    with asgi_doctor.no_blocking(limit=0.05):
        await client.get("/orders")

It watches loops in all threads, for example the loops that AnyIO, pytest-asyncio or Starlette's TestClient start.
"""

import threading
from asyncio.events import _get_running_loop as _running_loop  # unlike `get_running_loop`, returns None under trio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from asgi_doctor import loops
from asgi_doctor.configuration import Permitted
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.loops import RunningLoop
from asgi_doctor.report import calls
from asgi_doctor.stacks import depth_of_loop
from asgi_doctor.watchdog import Watchdog, allowed_limit

_BLOCKS = {Kind.WAITS, Kind.COMPUTES, Kind.BUILDS, Kind.COLLECTS}
# Packages of debuggers. A debugger blocks the loop while it waits for the user.
_DEBUGGERS = {"bdb", "pdb", "pydevd", "_pydevd_bundle", "debugpy"}
_UNWATCHED = "no event loop of asyncio or uvloop has run, and no other can be watched (perhaps it was trio's)"


class NoBlocking:
    """Raises AssertionError at the end of `with` if a line of the user blocked a loop, or if no loop could be watched.

    `findings`: the lines that have blocked a loop for more than `limit` seconds, except permitted ones.
    """

    def __init__(self, limit: float = 0.05, permitted: Permitted | None = None) -> None:
        self.limit = allowed_limit(limit)
        self._permitted = permitted or Permitted([], set())
        self._watchdogs: dict[RunningLoop, Watchdog] = {}
        self._ended: list[Watchdog] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.stop()
        if kind is None and (failure := self.failure()):
            raise AssertionError(failure)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Stops watching the loops for the duration of a `with` block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @property
    def findings(self) -> list[Finding]:
        return self._permitted.new(self.blocks)

    @property
    def blocks(self) -> list[Finding]:
        """Returns the findings, including permitted ones, about blocks by lines of the user, but not by debuggers."""
        found = [finding for watchdog in [*self._ended, *self._watchdogs.values()] for finding in watchdog.findings]
        blocks = [finding for finding in found if finding.kind in _BLOCKS and finding.in_app]
        return [one for one in blocks if not _DEBUGGERS & set(one.libraries)]

    def failure(self, *, unwatched: bool = True) -> str:
        """Returns the findings as text, or "" if there are none.

        `unwatched`: whether to return an error text if no loop could be watched.
        """
        if unwatched and not self._ended and not self._watchdogs:
            return _UNWATCHED
        return "\n\n".join(_text(finding, self.limit) for finding in self.findings)

    def start(self) -> None:
        loops.observe()
        loops.listeners.append(self._changed)
        running, here = list(loops.running), _running_loop()
        if here is not None and all(one.loop is not here for one in running):  # `here` ran before `observe` was called
            running.append(RunningLoop(here, threading.current_thread(), depth_of_loop()))
        for loop in running:
            self._changed(loop, starts=True)

    def stop(self) -> None:
        loops.listeners.remove(self._changed)
        for loop in list(self._watchdogs):
            self._changed(loop, starts=False)

    def _changed(self, running: RunningLoop, starts: bool) -> None:
        if starts:
            self._watchdogs[running] = Watchdog(self.limit).start(*running)
        elif (watchdog := self._watchdogs.pop(running, None)) is not None:
            watchdog.stop()
            self._ended.append(watchdog)


def _text(finding: Finding, limit: float) -> str:
    """Returns a text with the line, the calls to the library, the seconds and the cure."""
    route = f"{finding.route}: " if finding.route else ""
    lines = (
        f"{route}{finding.place} blocked the event loop for {finding.longest:.2f} s (limit {limit:g} s)",
        f"    {finding.source}",
        *calls(finding),
        f"    {finding.kind.value}; cure: {finding.cure.advice}",
    )
    return "\n".join(lines)
