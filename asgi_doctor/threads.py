"""The user's lines that keep threads of a pool, or that wait for one."""

import asyncio
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from asgi_doctor.greenlets import frames_of
from asgi_doctor.request import Request, context_of, request_of
from asgi_doctor.stacks import Location, Stack, stack_of

# A line, its stack, and the request that it works for.
Line = tuple[Location, Stack, Request]
_WAITS_FOR_THREAD = ("anyio/to_thread.py", "starlette/concurrency.py", "asyncio/threads.py")


def busy_lines(threads: Iterable[threading.Thread]) -> Iterator[Line]:
    """Yields the user's innermost lines in these threads."""
    frames = sys._current_frames()
    for thread in threads:
        frame = frames.get(thread.ident or 0)
        stack = stack_of(frames_of(frame), 0)
        innermost = _own(stack)
        if innermost is not None:
            yield innermost, stack, _request_of_thread(frame)


def _request_of_thread(frame: Any) -> Request:
    """Returns the request whose context the thread runs in: AnyIO's worker and the executor's call refer to it."""
    while frame is not None:
        name = frame.f_code.co_name
        if name == "run" and frame.f_code.co_filename.endswith(("_asyncio.py", "thread.py")):
            found = frame.f_locals
            context = found.get("context")
            if context is None:
                work = (
                    getattr(found.get("self"), "fn", None) or (getattr(found.get("self"), "task", None) or (None,))[0]
                )
                context = getattr(getattr(work, "func", None), "__self__", None)
            if context is not None and hasattr(context, "run"):
                return request_of(context)
        frame = frame.f_back
    return request_of(None)


def awaiting_lines(loop: asyncio.AbstractEventLoop) -> Iterator[Line]:
    """Yields the user's lines that await a thread, for threads that run no code of the user.

    An example is `to_thread(sleep, 1)`. If an awaiting task of `gather` or of a task group has no line of the user,
    yields the line that gathers it, or the lines of the same request.
    """
    tasks = {task: _stack_of_task(task) for task in asyncio.all_tasks(loop)}
    waiting = [task for task, stack in tasks.items() if any(one.file.endswith(_WAITS_FOR_THREAD) for one in stack)]
    lines = {
        task: (line, stack, request_of(context_of(task))) for task, stack in tasks.items() if (line := _own(stack))
    }
    yield from (lines[task] for task in waiting if task in lines)
    anonymous = {task for task in waiting if task not in lines}
    gathered = [task for task in lines if anonymous & set(_gathered_by(task))]
    scopes = {id(request_of(context_of(task)).scope) for task in anonymous}
    yield from (lines[task] for task in gathered)
    if not gathered:
        yield from (line for line in lines.values() if id(line[2].scope) in scopes)


def _own(stack: Stack) -> Location | None:
    return next((location for location in reversed(stack) if location.in_app), None)


def _gathered_by(task: "asyncio.Task[Any]") -> "Iterable[asyncio.Task[Any]]":
    return getattr(getattr(task, "_fut_waiter", None), "_children", ())


def _stack_of_task(task: "asyncio.Task[Any]") -> Stack:
    """Returns the stack of a suspended task."""
    stack: list[Location] = []
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        stack += stack_of([frame], 0) if frame is not None else ()
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return tuple(stack)
