"""Entries of a call are collected, and repeated if they fail."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from app.worker import batches
from app.worker.batches import Batches
from app.worker.consumed_queue import FailedEntry

pytestmark = pytest.mark.anyio
Answer = Callable[[Sequence[int]], list[FailedEntry | None]]


class Called:
    """Records the calls, and the result of each entry."""

    def __init__(self, answer: Answer) -> None:
        self.calls: list[list[int]] = []
        self.ended: dict[int, FailedEntry | None] = {}
        self.unwanted: set[int] = set()
        self._answer = answer
        self.batches = Batches(self._call, self._end, lambda entry: entry not in self.unwanted)

    async def _call(self, entries: Sequence[int]) -> list[FailedEntry | None]:
        self.calls.append(list(entries))
        return self._answer(entries)

    def _end(self, entry: int, failed: FailedEntry | None) -> None:
        self.ended[entry] = failed


def _all_well(entries: Sequence[int]) -> list[FailedEntry | None]:
    return [None] * len(entries)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause after a failure ends at once."""
    monkeypatch.setattr(batches, "pause", lambda failures, most: 0.0)


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not done():  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.001)


async def test_ten_are_one_call() -> None:
    """Ten entries do not wait; an eleventh waits a short time for others."""
    called = Called(_all_well)
    for number in range(11):
        called.batches.add(number)
    await _until(lambda: len(called.ended) == 11)
    assert sorted(map(len, called.calls)) == [1, 10]


async def test_a_few_are_called_before_long() -> None:
    called = Called(_all_well)
    called.batches.add(1)
    called.batches.add(2)
    assert called.calls == []
    await _until(lambda: called.ended == {1: None, 2: None})
    assert called.calls == [[1, 2]]


async def test_a_failed_entry_is_repeated_alone() -> None:
    failing = {2}

    def answer(entries: Sequence[int]) -> list[FailedEntry | None]:
        failures = [FailedEntry("InternalError", final=False) if entry in failing else None for entry in entries]
        failing.clear()
        return failures

    called = Called(answer)
    for number in (1, 2, 3):
        called.batches.add(number)
    await _until(lambda: len(called.ended) == 3)
    assert called.calls == [[1, 2, 3], [2]]


async def test_a_refusal_for_good_is_not_repeated() -> None:
    failed = FailedEntry("ReceiptHandleIsInvalid", final=True)
    called = Called(lambda entries: [failed for _ in entries])
    called.batches.add(1)
    await _until(lambda: called.ended == {1: failed})
    assert called.calls == [[1]]


async def test_a_call_that_fails_is_repeated() -> None:
    """The failed entry, and an entry that was added meanwhile, both succeed in the end."""
    down = [True]

    def answer(entries: Sequence[int]) -> list[FailedEntry | None]:
        if down:
            raise ConnectionError
        return _all_well(entries)

    called = Called(answer)
    called.batches.add(1)
    await _until(lambda: len(called.calls) > 1)
    called.batches.add(2)
    down.clear()
    await _until(lambda: called.ended == {1: None, 2: None})


async def test_what_is_not_wanted_any_more_is_not_called() -> None:
    called = Called(_all_well)
    called.unwanted = {1}
    called.batches.add(1)
    called.batches.add(2)
    await called.batches.flush()
    assert called.calls == [[2]]


async def test_flushing_waits_for_all() -> None:
    called = Called(_all_well)
    for number in range(25):
        called.batches.add(number)
    await called.batches.flush()
    assert sorted(called.ended) == list(range(25))


async def test_once_closed_nothing_is_called() -> None:
    called = Called(_all_well)
    called.batches.add(1)
    called.batches.close()
    called.batches.add(2)
    await called.batches.flush()
    assert called.calls == []
