"""Question: each request calls a service that accepts many items in one call. How can requests share a call?

`OneCall` lets requests share calls to any such service. In this project, `app.sqs.group_commit` does this for SQS.
`OneCall` needs only the standard library, so that a reader can copy it.

`python -m lab.questions.one_call_per_request` compares one call per item with shared calls. All calls go through
sockets to an HTTP endpoint that accepts many items.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Generic, TypeVar

import aiohttp
from aiohttp import web

Item = TypeVar("Item")
Result = TypeVar("Result")


class OneCall(Generic[Item, Result]):
    """Shares each call between items that wait at the same time.

    A call has at most `size` items, and at most `calls` calls are in flight. `call` gets a list of items, and returns a
    result or an exception for each item. If `call` raises an exception, all items of the call fail.
    """

    def __init__(
        self, call: Callable[[list[Item]], Awaitable[Sequence[Result | Exception]]], *, size: int, calls: int
    ) -> None:
        self._call, self._size, self._calls = call, size, calls
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._sending: set[asyncio.Task[None]] = set()

    async def send(self, item: Item) -> Result:
        """Returns the item's result, or raises its exception. The item is sent even if the caller is cancelled."""
        settled: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, settled))
        self._begin()
        return await settled

    async def close(self) -> None:
        """Waits until each item has its result or exception."""
        while self._sending:
            await asyncio.wait(self._sending)

    def _begin(self) -> None:
        while self._waiting and len(self._sending) < self._calls:
            batch = [self._waiting.popleft() for _ in range(min(self._size, len(self._waiting)))]
            task = asyncio.create_task(self._send(batch))
            self._sending.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._sending.discard(task)
        self._begin()

    async def _send(self, batch: list[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        outcomes: Sequence[Result | Exception]
        try:
            outcomes = await self._call([item for item, _ in batch])
            if len(outcomes) != len(batch):
                raise ValueError(f"{len(outcomes)} outcomes of {len(batch)} items")
        except Exception as error:
            outcomes = [error] * len(batch)
        for (_, settled), outcome in zip(batch, outcomes, strict=True):
            if settled.done():
                continue  # the caller was cancelled
            if isinstance(outcome, Exception):
                settled.set_exception(outcome)
            else:
                settled.set_result(outcome)


ITEMS, USERS, CALLS, SIZE, CALL_S = 1000, 100, 4, 100, 0.01


async def _bulk(request: web.Request) -> web.Response:
    """Plays the service that is called, which handles a list of items in about the time of one item."""
    items = await request.json()
    await asyncio.sleep(CALL_S)
    return web.json_response([{"id": item} for item in items])


async def compare() -> list[str]:
    """Sends the ITEMS of all users twice: with one call per item, then with shared calls. Returns a line for each."""
    app = web.Application()
    app.router.add_post("/bulk", _bulk)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as http:
            return [await _timed(http, name, size) for name, size in (("one for each item", 1), ("shared", SIZE))]
    finally:
        await runner.cleanup()


async def _timed(http: aiohttp.ClientSession, name: str, size: int) -> str:
    calls = 0

    async def call(items: list[int]) -> list[int]:
        nonlocal calls
        calls += 1
        async with http.post("/bulk", json=items) as answer:
            return [one["id"] for one in await answer.json()]

    async def user(items: range) -> None:
        for item in items:
            assert await sender.send(item) == item

    sender, started = OneCall(call, size=size, calls=CALLS), perf_counter()
    await asyncio.gather(*(user(range(number, ITEMS, USERS)) for number in range(USERS)))
    return f"calls {name}: {ITEMS:,} items in {calls:,} calls, {perf_counter() - started:.2f} s"


if __name__ == "__main__":
    sys.stdout.write("\n".join(asyncio.run(compare())) + "\n")
