"""Tests the ring of moments."""

import asyncio
from contextlib import aclosing

import pytest

from local.live.ring import MOMENTS, Ring


def _numbers(ring: Ring, after: int = 0) -> list[int]:
    return [moment.number for moment in ring.after(after)]


def test_it_is_bounded() -> None:
    """The ring keeps two minutes and drops the oldest moments."""
    ring = Ring()
    for _ in range(10 * MOMENTS):
        ring.add("x" * 100)
    assert _numbers(ring) == list(range(9 * MOMENTS + 1, 10 * MOMENTS + 1))


def test_it_resumes_after_a_number() -> None:
    """`after` returns the later moments that are still stored."""
    ring = Ring(3)
    for _ in range(5):
        ring.add("")
    assert _numbers(ring, after=4) == [5]
    assert _numbers(ring, after=1) == [3, 4, 5]


def test_ids() -> None:
    """An id leads to its number; an id of another run, or other text, does not."""
    ring = Ring()
    assert ring.resume(ring.identify(17)) == 17
    for odd in (Ring().identify(17), "", "17", f"{ring.run}-", f"{ring.run}-x", f"{ring.run}-²"):
        assert ring.resume(odd) is None


@pytest.mark.anyio
async def test_a_slow_reader_misses_what_was_dropped() -> None:
    """The ring neither waits for a slow reader nor grows."""
    ring = Ring(2)
    ring.add("1")
    async with aclosing(ring.follow(0)) as reader:  # type: ignore[type-var]  # an async generator
        assert (await anext(reader)).number == 1
        for _ in range(5):
            ring.add("")
        assert [(await anext(reader)).number for _ in range(2)] == [5, 6]
        waiting = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        ring.add("")
        assert (await waiting).number == 7
