"""Implements the live page's buttons, which send webhooks to the shown services, or set the latency of their queues."""

import asyncio
import ssl
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from types import TracebackType
from typing import NamedTuple, Self

import aiohttp

from local.live.firing import Post, fire
from local.live.live_tally import Tally
from local.live.page_config import ShownService
from local.live.sender_times import Milliseconds

# A function that generates the given number of webhooks.
Bodies = Callable[[int], Iterable[bytes]]
OpenPost = Callable[[ShownService], AbstractAsyncContextManager[Post]]
DELAYS_MS = (0, 8, 100, 500)


class LoadButton(NamedTuple):
    """A button that sends webhooks.

    `mark` is the label that the charts show at the time of the press. `rate` is in webhooks per second; None sends all
    webhooks at once.
    """

    label: str
    mark: str
    webhooks: int
    rate: float | None


LOAD_BUTTONS = {
    "burst": LoadButton("20 webhooks at once", "20 at once", 20, None),
    "rate": LoadButton("500/s for 5 s", "500/s", 2500, 500),
}


class Buttons:
    """Sends webhooks or sets the queues' latency when a viewer presses a button.

    The connections to the services are open until the `async with` block ends.
    """

    def __init__(self, services: list[ShownService], delay: float, bodies: Bodies, open_post: OpenPost) -> None:
        self._services = services
        self._bodies = bodies
        self._open_post = open_post
        self._delay = round(delay * 1000)
        self._pressed: list[str] = []
        self._tallies = [Tally() for _ in services]
        self._sending: dict[str, asyncio.Task[None]] = {}

    def extras(self) -> dict[str, object]:
        """Returns SQS's latency in ms, the buttons pressed since the previous call, and the counts of each service.

        The counts of a service are the number of webhooks that the buttons have sent to it, and the number of its
        answers by status. They also contain the median and the 99th percentile of how long the answers took, in ms.
        """
        pressed, self._pressed = self._pressed, []
        return {"delay": self._delay, "pressed": pressed, "sent_here": [tally.shown() for tally in self._tallies]}

    def sender_times(self) -> list[Milliseconds]:
        """Returns, for each service, the median and 99th percentile of how long the answers of the last second took."""
        return [tally.times.recent() for tally in self._tallies]

    def send(self, name: str) -> bool:
        """Begins to send the webhooks of the button `name`, and returns True.

        Sends nothing and returns False if webhooks of an earlier press of the same button still wait for answers.
        """
        if name in self._sending and not self._sending[name].done():
            return False
        load = LOAD_BUTTONS[name]
        self._pressed.append(load.mark)
        self._sending[name] = asyncio.create_task(fire(self._bodies(load.webhooks), self._posts, load.rate))
        return True

    async def delay(self, milliseconds: int) -> bool:
        """Sets the latency of every service's queue. Returns False if a queue did not accept the latency."""
        try:
            for service in self._services:
                await self._set_delay(service, milliseconds / 1000)
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False
        self._delay = milliseconds
        self._pressed.append(f"SQS {milliseconds} ms")
        return True

    async def _set_delay(self, service: ShownService, seconds: float) -> None:
        if service.sqs is not None:
            trusted = ssl.create_default_context(cafile=service.ca_bundle) if service.ca_bundle else True
            async with self._session.put(service.sqs, data=str(seconds), ssl=trusted) as response:
                response.raise_for_status()

    async def __aenter__(self) -> Self:
        self._opened = AsyncExitStack()
        self._session = await self._opened.enter_async_context(
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5))
        )
        self._posts = [
            tally.counting(await self._opened.enter_async_context(self._open_post(service)))
            for service, tally in zip(self._services, self._tallies, strict=True)
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for task in self._sending.values():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._opened.aclose()
