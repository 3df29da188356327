"""Stores the samples of a timeline: each stack once, and consecutive equal samples as one span."""

import asyncio
from collections.abc import Hashable, Mapping
from types import CodeType, FrameType
from typing import Any, NamedTuple


class StackTable:
    """The different stacks of all samples. The number of a stack is its index in `seen`.

    `seen`: for each stack, the line number in the innermost function, and all functions as (file, name), innermost
    first. A task that is not running has no line number. If the task is ready to run, the list of functions is empty.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[CodeType | int | None, ...], int] = {}
        self.seen: list[tuple[int | None, list[tuple[str, str]]]] = []

    def of_thread(self, innermost: FrameType) -> int:
        """Returns the number of a thread's stack. `innermost`: the thread's innermost frame."""
        functions = []
        frame: FrameType | None = innermost
        while frame is not None:
            functions.append(frame.f_code)
            frame = frame.f_back
        return self._number(functions, innermost.f_lineno or 0)  # `f_lineno` is None if the instruction has no line

    def of_task(self, task: "asyncio.Task[Any]") -> int:
        """Returns the number of the stack of a task that the loop is not running now."""
        functions = []
        future: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
        if future is not None and not future.done():
            awaited: Any = task.get_coro()
            while hasattr(awaited, "cr_code"):  # from the outermost coroutine inwards
                functions.append(awaited.cr_code)
                awaited = awaited.cr_await
        return self._number(functions[::-1], None)

    def of_waiting(self, *functions: CodeType) -> int:
        """Returns the number of the stack of a webhook that has no task and waits. `functions`: the innermost first."""
        return self._number([*functions], None)

    def _number(self, functions: list[CodeType], line: int | None) -> int:
        number = self._numbers.setdefault((line, *functions), len(self.seen))
        if number == len(self.seen):
            self.seen.append((line, [(code.co_filename, code.co_name) for code in functions]))
        return number


class StackSpan(NamedTuple):
    """The time in which a row of the timeline had the stack with the number `stack`.

    Times are seconds of the monotonic clock, which all processes of a machine share.
    """

    began: float
    ended: float
    stack: int


class StackSpans:
    """Merges each row's samples into spans. A span ends when a sample lacks the row or has another stack for it."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[float, int]] = {}
        self.closed: dict[Hashable, list[StackSpan]] = {}

    def add(self, now: float, stacks: Mapping[Hashable, int]) -> None:
        """Adds a sample, taken at `now`. `stacks`: for each row, its stack's number in the StackTable."""
        for key, (began, stack) in list(self._open.items()):
            if stacks.get(key) != stack:
                self.closed.setdefault(key, []).append(StackSpan(began, now, stack))
                del self._open[key]
        for key, stack in stacks.items():
            self._open.setdefault(key, (now, stack))
