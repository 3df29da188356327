"""Scrapes a service's metrics, and computes numbers for the live page.

A service that answers slowly does not delay the numbers of other services.
"""

import asyncio
import time
from contextlib import suppress

import aiohttp

from local.live.exposition import Scrape, parse
from local.live.values import totals, values

PATIENCE = 0.4
# The minimum number of seconds between the two scrapes from which a rate is computed. Without a minimum, a rate could
# cover only milliseconds, because the next scrape can follow a late scrape at once.
WINDOW = 0.9
_TIMEOUT = aiohttp.ClientTimeout(total=5)


class Scraper:
    """Scrapes a service's metrics. `url` is the address of the metrics, or None if the service has no metrics."""

    def __init__(self, url: str | None, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session
        self._earlier: list[Scrape] = []
        self._pending: asyncio.Task[Scrape | None] | None = None

    async def values(self) -> dict[str, object]:
        """Returns the page's numbers for the last second, and the numbers of webhooks since the service's start.

        Returns an empty dict if the service has no metrics, the scrape fails, or no earlier scrape is old enough. If
        the scrape takes longer than PATIENCE seconds, returns an empty dict, and the next call waits for this scrape.
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
        # For the next call, keeps the newest scrape that is old enough, and all later scrapes.
        self._earlier = [*old_enough[-1:], *self._earlier[len(old_enough) :], scrape]
        if not old_enough:
            return {}
        # Leaves out unknown values and rounds the others to save bytes, because a new viewer gets 240 moments at once.
        known = {name: round(value, 2) for name, value in values(old_enough[-1], scrape).items() if value is not None}
        return known | {"totals": totals(scrape)}

    async def _scrape(self, url: str) -> Scrape | None:
        with suppress(aiohttp.ClientError, OSError, TimeoutError, ValueError):
            async with self._session.get(url, timeout=_TIMEOUT) as response:
                text = await response.text()
                return parse(text, time.monotonic())
        return None
