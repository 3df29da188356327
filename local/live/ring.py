"""The last two minutes, numbered, for any number of viewers."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

MOMENTS = 240  # two a second


class Moment(NamedTuple):
    """One moment as JSON text; `number` counts from 1."""

    number: int
    text: str


class Ring:
    """Bounded. Its ids begin with `run`, so that an id of an earlier process is not mistaken for one of its own."""

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
        """Those that are still held and came after `number`, oldest first."""
        return [moment for moment in self._moments if moment.number > number]

    async def follow(self, number: int) -> AsyncIterator[Moment]:
        """Those after `number`, and whatever comes; a reader slower than the ring misses what it has dropped."""
        while True:
            added = self._added
            for moment in self.after(number):
                number = moment.number
                yield moment
            await added.wait()

    def identify(self, number: int) -> str:
        return f"{self.run}-{number}"

    def resume(self, last_event_id: str) -> int | None:
        """The number in an id of this ring; None for any other text."""
        run, _, number = last_event_id.partition("-")
        return int(number) if run == self.run and number.isascii() and number.isdigit() else None
