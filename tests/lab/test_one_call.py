"""`OneCall`, which docs/questions/one_call_per_request.md hands over: on fakes, on HTTP, and on Postgres."""

import asyncio
from collections.abc import Sequence

import pytest
from psycopg_pool import AsyncConnectionPool

from lab.questions.one_call_per_request import ITEMS, OneCall, compare
from lab.stand_ins.postgres import start

pytestmark = pytest.mark.anyio


class Backend:
    """A backend that answers when `open` is set. `refused` are items that it refuses, `calls` what it has received."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.refused: set[int] = set()
        self.open = asyncio.Event()

    async def __call__(self, items: list[int]) -> Sequence[int | Exception]:
        self.calls.append(items)
        await self.open.wait()
        return [KeyError(item) if item in self.refused else -item for item in items]


async def outcomes(one_call: OneCall[int, int], items: range) -> list[int | BaseException]:
    return await asyncio.gather(*map(one_call.send, items), return_exceptions=True)


async def test_what_waits_at_the_same_time_shares_a_call() -> None:
    """The first items leave at once. The others wait for a free call, and fill it up to its size, in their order."""
    backend = Backend()
    sent = asyncio.ensure_future(outcomes(OneCall(backend, size=3, calls=2), range(9)))
    await asyncio.sleep(0.01)
    assert backend.calls == [[0], [1]]
    backend.open.set()
    assert await sent == [-item for item in range(9)]
    assert backend.calls == [[0], [1], [2, 3, 4], [5, 6, 7], [8]]


async def test_a_refused_item_fails_its_own_caller() -> None:
    """The other callers of the call get their results."""
    backend = Backend()
    backend.refused = {2}
    backend.open.set()
    found = await outcomes(OneCall(backend, size=3, calls=1), range(4))
    assert [type(one) for one in found] == [int, int, KeyError, int]


@pytest.mark.parametrize("answer", [OSError("down"), []])
async def test_a_failed_call_fails_its_callers(answer: OSError | list[int]) -> None:
    """A call that raises, or has not one outcome for each item, leaves nobody waiting. The next call works."""
    answers: list[OSError | list[int]] = [answer, [1]]

    async def call(items: list[int]) -> list[int]:
        if isinstance(one := answers.pop(0), OSError):
            raise one
        return one

    one_call = OneCall(call, size=3, calls=1)
    with pytest.raises((OSError, ValueError)):
        await one_call.send(0)
    assert await one_call.send(0) == 1


async def test_the_end_waits_for_items_whose_callers_have_left() -> None:
    """A cancelled caller's item is sent nevertheless, and `close` returns when the last item is settled."""
    backend = Backend()
    one_call = OneCall(backend, size=1, calls=1)
    callers = [asyncio.ensure_future(one_call.send(item)) for item in range(3)]
    await asyncio.sleep(0)
    for caller in callers:
        caller.cancel()
    backend.open.set()
    await one_call.close()
    assert backend.calls == [[0], [1], [2]]


async def test_a_bulk_endpoint_over_sockets() -> None:
    """The page's command: a thousand calls, and then far fewer for the same items."""
    alone, shared = await compare()
    assert alone.startswith(f"calls one for each item: {ITEMS:,} items in {ITEMS:,} calls, ")
    assert int(shared.split()[5].replace(",", "")) < ITEMS / 5


async def test_executemany_on_postgres() -> None:
    """Two hundred requests insert rows with few calls of `executemany`. A bad row fails its own call."""
    with start() as postgres:
        async with AsyncConnectionPool(postgres.url, open=False, min_size=2, max_size=2) as pool:
            sizes = []

            async def insert(rows: list[tuple[int]]) -> list[None]:
                sizes.append(len(rows))
                async with pool.connection() as connection, connection.cursor() as cursor:
                    await cursor.executemany("INSERT INTO events VALUES (%s)", rows)
                return [None] * len(rows)

            async with pool.connection() as connection:
                await connection.execute("CREATE TABLE events (id int PRIMARY KEY)")
            one_call = OneCall(insert, size=100, calls=2)
            await asyncio.gather(*(one_call.send((number,)) for number in range(200)))
            assert sum(sizes) == 200
            assert len(sizes) <= 4
            found = await asyncio.gather(*(one_call.send((number,)) for number in (200, 0)), return_exceptions=True)
            assert [type(one).__name__ for one in found] == ["NoneType", "UniqueViolation"]
            async with pool.connection() as connection:
                counted = await (await connection.execute("SELECT count(*) FROM events")).fetchone()
            assert counted == (201,)
