"""Sends the same webhooks to every service."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

# Sends one webhook, and returns the status of the answer, 0 if there was none.
Post = Callable[[bytes], Awaitable[int]]


async def fire(bodies: Iterable[bytes], posts: list[Post], rate: float | None) -> None:
    """Passes each body to each of `posts`: `rate` bodies per second without waiting for answers, or all at once."""
    began = time.monotonic()
    async with asyncio.TaskGroup() as sending:
        for number, body in enumerate(bodies):
            if rate is not None:
                await asyncio.sleep(began + number / rate - time.monotonic())
            for post in posts:
                sending.create_task(_send(post, body))


async def _send(post: Post, body: bytes) -> None:
    await post(body)
