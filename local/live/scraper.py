"""Reads a service's Prometheus text; a slow answer delays no other service's figures."""

import asyncio
import time
from contextlib import suppress

import aiohttp

from local.live.exposition import Scrape, parse
from local.live.values import totals, values

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

    async def values(self) -> dict[str, object]:
        """Returns the numbers of the last second, and the totals of all time.

        Empty if nothing came within `PATIENCE`: the next call waits for the same scrape.
        """
        if self._url is None:
            return {}
        self._pending = self._pending or asyncio.create_task(self._scrape(self._url))
        await asyncio.wait([self._pending], timeout=PATIENCE)
        if not self._pending.done():
            return {}
        scrape, self._pending = self._pending.result(), None
        return {} if scrape is None else self._since_earlier(scrape)

    def _since_earlier(self, scrape: Scrape) -> dict[str, object]:
        old_enough = [one for one in self._earlier if scrape.taken - one.taken >= WINDOW]
        # The newest of those that are old enough, and all since.
        self._earlier = [*old_enough[-1:], *self._earlier[len(old_enough) :], scrape]
        if not old_enough:
            return {}
        # Only what is known, and to two decimals: a viewer gets 240 of them at once.
        known = {name: round(value, 2) for name, value in values(old_enough[-1], scrape).items() if value is not None}
        return known | {"totals": totals(scrape)}

    async def _scrape(self, url: str) -> Scrape | None:
        with suppress(aiohttp.ClientError, OSError, TimeoutError, ValueError):
            async with self._session.get(url, timeout=_TIMEOUT) as response:
                text = await response.text()
                return parse(text, time.monotonic())
        return None
