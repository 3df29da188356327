"""Finds calls that wait for a thread: of AnyIO's pool, or of the event loop's default executor."""

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import thread as executors
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from asgi_doctor import cures
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack, chain, inside
from asgi_doctor.threads import Line, awaiting_lines, busy_lines

INTERVAL_SECONDS = 0.05
DISCOVER_SECONDS = 1.0
# Waiting calls are a finding only after this many times the limit, because a burst is not starvation.
LIMITS = 3


class Waiting(Protocol):
    """A pool of threads. `waiting` returns how many calls wait for one of its threads."""

    def waiting(self) -> int: ...
    def threads(self) -> list[threading.Thread]: ...


@dataclass
class AnyioPool:
    """The threads in which FastAPI and Starlette run endpoints and dependencies that are declared with `def`."""

    limiter: Any

    def waiting(self) -> int:
        return int(self.limiter.statistics().tasks_waiting)

    def threads(self) -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "AnyIO worker thread"]


@dataclass
class DefaultExecutor:
    """The executor of `asyncio.to_thread`, identified by its work queue, because uvloop does not expose it."""

    queue: Any

    def waiting(self) -> int:
        return int(self.queue.qsize())

    def threads(self) -> list[threading.Thread]:
        return [thread for thread, queue in list(executors._threads_queues.items()) if queue is self.queue]


@dataclass
class _Spell:
    """A time in which calls waited for a thread of one pool."""

    began: float
    seen: float
    seconds: float = 0.0
    most: int = 0
    seen_in: "Counter[tuple[Location, str]]" = field(default_factory=Counter)
    examples: "dict[tuple[Location, str], tuple[Stack, Request]]" = field(default_factory=dict)

    def add(self, lines: "Iterable[Line]") -> None:
        """Adds the lines of one sample, each with its stack and its request."""
        for location, stack, request in lines:
            key = location, request.route
            self.seen_in[key] += 1
            self.examples[key] = stack, request


class Pools:
    """Samples the pools at most every INTERVAL_SECONDS, and reports a finding if calls wait for too long.

    Too long is more than LIMITS times the limit.
    """

    def __init__(self, limit: float, report: Callable[[Finding], None]) -> None:
        self._limit, self._report = limit, report
        self._pools: list[Waiting] = []
        self._spells: dict[int, _Spell] = {}
        self._next = 0.0

    async def discover(self) -> None:
        """Finds the pools of the running loop. Starts a thread of the default executor.

        Leaves that executor out if it has no free thread for DISCOVER_SECONDS: the start must not wait for one.
        """
        found: list[Waiting] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCOVER_SECONDS):
                thread = await asyncio.get_running_loop().run_in_executor(None, threading.current_thread)
            queue = executors._threads_queues.get(thread)
            found += [DefaultExecutor(queue)] if queue is not None else []
        if "anyio" in sys.modules:
            from anyio.to_thread import current_default_thread_limiter  # only where the application uses it

            found.append(AnyioPool(current_default_thread_limiter()))
        self._pools = found

    def look(self, now: float, loop: asyncio.AbstractEventLoop, *, free: bool) -> None:
        """Samples the pools. If the loop is not `free`, ignores waiting calls, because they wait for the loop."""
        if now < self._next:
            return
        self._next = now + INTERVAL_SECONDS
        for index, pool in enumerate(self._pools):
            waiting = pool.waiting()
            if not waiting:
                self._spells.pop(index, None)
            elif free:
                self._spell(index, pool, waiting, now, loop)

    def _spell(self, index: int, pool: Waiting, waiting: int, now: float, loop: asyncio.AbstractEventLoop) -> None:
        spell = self._spells.setdefault(index, _Spell(now, now))
        spell.seconds += waiting * min(now - spell.seen, 2 * INTERVAL_SECONDS)
        spell.seen, spell.most = now, max(spell.most, waiting)
        spell.add(list(busy_lines(pool.threads())) or awaiting_lines(loop))
        if now - spell.began > LIMITS * self._limit and spell.seen_in:
            self._report(_finding(spell, now))


def _finding(spell: _Spell, now: float) -> Finding:
    [((line, route), _)] = spell.seen_in.most_common(1)
    stack, request = spell.examples[line, route]
    inner, source = inside(stack, line), line.source
    return Finding(
        file=line.shown_file,
        line=line.line,
        function=line.function,
        route=route,
        kind=Kind.STARVES,
        count=spell.most,
        seconds=round(spell.seconds, 3),
        longest=round(now - spell.began, 3),
        chain=chain(line, inner),
        cure=cures.cure(Kind.STARVES, Kind.STARVES, source, stack, handles=False),
        source=source,
        trace_id=request.trace_id,
    )
