"""Finds calls that wait for a free thread in AnyIO's pool or in the event loop's default executor."""

import asyncio
import gc
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from asgi_doctor import cures
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.garbage import without_collections
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location, Stack, chain, inside, libraries
from asgi_doctor.threads import Line, awaiting_lines, busy_lines

INTERVAL_SECONDS = 0.05
# If the threads together use more than this share of one core, they compute. Otherwise, they wait.
_COMPUTING = 0.5
# Calls that wait for a thread become a finding after this many times the limit: a short burst is not starvation.
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
    """The event loop's default executor, which `asyncio.to_thread` uses."""

    executor: ThreadPoolExecutor

    def waiting(self) -> int:
        return self.executor._work_queue.qsize()

    def threads(self) -> list[threading.Thread]:
        return list(self.executor._threads)


@dataclass
class _Spell:
    """A period in which calls waited for a thread of a pool. `cpu`: the argument of `Pools.look` at the start."""

    began: float
    seen: float
    cpu: float
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
    """Samples AnyIO's pool and the default executor. Reports a finding if calls wait for LIMITS times the limit."""

    def __init__(self, limit: float, report: Callable[[Finding], None]) -> None:
        self._limit, self._report = limit, report
        self._anyio: AnyioPool | None = None
        self._spells: dict[type[Waiting], _Spell] = {}
        self._next = self._cpu = 0.0

    async def discover(self) -> None:
        """Finds AnyIO's pool of the running loop."""
        if "anyio" in sys.modules:
            from anyio.to_thread import current_default_thread_limiter  # imported only if the application uses AnyIO

            self._anyio = AnyioPool(current_default_thread_limiter())

    def look(self, now: float, cpu: float, loop: asyncio.AbstractEventLoop, *, free: bool) -> None:
        """Samples the pools. If the loop is not `free`, ignores waiting calls, because the loop itself may delay them.

        `cpu`: the total CPU seconds of all threads except the loop's thread. Samples at most every INTERVAL_SECONDS.
        """
        if now < self._next:
            return
        self._next, self._cpu = now + INTERVAL_SECONDS, cpu
        executor = _default_executor(loop)
        pools: list[Waiting] = [self._anyio] if self._anyio is not None else []
        pools += [DefaultExecutor(executor)] if executor is not None else []
        for pool in pools:
            waiting = pool.waiting()
            if not waiting:
                self._spells.pop(type(pool), None)
            elif free:
                self._spell(pool, waiting, now, loop)

    def _spell(self, pool: Waiting, waiting: int, now: float, loop: asyncio.AbstractEventLoop) -> None:
        spell = self._spells.setdefault(type(pool), _Spell(now, now, self._cpu))
        spell.seconds += waiting * min(now - spell.seen, 2 * INTERVAL_SECONDS)
        spell.seen, spell.most = now, max(spell.most, waiting)
        with without_collections():
            lines = list(busy_lines(pool.threads())) or list(awaiting_lines(loop))
        spell.add(lines)
        if now - spell.began > LIMITS * self._limit and spell.seen_in:
            self._report(_finding(spell, now, computes=self._cpu - spell.cpu > _COMPUTING * (now - spell.began)))


def _default_executor(loop: asyncio.AbstractEventLoop) -> ThreadPoolExecutor | None:
    """Returns the loop's default executor, or None before the first `to_thread`, which creates it.

    asyncio's loop has it as an attribute. uvloop's attribute is hidden, but the garbage collector finds the executor.
    """
    found = getattr(loop, "_default_executor", None)
    return found or next((one for one in gc.get_referents(loop) if isinstance(one, ThreadPoolExecutor)), None)


def _finding(spell: _Spell, now: float, *, computes: bool) -> Finding:
    [((line, route), _)] = spell.seen_in.most_common(1)
    stack, request = spell.examples[line, route]
    inner, cause = inside(stack, line), Kind.COMPUTES if computes else Kind.STARVES
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
        cure=cures.cure(cause, cause, line.source, stack, handles=False),
        source=line.source,
        trace_id=request.trace_id,
        libraries=libraries(line, inner),
        allowed=line.allowed,
    )
