"""Describes the callers of Chargebee, and keeps track of the calls that a caller has made."""

from typing import Protocol


class Asked:
    """Keeps track of the calls that one attempt to process an event makes to Chargebee.

    `begun` is True from the first call on. `unanswered` is True while Chargebee may still be executing a call that
    changes an invoice: the call has ended without an answer, with a status 5xx, or with a 200 that is not Chargebee's.
    `may_have_changed` is True after the first call that has changed, or may have changed, an invoice.
    """

    def __init__(self) -> None:
        self.begun = self.unanswered = self.may_have_changed = False

    def begin(self) -> None:
        self.begun = True

    def miss_answer(self) -> None:
        self.unanswered = self.may_have_changed = True

    def have_answer(self) -> None:
        """Clears `unanswered`. All tries of a call have the same idempotency key, so one result is enough for all."""
        self.unanswered = False


class Caller(Protocol):
    """A Lease or Unleased, which limits the time of each call. Idempotency keys contain `event_id`."""

    event_id: str
    asked: Asked

    async def allowance(self, seconds: float) -> float:
        """Returns the time-out of the next call in seconds, at most `seconds`.

        Raises BillingFailed if the attempt must not make a call.
        """
        ...


class Unleased:
    """A caller without a lease, whose calls change nothing."""

    def __init__(self, event_id: str = "") -> None:
        self.event_id, self.asked = event_id, Asked()

    async def allowance(self, seconds: float) -> float:
        return seconds
