"""Watches an ASGI application from inside: in production, or below another server than the doctor's own."""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from asgi_doctor.finding import Finding
from asgi_doctor.request import current_scope
from asgi_doctor.startup import Startup
from asgi_doctor.watchdog import Watchdog

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

_logger = logging.getLogger("asgi_doctor")


def routed(app: App) -> App:
    """Returns the application with each request's scope in the context of the tasks and threads that work for it."""

    async def with_scope(scope: Any, receive: Receive, send: Send) -> None:
        token = current_scope.set(scope)
        try:
            await app(scope, receive, send)
        finally:
            current_scope.reset(token)

    return with_scope


def log_finding(finding: Finding) -> None:
    """Logs a warning with the line, its route and the advice."""
    _logger.warning(
        "%s %s for %.2f s (%s): %s; %s",
        finding.place,
        finding.kind.value,
        finding.longest,
        finding.route or "no request",
        finding.source,
        finding.cure.advice,
    )


class Watch:
    """An ASGI application that passes all calls on to `app`, and watches the event loop that it runs on.

    `warn` is the limit of a block in seconds. `on_finding` is called for a line's first finding on a route, not for
    each block. Findings about the start arrive in the event loop's thread, before the first request; all others arrive
    in the watchdog's thread. The callback must be fast and thread-safe; an exception of it is logged. Other attributes
    are those of `app`.
    """

    def __init__(self, app: App, *, warn: float = 0.1, on_finding: Callable[[Finding], None] = log_finding) -> None:
        self._wrapped, self._routed = app, routed(app)
        self._warn, self._on_finding = warn, on_finding
        self._watchdog: Watchdog | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    @property
    def findings(self) -> list[Finding]:
        """Returns all findings since the watchdog has started, with their totals, but none about the start.

        Returns [] before the watchdog starts and after the lifespan has ended.
        """
        return self._watchdog.findings if self._watchdog is not None else []

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        if self._watchdog is None:  # the server has no lifespan
            await self._start()
        await self._routed(scope, receive, send)

    def _tell(self, finding: Finding) -> None:
        try:
            self._on_finding(finding)
        except Exception:
            _logger.exception("on_finding has failed for %s", finding.place)

    async def _start(self) -> None:
        self._watchdog = Watchdog(self._warn, on_finding=self._tell).__enter__()
        await self._watchdog.pools.discover()

    async def _lifespan(self, scope: Any, receive: Receive, send: Send) -> None:
        starting = Startup(self._warn).start()

        async def send_started(message: Message) -> None:
            if message["type"].startswith("lifespan.startup."):
                for finding in starting.stop():
                    self._tell(finding)
                await self._start()
            await send(message)

        try:
            await self._wrapped(scope, receive, send_started)
        finally:
            starting.stop()
            if self._watchdog is not None:
                self._watchdog.stop()
                self._watchdog = None
