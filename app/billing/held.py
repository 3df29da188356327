"""Work under a lease that is renewed beside it, by a task of its own."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from app.billing.leases import Lease, lost
from app.errors import TableUnavailable

T = TypeVar("T")
RENEWALS = 3  # in the time of one lease
TRIES = 4  # in the time between two of them, while the table cannot be reached


async def while_held(lease: Lease, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled where the lease is lost. Raises what it raises, and ClaimedElsewhere."""
    working, renewing = asyncio.create_task(work), asyncio.create_task(keep(lease))
    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            renewing.result()  # raises
        return working.result()
    finally:
        for task in (working, renewing):
            task.cancel()
        await asyncio.wait({working, renewing})
        # A task has its error, whose traceback has this frame: a cycle would outlive the event.
        del working, renewing, task


async def keep(lease: Lease) -> None:
    """Renews until it is cancelled. Raises ClaimedElsewhere where the lease is lost."""
    usual = pause = lease.seconds / RENEWALS
    while True:
        await asyncio.sleep(pause)
        try:
            await lease.renew()
            pause = usual
        except TableUnavailable:
            if lease.remaining <= 0:
                raise lost() from None
            pause = usual / TRIES
