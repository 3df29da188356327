"""A decorator repeats a failed asynchronous call, and waits between the attempts with time.sleep.

After langroid/langroid#1112 (the backoff sleep in the async retry decorator blocks the event loop).
"""

import functools
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from litestar import Litestar, get

CASE = {
    "framework": "litestar",
    "kind": "waits",
    "route": "GET /summaries/{number:int}",
    "cures": ["async client"],
    "send": [("GET", "/summaries/7", 2, 2)],
    "source": "https://github.com/langroid/langroid/pull/1112",
}


class RateLimitedError(Exception):
    """The model answers 429."""


def retry(attempts: int, delay: float) -> Callable[..., Any]:
    """Calls again after `delay` seconds, and after 1.3 times as long from then on."""

    def decorate(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(call)
        async def wrapper(*arguments: Any) -> Any:
            pause = delay
            for attempt in range(1, attempts + 1):
                try:
                    return await call(*arguments, attempt)
                except RateLimitedError:
                    time.sleep(pause)  # FAULT
                    pause *= 1.3
            raise RateLimitedError

        return wrapper

    return decorate


@retry(attempts=3, delay=0.4)
async def complete(number: int, attempt: int) -> int:
    async with httpx.AsyncClient(verify=False) as client:  # noqa: S501  # plain HTTP on loopback
        answer = await client.get(os.environ["CASE_HTTP"] + f"/items/{number}")
    if attempt < 3:
        raise RateLimitedError
    return len(answer.json())


@get("/summaries/{number:int}")
async def summary(number: int) -> int:
    return int(await complete(number))


app = Litestar([summary])
