"""Requests /healthz repeatedly, as the kubelet does: whether the service answers at all."""

import asyncio
import time
from typing import NamedTuple

import aiohttp

TIMEOUT = 1.0
INTERVAL = 0.5


class Reading(NamedTuple):
    """`milliseconds` of the last answer, or of the wait so far; `timed_out`: no answer within the time-out."""

    milliseconds: float
    timed_out: bool


class HealthProbe:
    """Probes of the service at `url`, each on a new connection, while `run` runs."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/healthz"
        self._began: float | None = None
        self._last = Reading(0.0, False)

    async def run(self) -> None:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(force_close=True)) as session:
            while True:
                await self._ask(session)
                await asyncio.sleep(INTERVAL - min(INTERVAL, self._last.milliseconds / 1000))

    async def _ask(self, session: aiohttp.ClientSession) -> None:
        self._began = time.monotonic()
        timed_out = False
        try:
            async with session.get(self._url) as response:
                await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError):
            timed_out = True
        self._last = Reading((time.monotonic() - self._began) * 1000, timed_out)
        self._began = None

    def reading(self) -> Reading:
        """Without waiting. One that is under way for longer than the last one took counts with its time so far."""
        if self._last.timed_out or self._began is None:
            return self._last
        waiting = (time.monotonic() - self._began) * 1000
        return Reading(max(waiting, self._last.milliseconds), waiting > TIMEOUT * 1000)
