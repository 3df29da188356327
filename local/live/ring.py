"""Stores the moments of the last two minutes for any number of viewers."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

MOMENTS = 240  # two per second


class Moment(NamedTuple):
    """The figures of one moment as JSON text; `number` counts from 1."""

    number: int
    text: str


class Ring:
    """A ring buffer of moments. The moments' ids begin with the random text `run`.

    An id with another `run` is from an earlier process of the page.
    """

    def __init__(self, moments: int = MOMENTS) -> None:
        self.run = secrets.token_hex(4)
        self._moments: deque[Moment] = deque(maxlen=moments)
        self._number = 0
        self._added = asyncio.Event()

    def add(self, text: str) -> None:
        self._number += 1
        self._moments.append(Moment(self._number, text))
        self._added.set()
        self._added = asyncio.Event()

    def after(self, number: int) -> list[Moment]:
        """Returns the stored moments after `number`, oldest first."""
        return [moment for moment in self._moments if moment.number > number]

    async def follow(self, number: int) -> AsyncIterator[Moment]:
        """Yields the moments after `number`, then each new moment. A slow reader misses moments that the ring drops."""
        while True:
            added = self._added
            for moment in self.after(number):
                number = moment.number
                yield moment
            await added.wait()

    def identify(self, number: int) -> str:
        return f"{self.run}-{number}"

    def resume(self, last_event_id: str) -> int | None:
        """Returns the number in an id of this ring, or None for any other text."""
        run, _, number = last_event_id.partition("-")
        return int(number) if run == self.run and number.isascii() and number.isdigit() else None
