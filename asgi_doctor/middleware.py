"""Watches an ASGI application from inside, under any server, also in production."""

import asyncio
import inspect
import logging
import sys
from asyncio.events import _get_running_loop as _running_loop  # unlike `get_running_loop`, returns None under trio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any

from asgi_doctor import metrics
from asgi_doctor.finding import Finding
from asgi_doctor.findings import Findings
from asgi_doctor.loop_delay import LoopDelay
from asgi_doctor.request import current_scope
from asgi_doctor.stacks import claim_package
from asgi_doctor.startup import Startup
from asgi_doctor.watchdog import Watchdog, allowed_limit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

_logger = logging.getLogger("asgi_doctor")


def routed(app: App) -> App:
    """Wraps the application, so that the tasks and threads of a request have the request's scope in their context."""

    async def with_scope(scope: Any, receive: Receive, send: Send) -> None:
        token = current_scope.set(scope)
        try:
            await app(scope, receive, send)
        finally:
            with suppress(ValueError):  # the caller has continued this coroutine in another context
                current_scope.reset(token)

    return with_scope


def is_asgi_2(app: Any) -> bool:
    """Returns whether the application takes one argument, the scope, as an application of ASGI 2 does."""
    with suppress(TypeError, ValueError):
        return len(inspect.signature(app).parameters) == 1
    return False


def unwatchable(loop: object | None) -> str:
    """Returns why the doctor cannot watch `loop`, or "" if it can. `loop` is None if trio runs instead of asyncio."""
    gevent = sys.modules.get("gevent.monkey")
    if gevent is not None and gevent.is_module_patched("threading"):
        return "gevent has replaced threads by greenlets, which cannot watch each other"
    return "" if loop is not None else "it is not asyncio's or uvloop's, but perhaps trio's"


def log_finding(finding: Finding) -> None:
    """Logs a warning with the line, its route and the advice."""
    blocks = f"{finding.place} {finding.kind} for {finding.longest:.2f} s ({finding.route or 'no request'})"
    _logger.warning("%s: %s; %s", blocks, finding.source, finding.cure.advice)


class Watch:
    """An ASGI application that passes all calls on to `app`, and watches the event loops that it runs on.

    A block longer than `warn` seconds is a finding. `on_finding` is called for a line's first finding on a route, not
    for each block. The event loop's thread calls it for findings about the start, and later a watchdog's thread calls
    it. The callback must be fast and thread-safe; its exceptions are logged. Attributes that this class does not have
    are those of `app`. A warning is logged if a loop cannot be watched. If OpenTelemetry's API is installed, a
    histogram records the delay of the loops. Raises ValueError if `warn` is too small or too large.
    """

    def __init__(self, app: App, *, warn: float = 0.1, on_finding: Callable[[Finding], None] = log_finding) -> None:
        self._wrapped: Any = app
        self._app: App = self._called_twice if is_asgi_2(app) else app
        self._routed = routed(self._app)
        self._warn, self._on_finding = allowed_limit(warn), on_finding
        self._collected = Findings(warn, None, self._tell)
        # The value is None for a loop that cannot be watched. The key is None if asyncio does not run (trio).
        self._watchdogs: dict[asyncio.AbstractEventLoop | None, Watchdog | None] = {}
        self._delays: dict[asyncio.AbstractEventLoop | None, LoopDelay] = {}
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        if caller.partition(".")[0] not in {"starlette", "fastapi", "litestar"}:  # not in `add_middleware(watch)`
            claim_package(caller)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __reduce__(self) -> tuple[Any, ...]:  # a copy has loops and findings of its own
        return partial(type(self), warn=self._warn, on_finding=self._on_finding), (self._wrapped,)

    @property
    def findings(self) -> list[Finding]:
        """Returns all findings so far, with totals, except the findings about the start."""
        return self._collected.all()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        loop = _running_loop()
        if loop not in self._watchdogs:  # the server runs no lifespan, or runs it on another loop
            await self._start(loop)
        await self._routed(scope, receive, send)

    async def _called_twice(self, scope: Any, receive: Receive, send: Send) -> None:
        await self._wrapped(scope)(receive, send)

    def _tell(self, finding: Finding) -> None:
        try:
            self._on_finding(finding)
        except Exception:
            _logger.exception("on_finding has failed for %s", finding.place)

    async def _start(self, loop: asyncio.AbstractEventLoop | None) -> None:
        for other in list(self._watchdogs):
            if other is not None and other.is_closed():
                self._watchdogs.pop(other, None)
                self._delays.pop(other, None)
        self._watchdogs[loop] = None
        try:
            if why := unwatchable(loop):
                _logger.warning("asgi_doctor does not watch this event loop: %s", why)
                return
            # `discover` may block the loop, because it may import AnyIO's backend. So the watchdog starts afterwards.
            await (watchdog := Watchdog(self._warn, collected=self._collected)).pools.discover()
            self._watchdogs[loop] = watchdog.__enter__()
            if (delay := metrics.exported()) is not None:
                self._delays[loop] = delay
                Context().run(delay.start)  # otherwise, the timers would keep the first request's context
        except Exception:  # the application must work nevertheless
            _logger.exception("asgi_doctor does not watch this event loop, or not its threads")

    async def _lifespan(self, scope: Any, receive: Receive, send: Send) -> None:
        loop = _running_loop()
        starting = Startup(self._warn)
        if not unwatchable(loop):
            with suppress(RuntimeError):  # the system allows no more threads
                starting.start()

        async def send_started(message: Message) -> None:
            if message["type"].startswith("lifespan.startup."):
                for finding in starting.stop():
                    self._tell(finding)
                await self._start(loop)
            await send(message)

        try:
            await self._app(scope, receive, send_started)
        finally:
            starting.stop()
            for stopped in (self._watchdogs.pop(loop, None), self._delays.pop(loop, None)):
                if stopped is not None:
                    stopped.stop()
