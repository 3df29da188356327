"""Stores the figures of the last two minutes, for any number of viewers of the live page."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

MOMENTS = 240  # two per second, for two minutes


class Moment(NamedTuple):
    """The figures of all services at one moment, as JSON text. `number` counts the moments from 1."""

    number: int
    text: str


class Ring:
    """A ring buffer that stores the last moments, and drops the oldest moment when it is full.

    The id of a moment consists of the random string `run` and the moment's number. An id that begins with another
    string is from an earlier process of the page.
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
        """Yields the stored moments after `number`, then each new moment as soon as it is added.

        A reader that is too slow misses the moments that the ring buffer drops in the meantime.
        """
        while True:
            added = self._added
            for moment in self.after(number):
                number = moment.number
                yield moment
            await added.wait()

    def identify(self, number: int) -> str:
        return f"{self.run}-{number}"

    def resume(self, last_event_id: str) -> int | None:
        """Returns the number of the moment with the id `last_event_id`, or None if the id is not from this process."""
        run, _, number = last_event_id.partition("-")
        return int(number) if run == self.run and number.isascii() and number.isdigit() else None
