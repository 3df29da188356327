"""What a timeline keeps of its samples: each stack once, and from when to when something had it."""

import asyncio
from collections.abc import Hashable, Mapping
from types import CodeType, FrameType
from typing import Any, NamedTuple


class Stacks:
    """The different ones that were seen, each with a number.

    `seen`: the line of the innermost function, and functions as file and name, from the innermost one outwards. A
    suspended task has no line, and no functions where it waits for its turn.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[CodeType | int | None, ...], int] = {}
        self.seen: list[tuple[int | None, list[tuple[str, str]]]] = []

    def of_thread(self, innermost: FrameType) -> int:
        functions = []
        frame: FrameType | None = innermost
        while frame is not None:
            functions.append(frame.f_code)
            frame = frame.f_back
        return self._number(functions, innermost.f_lineno or 0)  # None between two lines

    def of_task(self, task: "asyncio.Task[Any]") -> int:
        """The stack of a task that is not the one that its loop runs."""
        functions = []
        future: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
        if future is not None and not future.done():
            awaited: Any = task.get_coro()
            while hasattr(awaited, "cr_code"):  # from the outermost coroutine inwards
                functions.append(awaited.cr_code)
                awaited = awaited.cr_await
        return self._number(functions[::-1], None)

    def _number(self, functions: list[CodeType], line: int | None) -> int:
        number = self._numbers.setdefault((line, *functions), len(self.seen))
        if number == len(self.seen):
            self.seen.append((line, [(code.co_filename, code.co_name) for code in functions]))
        return number


class Span(NamedTuple):
    """Seconds of the monotonic clock, which all processes of a machine share."""

    began: float
    ended: float
    stack: int


class Spans:
    """Samples of many rows, merged. A row ends with the first sample that it is missing in."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[float, int]] = {}
        self.closed: dict[Hashable, list[Span]] = {}

    def add(self, now: float, stacks: Mapping[Hashable, int]) -> None:
        for key, (began, stack) in list(self._open.items()):
            if stacks.get(key) != stack:
                self.closed.setdefault(key, []).append(Span(began, now, stack))
                del self._open[key]
        for key, stack in stacks.items():
            self._open.setdefault(key, (now, stack))
