"""Limits the number of webhooks in flight, the bytes of their bodies, and the wait that a new webhook can expect."""

from time import monotonic

from app.errors import BodyTimeout, BodyTooLarge, Draining, Overloaded
from app.settings import WebSettings
from app.web.estimate import Estimate


class Admission:
    """Admits or rejects webhooks, and counts the webhooks in flight. Only the event loop's thread may use it."""

    def __init__(self, limits: WebSettings) -> None:
        self._limits = limits
        self._estimate = Estimate(limits.max_wait)
        self.in_flight = 0
        self.buffered_bytes = 0
        self.draining = False

    def overload(self) -> str | None:
        """Returns the reason for which the process must reject the next webhook, or None if it can admit the webhook.

        One reason is that the webhook would wait too long (APP_MAX_WAIT). Chargebee times out after 20 s and sends the
        webhook again. If the answer came later than 20 s, the process would do the work twice.
        """
        if self.in_flight >= self._limits.max_in_flight:
            return f"{self._limits.max_in_flight} webhooks are in flight, the maximum; send this webhook again"
        max_wait = self._limits.max_wait
        if max_wait and self._estimate.seconds(monotonic()) > max_wait:
            return f"Webhooks wait longer than {max_wait:g} seconds; send this webhook again"
        return None

    def drain(self) -> None:
        """Rejects every webhook from now on."""
        self.draining = True

    def enter(self) -> "Permit":
        """Admits one webhook. Raises Draining if the process is stopping. The caller must release the permit.

        Call `overload` first, because this method does not check the limits.
        """
        if self.draining:
            raise Draining("This process is stopping; send this webhook again")
        self.in_flight += 1
        return Permit(self, self._limits)

    def reserve(self, size: int) -> None:
        """Reserves `size` bytes for a body. Raises Overloaded if all bodies together would exceed the limit."""
        limit = self._limits.max_buffered_bytes
        if self.buffered_bytes + size > limit:
            raise Overloaded(f"The bodies of all webhooks would exceed {limit} bytes; send this webhook again")
        self.buffered_bytes += size

    def start_waiting(self, permit: "Permit") -> None:
        self._estimate.begin(permit, monotonic())

    def leave(self, permit: "Permit", size: int) -> None:
        """Counts the webhook of `permit` as ended, and releases the `size` bytes that were reserved for its body."""
        self._estimate.end(permit, monotonic())
        self.in_flight -= 1
        self.buffered_bytes -= size


class Permit:
    """The permission to process one webhook. Counts the bytes of the body, and reserves memory for the body."""

    __slots__ = ("_admission", "_limits", "_released", "_reserved", "_size")

    def __init__(self, admission: Admission, limits: WebSettings) -> None:
        self._admission, self._limits = admission, limits
        self._reserved = self._size = 0
        self._released = False

    def reserve(self, size: int) -> None:
        """Increases the reservation to `size` bytes in total. Raises Overloaded if too few bytes are free."""
        if size > self._reserved:
            self._admission.reserve(size - self._reserved)
            self._reserved = size

    def receive(self, size: int, *, more: bool) -> None:
        """Counts `size` more bytes of the body. `more`: further parts of the body will arrive.

        The wait for the answer begins when the whole body has arrived. Raises BodyTooLarge if the body is too long, and
        Overloaded if too few bytes are free.
        """
        self._size += size
        if self._size > self._limits.max_body_bytes:
            raise BodyTooLarge(f"The body is longer than {self._limits.max_body_bytes} bytes", unread=more)
        self.reserve(self._size)
        if not more:
            self._admission.start_waiting(self)

    def too_late(self) -> BodyTimeout:
        """Returns the error for a body that is not complete in time."""
        return BodyTimeout(f"The body was not complete within {self._limits.body_timeout:g} seconds")

    def release(self) -> None:
        """Releases the permit. Call it when the webhook has an outcome or its client has disconnected.

        Later calls have no effect.
        """
        if not self._released:
            self._released = True
            self._admission.leave(self, self._reserved)
