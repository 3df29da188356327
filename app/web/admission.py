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

    def enter(self) -> "Place":
        """Raises Draining or Overloaded; otherwise the place must be left."""
        if self.draining:
            raise Draining("This process is stopping; send it again")
        if self.in_flight >= self._max_in_flight:
            raise Overloaded(f"{self._max_in_flight} webhooks are in flight; send it again")
        self.in_flight += 1
        return Place(self)

    def hold(self, size: int) -> None:
        """`size` more bytes of a body. Raises Overloaded."""
        if self.buffered_bytes + size > self._max_buffered_bytes:
            raise Overloaded(f"{self._max_buffered_bytes} bytes of bodies are held; send it again")
        self.buffered_bytes += size


class Place:
    """One webhook on the account, with the bytes of its body. Leaving twice is leaving once."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._held = 0
        self._left = False

    def hold(self, size: int) -> None:
        """`size` bytes of the body, in all. Raises Overloaded."""
        if size > self._held:
            self._admission.hold(size - self._held)
            self._held = size

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._admission.in_flight -= 1
            self._admission.buffered_bytes -= self._held


class Admit:
    """Lets a request pass while there is room, and counts it until it is answered.

    The place stands in the request's state: a refusal gives it up at once, though its sender may linger.
    """

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = scope["state"]["place"] = self._admission.enter()
        try:
            await self._app(scope, receive, send)
        finally:
            place.leave()
