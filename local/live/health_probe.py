"""Probes a service: requests /healthz again and again, as the kubelet does, to see if the service answers at all."""

import asyncio
import time
from typing import NamedTuple

import aiohttp

TIMEOUT = 1.0
INTERVAL = 0.5


class Reading(NamedTuple):
    """The result of a probe, or the state of an unfinished probe.

    `milliseconds` is the time that the probe took, or has taken so far. `timed_out` means that the service did not
    answer within TIMEOUT seconds, or that the connection failed.
    """

    milliseconds: float
    timed_out: bool


class HealthProbe:
    """Probes the service at `url`, with a new connection for each probe. `run` ends only when its task is cancelled."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/healthz"
        self._began: float | None = None
        self._last = Reading(0.0, False)

    async def run(self) -> None:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(force_close=True)) as session:
            while True:
                await self._probe(session)
                await asyncio.sleep(INTERVAL - min(INTERVAL, self._last.milliseconds / 1000))

    async def _probe(self, session: aiohttp.ClientSession) -> None:
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
        """Returns the result of the last finished probe, without waiting for the current probe.

        If the finished probe did not time out, and the current probe has already taken longer than the finished one,
        returns the time that the current probe has taken so far.
        """
        if self._last.timed_out or self._began is None:
            return self._last
        waiting = (time.monotonic() - self._began) * 1000
        return Reading(max(waiting, self._last.milliseconds), waiting > TIMEOUT * 1000)
