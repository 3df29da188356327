"""Finds the request that a task of the event loop works for. The watchdog's thread uses this module."""

import asyncio
import gc
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Hashable
from contextvars import Context, ContextVar
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from asgi_doctor.stacks import Location, function_name

# Set by the doctor's ASGI wrapper for each request; tasks and threads that the request starts inherit the value.
current_scope: "ContextVar[dict[str, Any] | None]" = ContextVar("asgi_doctor_scope", default=None)


# A number, a UUID or a hash, if it is a whole segment of a path.
_IDENTIFIER = re.compile(r"(?<=/)(\d+|[0-9A-Fa-f-]{16,})(?=/|$)")


class Request(NamedTuple):
    """The request during which a block occurred. `scope` is ASGI's scope, or None outside of a request."""

    scope: dict[str, Any] | None
    trace_id: str | None

    @property
    def route(self) -> str:
        """Returns method and path, as in `GET /orders/{id}`, or "" outside of a request.

        This is the request's path, with the names of the parameters instead of their values. The path of the
        framework's route is not used, because it lacks the prefixes of the outer routers. Before the framework has
        chosen the route, `{}` replaces numbers and other identifiers.
        """
        if self.scope is None or "path" not in self.scope:
            return ""
        path = str(self.scope["path"])
        if "endpoint" not in self.scope and "route_handler" not in self.scope:
            path = _IDENTIFIER.sub("{}", path)
        for name, value in (self.scope.get("path_params") or {}).items():
            path = f"{path}/".replace(f"/{value}/", f"/{{{name}}}/", 1)[:-1]
        return f"{self.scope.get('method', 'WEBSOCKET')} {path}"

    @property
    def endpoint(self) -> Location | None:
        """Returns the `def` line of the function that handles the request, or None before the framework chooses one."""
        scope = self.scope or {}
        handler = scope.get("route_handler")  # Litestar
        found = getattr(handler, "fn", None) if handler is not None else scope.get("endpoint")
        while isinstance(found, partial):
            found = found.func
        return _definition(inspect.unwrap(found)) if callable(found) else None

    def or_in_stack(self, frames: list[FrameType]) -> "Request":
        """Returns this request. If it has no scope, adds a scope from the local variables of `frames`, if any.

        A request has no scope if its application runs without the doctor's wrapper, for example with `attach`.
        """
        for frame in reversed(frames) if self.scope is None else ():
            if "scope" in frame.f_code.co_varnames:
                scope = frame.f_locals.get("scope")
                if isinstance(scope, dict) and "path" in scope:
                    return self._replace(scope=scope)
        return self


NO_REQUEST = Request(None, None)
# The key of a callback that has ended since its frame was read.
ENDED: Hashable = "ended"


def request_of(context: Context | None) -> Request:
    """Returns the request that the context belongs to. The context may be in use by another thread."""
    if context is None:
        return NO_REQUEST
    return Request(context.get(current_scope), _trace_id(context))


def current_task(loop: asyncio.AbstractEventLoop) -> "asyncio.Task[Any] | None":
    """Returns the task that the loop runs now, or None if it runs none or the read fails. Any thread may call this."""
    try:
        return asyncio.current_task(loop)
    except RuntimeError:  # another thread changed asyncio's table of tasks meanwhile
        return None


def callback_of(
    loop: asyncio.AbstractEventLoop, frames: list[FrameType], depth: int, known: tuple[Hashable, Request]
) -> tuple[Hashable, Request]:
    """Returns a key and the request of the callback that the loop runs now. The key is ENDED if the callback has ended.

    `frames`: the thread's frames, the outermost first. `depth`: the number of the loop's own frames. `known`: the key
    and the request of the previous sample.
    """
    task = current_task(loop)
    if task is not None:
        key = id(task), task.get_name()
        return known if key == known[0] else (key, request_of(context_of(task)).or_in_stack(frames))
    # Only a task runs a coroutine, and no task runs now. So if any frame is a coroutine's, the callback has ended. The
    # loop's frames no longer enclose a suspended coroutine, so even the first `depth` frames may be a coroutine's.
    if any(frame.f_code.co_flags & inspect.CO_COROUTINE for frame in frames):
        return ENDED, NO_REQUEST
    for outermost in frames[depth:]:
        callback = (outermost.f_code, id(outermost.f_locals.get("self")))
        if callback == known[0]:
            return known
        request = request_of(_context_of_callback(frames[max(depth - 1, 0) : depth + 1]))
        # A server may handle requests in callbacks, without tasks.
        return callback, request.or_in_stack(frames)
    return None, NO_REQUEST


def _context_of_callback(frames: list[FrameType]) -> Context | None:
    """Returns the context of the callback whose frame is the last of `frames`.

    With asyncio, the first frame belongs to the handle, which has the context. With uvloop, handles have no frames, but
    a callback that belongs to a task, for example a done callback, often has the task as an argument.
    """
    handle = frames[0].f_locals.get("self")
    if isinstance(handle, asyncio.Handle):
        return getattr(handle, "_context", None)
    task = next((value for value in frames[-1].f_locals.values() if isinstance(value, asyncio.Task)), None)
    return context_of(task) if task is not None else _context_of_handle(frames[-1])


def _context_of_handle(callback: FrameType) -> Context | None:
    """Returns the context of uvloop's handle that runs the callback, or None if the handle is not found.

    Python code can find the handle only with the garbage collector. Searches the collector's two young generations
    (about ten thousand objects at most), because a search of all objects would take too long.
    """
    handles = {getattr(sys.modules.get("uvloop.loop"), name, None) for name in ("Handle", "TimerHandle")}
    young = [one for old in (0, 1) for one in gc.get_objects(generation=old) if type(one) in handles]
    for referents in map(gc.get_referents, young):
        codes = [getattr(getattr(one, "__func__", one), "__code__", None) for one in referents]
        if callback.f_code in codes:
            return next((one for one in referents if isinstance(one, Context)), None)
    return None


def context_of(task: "asyncio.Task[Any]") -> Context | None:
    """Returns the context in which the task runs. In Python 3.11, finds it in the objects that the task refers to."""
    if sys.version_info >= (3, 12):
        return task.get_context()
    return next((found for found in gc.get_referents(task) if isinstance(found, Context)), None)


def _definition(function: Callable[..., Any]) -> Location | None:
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__call__", None), "__code__", None)  # noqa: B004  # the method itself is needed, not whether it exists
    if code is None:
        return None
    line = code.co_firstlineno  # of the first decorator, if there is one
    while (text := linecache.getline(code.co_filename, line)) and not text.lstrip().startswith(("def ", "async def ")):
        line += 1
    return Location(code.co_filename, line if text else code.co_firstlineno, function_name(code))


def _trace_id(context: Context) -> str | None:
    """Returns OpenTelemetry's trace id, or None if no trace is active or OpenTelemetry has not been imported."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    span = context.copy().run(trace.get_current_span).get_span_context()
    return f"{span.trace_id:032x}" if span.is_valid else None
