"""Defines the caller of Chargebee's API, and records whether Chargebee has answered the caller's calls."""


class Asked:
    """Records what is known about the calls that one attempt to process an event makes to Chargebee.

    `begun` is True from the first call on. `unanswered` is True while Chargebee may still be executing a call that
    changes an invoice. This is so if the call has ended without an answer, with a status 5xx, or with a 200 that does
    not come from Chargebee. `may_have_changed` is True after the first call that may have changed an invoice.
    """

    def __init__(self) -> None:
        self.begun = self.unanswered = self.may_have_changed = False

    def begin(self) -> None:
        self.begun = True

    def miss_answer(self) -> None:
        self.unanswered = self.may_have_changed = True

    def have_answer(self) -> None:
        """Clears `unanswered`. All tries of a call have one idempotency key, so one answer is valid for all tries."""
        self.unanswered = False


class Caller:
    """An attempt or a command that calls Chargebee. `event_id` is part of the idempotency keys of the calls.

    A caller without a lease on an event must not make calls that change something at Chargebee. The subclass `Term` has
    a lease.
    """

    def __init__(self, event_id: str = "") -> None:
        self.event_id, self.asked = event_id, Asked()

    async def allowance(self, seconds: float) -> float:
        """Returns the time-out of the next call in seconds, at most `seconds`.

        The subclass `Term` raises BillingFailed if the attempt must not make a call.
        """
        return seconds
