"""Finds the user's lines that keep the threads of a pool busy, or that wait for such a thread."""

import asyncio
import gc
import inspect
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from asgi_doctor.greenlets import frames_of
from asgi_doctor.request import Request, context_of, request_of
from asgi_doctor.stacks import Location, Stack, own_line, stack_of

# A line, its stack, and the request that it works for.
Line = tuple[Location, Stack, Request]
_WAITS_FOR_THREAD = ("anyio/to_thread.py", "starlette/concurrency.py", "asyncio/threads.py")


def busy_lines(threads: Iterable[threading.Thread]) -> Iterator[Line]:
    """Yields the user's innermost line in each of these threads that runs code of the user."""
    frames = sys._current_frames()
    for thread in threads:
        frame = frames.get(thread.ident or 0)
        stack = stack_of(frames_of(frame), 0)
        innermost = own_line(stack)
        if innermost is not None:
            yield innermost, stack, _request_of_thread(frame)


def _request_of_thread(frame: Any) -> Request:
    """Returns the request that the thread works for. `frame`: the thread's innermost frame.

    Finds the request's context in a local variable of AnyIO's worker thread or of the executor's call.
    """
    while frame is not None:
        name = frame.f_code.co_name
        if name == "run" and frame.f_code.co_filename.endswith(("_asyncio.py", "thread.py")):
            found = frame.f_locals
            context, call = found.get("context"), found.get("self")
            if context is None:
                work = getattr(call, "fn", None) or (getattr(call, "task", None) or (None,))[0]
                context = getattr(getattr(work, "func", None), "__self__", None) or _context_of_waiter(call)
            if context is not None and hasattr(context, "run"):
                return request_of(context)
        frame = frame.f_back
    return request_of(None)


def _context_of_waiter(work: Any) -> Any:
    """Returns the context of the task that awaits an executor's call, or None. The call itself has no context."""
    for callback in getattr(getattr(work, "future", None), "_done_callbacks", ()):
        for cell in getattr(callback, "__closure__", None) or ():
            if asyncio.isfuture(cell.cell_contents) and (waiting := getattr(cell.cell_contents, "_callbacks", None)):
                return waiting[0][1]
    return None


def awaiting_lines(loop: asyncio.AbstractEventLoop) -> Iterator[Line]:
    """Yields the user's lines that await a thread, even if it runs no code of the user, as in `to_thread(sleep, 1)`.

    A task that `gather` or a task group has made may have no line of the user. For such a task, yields the line that
    calls `gather`. If there is no such line, yields the lines of all tasks of the same request.
    """
    tasks = stacks_of_tasks(loop)
    waiting = [task for task, stack in tasks.items() if any(one.file.endswith(_WAITS_FOR_THREAD) for one in stack)]
    lines = {
        task: (line, stack, request_of(context_of(task))) for task, stack in tasks.items() if (line := own_line(stack))
    }
    yield from (lines[task] for task in waiting if task in lines)
    anonymous = {task for task in waiting if task not in lines}
    gathered = [task for task in lines if anonymous & set(_gathered_by(task))]
    scopes = {id(request_of(context_of(task)).scope) for task in anonymous}
    yield from (lines[task] for task in gathered)
    if not gathered:
        yield from (line for line in lines.values() if id(line[2].scope) in scopes)


def _gathered_by(task: "asyncio.Task[Any]") -> "Iterable[asyncio.Task[Any]]":
    return getattr(getattr(task, "_fut_waiter", None), "_children", ())


def stacks_of_tasks(loop: asyncio.AbstractEventLoop) -> dict["asyncio.Task[Any]", Stack]:
    """Returns the stack of each suspended task of the loop. Any thread may call this."""
    return {task: _stack_of_task(task) for task in asyncio.all_tasks(loop)}


def _stack_of_task(task: "asyncio.Task[Any]") -> Stack:
    stack: list[Location] = []
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame = _first(awaited, "cr_frame", "gi_frame", "ag_frame")
        stack += stack_of([frame], 0) if frame is not None else ()
        awaited = _first(awaited, "cr_await", "gi_yieldfrom", "ag_await") or _generator_of(awaited)
    return tuple(stack)


def _first(awaited: Any, *names: str) -> Any:
    return next((found for name in names if (found := getattr(awaited, name, None)) is not None), None)


def _generator_of(awaited: Any) -> Any:
    """Returns the asynchronous generator (for example a lifespan) whose next value `awaited` waits for, or None."""
    if type(awaited).__name__ != "async_generator_asend":
        return None
    # `awaited` has no attribute for the generator.
    return next((one for one in gc.get_referents(awaited) if inspect.isasyncgen(one)), None)
