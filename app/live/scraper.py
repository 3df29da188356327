"""Reads a service's Prometheus text; a slow answer delays no other service's figures."""

import asyncio
import time
from contextlib import suppress

import aiohttp

from app.live.exposition import Scrape, parse
from app.live.values import Values, values

PATIENCE = 0.4
# Rates are of about a second: between two scrapes of which one came late, they would be of a few milliseconds.
WINDOW = 0.9
_TIMEOUT = aiohttp.ClientTimeout(total=5)


class Scraper:
    """`url` None: the service has no metrics."""

    def __init__(self, url: str | None, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session
        self._earlier: list[Scrape] = []
        self._pending: asyncio.Task[Scrape | None] | None = None

    async def values(self) -> Values:
        """Over the last second. Empty where nothing came within `PATIENCE`: the next call waits for the same one."""
        if self._url is None:
            return {}
        self._pending = self._pending or asyncio.create_task(self._scrape(self._url))
        await asyncio.wait([self._pending], timeout=PATIENCE)
        if not self._pending.done():
            return {}
        scrape, self._pending = self._pending.result(), None
        return {} if scrape is None else self._since_earlier(scrape)

    def _since_earlier(self, scrape: Scrape) -> Values:
        old_enough = [one for one in self._earlier if scrape.taken - one.taken >= WINDOW]
        # The newest of those that are old enough, and all since.
        self._earlier = [*old_enough[-1:], *self._earlier[len(old_enough) :], scrape]
        return values(old_enough[-1], scrape) if old_enough else {}

    async def _scrape(self, url: str) -> Scrape | None:
        with suppress(aiohttp.ClientError, OSError, TimeoutError, ValueError):
            async with self._session.get(url, timeout=_TIMEOUT) as response:
                text = await response.text()
                return parse(text, time.monotonic())
        return None
