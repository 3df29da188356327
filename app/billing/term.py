"""Measures and renews the time for which an attempt has its lease.

A worker computes the end of its lease with its system clock, and writes the end into the table. The worker measures
the remaining time with its monotonic clock, and starts this measurement before the call that writes the end. Other
workers compare the end with their own system clocks, and wait for a further twelfth of the lease's length (SKEW) after
the end. So the system clocks of two workers may differ by this twelfth, which is 5 s for a lease of 60 s.
"""

import asyncio

from app.billing import claims
from app.billing.caller import Caller
from app.billing.dynamodb import ConditionFailed, Table
from app.clock import CLOCK, monotonic, now_ms
from app.errors import ClaimedElsewhere

SKEW = 1 / 12


class Term(Caller):
    """The time of a lease, and its renewal. The subclass `Lease` begins and ends the lease.

    `seconds`: the length of the lease, counted from the claim, and again from each renewal.
    """

    def __init__(self, table: Table, event_id: str, owner: str, seconds: float) -> None:
        super().__init__(event_id)
        self._table = table
        self.token = f"{owner}/{CLOCK.get().token(8)}"
        self.seconds = seconds
        self._invoice_id: str | None = None
        self._ends = 0.0
        self._renewing = asyncio.Lock()

    @property
    def remaining(self) -> float:
        """Returns the seconds until the lease ends, or a negative number after its end."""
        return self._ends - monotonic()

    async def renew(self) -> None:
        """Renews the lease. Raises TableUnavailable, Unprocessable. Raises ClaimedElsewhere if the lease is lost."""
        async with self._renewing:
            sent = monotonic()
            try:
                await self._table.write(claims.renewals(self.event_id, self._invoice_id, self.token, self._until()))
            except ConditionFailed:
                self._ends = 0.0
                raise lost() from None
            self._ends = sent + self.seconds

    async def allowance(self, seconds: float) -> float:
        """Returns the time-out of the next call in seconds: `seconds`, or less if even a renewed lease ends earlier.

        Renews the lease if the lease ends in less than `seconds`. Raises the errors of `renew`.
        """
        if self.remaining < seconds:
            await self.renew()
        if self.remaining <= 0:
            raise lost()
        return min(seconds, self.remaining)

    def _until(self) -> int:
        return now_ms() + round(1000 * self.seconds)

    def _free(self) -> int:
        return now_ms() - round(1000 * SKEW * self.seconds)


def lost() -> ClaimedElsewhere:
    return ClaimedElsewhere("This worker has lost its lease on the event", "lease_lost")
