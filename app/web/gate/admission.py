"""Admission control: bounds on webhooks in flight, on bytes of bodies held, and on the expected wait."""

from collections.abc import Awaitable, Callable
from time import monotonic

from starlette.types import Receive, Scope, Send

from app.errors import Draining, Overloaded
from app.settings import Settings
from app.web.gate.estimate import Estimate


class Admission:
    """The process's counts. One per app, at `app.state.admission`; used on the event loop only."""

    def __init__(self, settings: Settings) -> None:
        self._max_in_flight = settings.max_in_flight
        self._max_buffered_bytes = settings.max_buffered_bytes
        self._max_wait = settings.max_wait
        self._estimate = Estimate(settings.max_wait)
        self.in_flight = 0
        self.buffered_bytes = 0
        self.draining = False

    def overload(self) -> str | None:
        """Why no further webhook is admitted; None where one is.

        By number, and by time: Chargebee times out after 20 s and redelivers, so a later answer is work done twice.
        """
        if self.in_flight >= self._max_in_flight:
            return f"{self._max_in_flight} webhooks are in flight; send it again"
        if self._max_wait and self._estimate.seconds(monotonic()) > self._max_wait:
            return f"Webhooks wait longer than {self._max_wait:g} seconds; send it again"
        return None

    def drain(self) -> None:
        """From now on, no webhook is admitted."""
        self.draining = True

    def enter(self) -> "Place":
        """Raises Draining or Overloaded; otherwise the place must be left."""
        if self.draining:
            raise Draining("This process is stopping; send it again")
        if (reason := self.overload()) is not None:
            raise Overloaded(reason)
        self.in_flight += 1
        return Place(self)

    def hold(self, size: int) -> None:
        """`size` more bytes of a body. Raises Overloaded."""
        if self.buffered_bytes + size > self._max_buffered_bytes:
            raise Overloaded(f"{self._max_buffered_bytes} bytes of bodies are held; send it again")
        self.buffered_bytes += size

    def waits(self, place: "Place") -> None:
        """The body at `place` is complete: from now on, its client waits for the service."""
        self._estimate.begin(place, monotonic())

    def left(self, place: "Place", held: int) -> None:
        """A webhook with `held` bytes of body has been handled, or its client has disconnected."""
        self._estimate.end(place, monotonic())
        self.in_flight -= 1
        self.buffered_bytes -= held


class Place:
    """One webhook in the counts, with the bytes of its body."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._held = 0

    def hold(self, size: int) -> None:
        """`size` bytes of the body so far. Raises Overloaded."""
        if size > self._held:
            self._admission.hold(size - self._held)
            self._held = size

    def complete(self) -> None:
        """The body is complete."""
        self._admission.waits(self)

    def leave(self) -> None:
        """Once, when the webhook has been handled."""
        self._admission.left(self, self._held)


class Admit:
    """Admits a request while there is room, and counts it until it has been handled."""

    def __init__(self, app: Callable[[Scope, Receive, Send, Place], Awaitable[None]], admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = self._admission.enter()
        try:
            await self._app(scope, receive, send, place)
        finally:
            place.leave()
