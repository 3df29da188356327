"""Limits how many computations run at the same time, and how long a request waits for its turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lab.application.lab_problems import LabUnavailable


class Turns:
    """Lets at most `places` computations run at the same time, each inside a context `one()`.

    `one` raises LabUnavailable, with the text `remedy`, if no place is free within `seconds`.
    """

    def __init__(self, places: int, seconds: float, remedy: str) -> None:
        self._free = asyncio.Semaphore(places)
        self._seconds = seconds
        self._refusal = f"No turn within {seconds:g} s: {remedy}"

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
        except TimeoutError:
            raise LabUnavailable(self._refusal) from None
        try:
            yield
        finally:
            self._free.release()
