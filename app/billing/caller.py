"""Keeps track of what one attempt has asked of Chargebee."""


class Caller:
    """Keeps track of the calls that one attempt to process an event makes to Chargebee.

    `begun` is True from the first call on. `unanswered` is True after a call that changes an invoice has ended without
    an answer, with a status 5xx, or with a 200 that is not Chargebee's, because Chargebee may still be executing this
    call. `may_have_changed` is True from the first call on that has changed an invoice, or may have changed it. The
    subclass `Lease` also limits the time of each call.
    """

    def __init__(self, event_id: str = "") -> None:
        self.event_id = event_id
        self.begun = self.unanswered = self.may_have_changed = False

    async def allowance(self, seconds: float) -> float:
        """Returns the time-out of the next call in seconds, at most `seconds`.

        Raises BillingFailed if the attempt must not make a call.
        """
        return seconds

    def begin(self) -> None:
        self.begun = True

    def miss_answer(self) -> None:
        self.unanswered = self.may_have_changed = True

    def have_answer(self) -> None:
        """Clears `unanswered`. All tries of a call have the same idempotency key, so one result is enough for all."""
        self.unanswered = False
