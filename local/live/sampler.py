"""Reads the figures of all services on the live page twice a second, and adds them to the ring buffer (`Ring`)."""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import aiohttp

from local.live.health_probe import HealthProbe
from local.live.page_config import ShownService
from local.live.ring import Ring
from local.live.scraper import Scraper
from local.live.sender_times import Milliseconds

INTERVAL = 0.5
Extras = Callable[[], dict[str, object]]
SenderTimesOfEach = Callable[[], list[Milliseconds]]


async def sample(services: list[ShownService], ring: Ring, extras: Extras, sender_times: SenderTimesOfEach) -> None:
    """Adds the current figures of the services to `ring` every INTERVAL seconds, until the task is cancelled.

    `extras` returns further figures: SQS's latency, the buttons that viewers pressed, and the number of webhooks that
    the buttons sent. `sender_times` returns, for each service, how long the buttons' sender waited for answers.
    """
    async with aiohttp.ClientSession() as session, AsyncExitStack() as stack:
        probes = [HealthProbe(service.url) for service in services]
        scrapers = [Scraper(service.metrics, session) for service in services]
        running = await stack.enter_async_context(asyncio.TaskGroup())
        for probe in probes:
            running.create_task(probe.run())
        due = time.monotonic()
        while True:
            figures = await _moment(probes, scrapers)
            measured = [own | sent for own, sent in zip(figures, sender_times(), strict=True)]
            ring.add(json.dumps({"t": round(time.time(), 2), **extras(), "services": measured}))
            # After a pause of the whole machine, takes the next sample at once. Leaves out the samples that were due
            # during the pause.
            due = max(due + INTERVAL, time.monotonic())
            await asyncio.sleep(due - time.monotonic())


async def _moment(probes: list[HealthProbe], scrapers: list[Scraper]) -> list[dict[str, object]]:
    scraped = await asyncio.gather(*(scraper.values() for scraper in scrapers))
    return [
        {"probe": round(reading.milliseconds, 1), "timed_out": reading.timed_out, **values}
        for reading, values in zip((probe.reading() for probe in probes), scraped, strict=True)
    ]
