"""Admission: how many webhooks, and how many bytes of them, one process holds at once."""

from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import Draining, Overloaded
from app.settings import Settings


class Admission:
    """The process's account. One per app, at `app.state.admission`; touched on the event loop alone."""

    def __init__(self, settings: Settings) -> None:
        self._max_in_flight = settings.max_in_flight
        self._max_buffered_bytes = settings.max_buffered_bytes
        self.in_flight = 0
        self.buffered_bytes = 0
        self.draining = False

    def enter(self) -> None:
        """Raises Draining or Overloaded; otherwise `leave` must follow."""
        if self.draining:
            raise Draining("This process is stopping; send it again")
        if self.in_flight >= self._max_in_flight:
            raise Overloaded(f"{self._max_in_flight} webhooks are in flight; send it again")
        self.in_flight += 1

    def leave(self) -> None:
        self.in_flight -= 1

    def hold(self, size: int) -> None:
        """`size` more bytes of a body. Raises Overloaded; otherwise `release(size)` must follow."""
        if self.buffered_bytes + size > self._max_buffered_bytes:
            raise Overloaded(f"{self._max_buffered_bytes} bytes of bodies are held; send it again")
        self.buffered_bytes += size

    def release(self, size: int) -> None:
        self.buffered_bytes -= size


class Admit:
    """Lets a request pass while there is room, and counts it until its answer is out."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._admission.enter()
        try:
            await self._app(scope, receive, send)
        finally:
            self._admission.leave()
