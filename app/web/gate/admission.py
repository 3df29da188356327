"""Admission control limits the webhooks in flight, the bytes of their bodies, and the expected wait."""

from time import monotonic

from app.errors import Draining, Overloaded
from app.settings.gate import GateSettings
from app.web.gate.estimate import Estimate


class Admission:
    """The counts of one process. Only the event loop's thread may use them."""

    def __init__(self, limits: GateSettings) -> None:
        self._limits = limits
        self._estimate = Estimate(limits.max_wait)
        self.in_flight = 0
        self.buffered_bytes = 0
        self.draining = False

    def overload(self) -> str | None:
        """Returns why the process admits no further webhook, or None if it admits one.

        The reason may be that a webhook would wait too long. Chargebee times out after 20 s and redelivers it, so the
        work for a later answer is done twice.
        """
        if self.in_flight >= self._limits.max_in_flight:
            return f"{self._limits.max_in_flight} webhooks are in flight; send it again"
        max_wait = self._limits.max_wait
        if max_wait and self._estimate.seconds(monotonic()) > max_wait:
            return f"Webhooks wait longer than {max_wait:g} seconds; send it again"
        return None

    def drain(self) -> None:
        """Rejects every webhook from now on."""
        self.draining = True

    def enter(self) -> "Permit":
        """Admits one webhook, whose permit must be released. Raises Draining or Overloaded."""
        if self.draining:
            raise Draining("This process is stopping; send it again")
        if (reason := self.overload()) is not None:
            raise Overloaded(reason)
        self.in_flight += 1
        return Permit(self)

    def reserve(self, size: int) -> None:
        """Reserves `size` bytes of the memory for bodies. Raises Overloaded if that memory is used up."""
        limit = self._limits.max_buffered_bytes
        if self.buffered_bytes + size > limit:
            raise Overloaded(f"{limit} bytes of bodies are in memory; send it again")
        self.buffered_bytes += size

    def start_waiting(self, permit: "Permit") -> None:
        """Begins to measure how long the client waits for the service, because the body is complete."""
        self._estimate.begin(permit, monotonic())

    def leave(self, permit: "Permit", size: int) -> None:
        """Counts a webhook with `size` bytes of body as finished: answered, or its client has disconnected."""
        self._estimate.end(permit, monotonic())
        self.in_flight -= 1
        self.buffered_bytes -= size


class Permit:
    """The admission of one webhook, with the bytes that are reserved for its body."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._reserved = 0

    def reserve(self, size: int) -> None:
        """Increases the reservation to `size` bytes in total. Raises Overloaded if the memory for bodies is used up."""
        if size > self._reserved:
            self._admission.reserve(size - self._reserved)
            self._reserved = size

    def body_complete(self) -> None:
        """Begins to measure the wait, because the whole body has arrived."""
        self._admission.start_waiting(self)

    def release(self) -> None:
        """Releases the permit. Call it exactly once, after the webhook has been answered."""
        self._admission.leave(self, self._reserved)
