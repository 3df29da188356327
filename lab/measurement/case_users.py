"""Simulates the users of a question's application in a closed loop, over real connections."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import quantiles
from time import monotonic
from typing import Any

import aiohttp
import uvloop


@dataclass
class Seen:
    """The responses that users received.

    `seconds`: the duration of the load. `latencies`: milliseconds of each answer with a status below 400. `failed`: the
    number of other answers, and of requests without an answer. `cut`: how many of the failed requests ended in an error
    after the connection was open.

    The end of the load interrupts the requests in flight. An interrupted request counts as failed only if it has waited
    for more than half of the load. `unanswered`: the waiting times, in ms, of the interrupted requests that failed.
    """

    seconds: float
    latencies: list[float] = field(default_factory=list)
    unanswered: list[float] = field(default_factory=list)
    failed: int = 0
    cut: int = 0

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, percent: int) -> float:
        """Returns the percentile of the latency in ms, or the duration of the load if there are fewer than two values.

        An `unanswered` request counts with the time that it has waited. If there are such requests, the percentile is a
        lower bound.
        """
        waited = [*self.latencies, *self.unanswered]
        if len(waited) < 2:  # noqa: PLR2004  # quantiles need two
            return 1000 * self.seconds
        return quantiles(waited, n=100, method="inclusive")[percent - 1]


async def user(http: aiohttp.ClientSession, url: str, seen: Seen, pause: float, method: str) -> None:
    """Sends one request after the other until the task is cancelled, with `pause` seconds between two requests.

    A request that the cancellation interrupts counts as failed only if it has taken more than half of `seen.seconds`.
    """
    while True:
        began = monotonic()
        try:
            async with http.request(method, url) as answer:
                await answer.read()
            if answer.ok:
                seen.latencies.append(1000 * (monotonic() - began))
            else:
                seen.failed += 1
        except aiohttp.ClientConnectorError:
            seen.failed += 1
            await asyncio.sleep(0.05)
        except (aiohttp.ClientError, OSError):
            seen.failed += 1
            seen.cut += 1
        except asyncio.CancelledError:
            if (waited := monotonic() - began) > seen.seconds / 2:  # a request that was just sent is no failure
                seen.failed += 1
                seen.unanswered.append(1000 * waited)
            raise
        await asyncio.sleep(pause)


async def crowd(
    urls: Sequence[str],
    number: int,
    seconds: float,
    *,
    pause: float = 0,
    method: str = "GET",
    beside: Coroutine[Any, Any, object] | None = None,
) -> Seen:
    """Runs `number` users for `seconds`. At the same time, runs the coroutine `beside`.

    The users are spread evenly over `urls`. `pause`: the seconds between two requests of a user. `method`: use POST to
    count closed connections, because aiohttp repeats a GET whose connection was closed.
    """
    seen = Seen(seconds)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60)) as http:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for index in range(number):
                    group.create_task(user(http, urls[index % len(urls)], seen, pause, method))
                if beside is not None:
                    group.create_task(beside)
    return seen


def watch(url: str, number: int, seconds: float, pause: float = 0) -> Seen:
    """Runs `crowd` for one URL, in a new event loop."""
    return uvloop.run(crowd([url], number, seconds, pause=pause))
