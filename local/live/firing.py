"""Sends the same webhooks to every service."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

# A function that sends one webhook, and returns the status of the answer, or 0 if no answer came.
Post = Callable[[bytes], Awaitable[int]]


async def fire(bodies: Iterable[bytes], posts: list[Post], rate: float | None) -> None:
    """Sends each body with every function of `posts`, and returns when all calls have ended.

    `rate`: bodies per second, or None to send all bodies at once. In both cases, no body waits for an earlier answer.
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
