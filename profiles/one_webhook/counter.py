"""Counts the Python calls of one thread, the awaits of its tasks, and the tasks that it creates.

An `await` is counted only if it suspends its task. It does not suspend the task if its result is already available.
"""

import asyncio
import dis
import inspect
import sys
from types import FrameType
from typing import Any, NamedTuple

_RESUME, _YIELD = dis.opmap["RESUME"], dis.opmap["YIELD_VALUE"]
_AFTER_YIELD = 0b11  # these bits of RESUME's argument are 0 at a function's start, and not 0 after a yield or await
# Functions of asyncio's event loop that call callbacks. They are not counted, because uvloop has C code instead.
_LOOP = frozenset({"BaseEventLoop._run_once", "Handle._run"})


class Call(NamedTuple):
    """A call of a Python function. `caller` is the index of the call that made this call, or None for a callback.

    `began` is False for a coroutine or generator that began before the count, and was only resumed.
    """

    caller: int | None
    file: str
    function: str
    began: bool


class Task(NamedTuple):
    """A new task. `creator` is the index of the call that created the task, or None if no counted call did."""

    creator: int | None
    coroutine: str


class Trace(NamedTuple):
    """The calls, awaits and new tasks of a thread.

    `awaits`: for each await, the index in `calls` of the suspended task's outermost coroutine.
    """

    calls: list[Call]
    awaits: list[int]
    tasks: list[Task]


class Counter:
    """Counts between `start` and `stop`. The thread whose calls are counted must call both methods."""

    def __init__(self) -> None:
        self._trace = Trace([], [], [])
        self._stack: list[tuple[int, int]] = []  # the id of each frame, and the index of the frame's call
        self._suspended: dict[int, int] = {}  # the index of a suspended coroutine's call, by the id of the frame
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.set_task_factory(self._create_task)
        sys.setprofile(self._on_event)

    def stop(self) -> Trace:
        sys.setprofile(None)
        if self._loop is not None:
            self._loop.set_task_factory(None)
        return self._trace

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if frame.f_code.co_filename == __file__ or frame.f_code.co_qualname in _LOOP:
            return
        if event == "call":
            self._enter(frame)
        elif event == "return":
            self._leave(frame)

    def _enter(self, frame: FrameType) -> None:
        opcode, argument = _instruction(frame)
        began = opcode == _RESUME and not argument & _AFTER_YIELD
        index = None if began else self._suspended.pop(id(frame), None)
        if index is None:
            index = len(self._trace.calls)
            code = frame.f_code
            self._trace.calls.append(Call(self._caller(), code.co_filename, code.co_qualname, began))
        self._stack.append((id(frame), index))

    def _leave(self, frame: FrameType) -> None:
        """Records that a function returns or is suspended. Ignores a function that was called before the count."""
        if not self._stack or self._stack[-1][0] != id(frame):
            return
        _, index = self._stack.pop()
        if _suspends(frame):
            self._suspended[id(frame)] = index
            if not self._stack and frame.f_code.co_flags & inspect.CO_COROUTINE:
                self._trace.awaits.append(index)

    def _caller(self) -> int | None:
        return self._stack[-1][1] if self._stack else None

    def _create_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, /, **options: Any) -> "asyncio.Task[Any]":
        self._trace.tasks.append(Task(self._caller(), coroutine.__qualname__))
        return asyncio.Task(coroutine, loop=loop, **options)


def _instruction(frame: FrameType) -> tuple[int, int]:
    """Returns the opcode and the argument of the frame's current instruction."""
    code = frame.f_code.co_code
    return code[frame.f_lasti], code[frame.f_lasti + 1]


def _suspends(frame: FrameType) -> bool:
    """Returns True if the frame yields instead of returning. In Python 3.13, the instruction is then RESUME."""
    opcode, argument = _instruction(frame)
    return opcode == _YIELD or (opcode == _RESUME and bool(argument & _AFTER_YIELD))


def callback(trace: Trace, index: int) -> tuple[str, str]:
    """Returns the file and name of the function that the event loop called and that led to the call at `index`."""
    while (caller := trace.calls[index].caller) is not None:
        index = caller
    return trace.calls[index].file, trace.calls[index].function


def without_callbacks(trace: Trace, unwanted: set[tuple[str, str]]) -> Trace:
    """Returns `trace` without the calls, awaits and tasks of the `unwanted` callbacks of the event loop."""
    kept = [index for index in range(len(trace.calls)) if callback(trace, index) not in unwanted]
    new = {old: number for number, old in enumerate(kept)}
    calls = [trace.calls[index] for index in kept]
    return Trace(
        [call._replace(caller=None if call.caller is None else new[call.caller]) for call in calls],
        [new[index] for index in trace.awaits if index in new],
        [Task(new[task.creator], task.coroutine) for task in trace.tasks if task.creator in new],
    )
