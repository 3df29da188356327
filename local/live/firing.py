"""Sends the same webhooks to every service that the live page shows."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple


class Answer(NamedTuple):
    """A service's answer to a webhook: the status (0 if there was no answer), and the seconds that it took."""

    status: int
    seconds: float


# A function that sends one webhook to a service, and returns the answer.
Post = Callable[[bytes], Awaitable[Answer]]


async def fire(bodies: Iterable[bytes], posts: list[Post], rate: float | None) -> None:
    """Sends each body to every service. `posts` contains a function for each service. Returns after the last answer.

    `rate` is in bodies per second; None sends all bodies at once. Either way, no body waits for an earlier answer.
    """
    began = time.monotonic()
    async with asyncio.TaskGroup() as sending:
        for number, body in enumerate(bodies):
            if rate is not None:
                await asyncio.sleep(began + number / rate - time.monotonic())
            for post in posts:
                sending.create_task(_send(post, body))


async def _send(post: Post, body: bytes) -> None:
    await post(body)
