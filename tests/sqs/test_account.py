"""Blocking calls for which nothing waits when the process ends."""

import asyncio
import threading

import pytest

from app.sqs.account import in_background


def test_what_a_call_returns_and_raises() -> None:
    """The caller gets the result, or the exception."""

    async def both() -> int:
        with pytest.raises(OSError, match="no"):
            await in_background(lambda: (_ for _ in ()).throw(OSError("no")))
        return await in_background(lambda: 7)

    assert asyncio.run(both()) == 7


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_loop_that_ends_before_the_call(cancelled: bool, caplog: pytest.LogCaptureFixture) -> None:
    """The event loop closes before the call ends, and the result that comes later is ignored."""
    begun, go_on = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def call() -> None:
        threads.append(threading.current_thread())
        begun.set()
        go_on.wait()

    async def start() -> None:
        task = asyncio.create_task(in_background(call))
        assert await asyncio.to_thread(begun.wait, 60)
        if cancelled:
            task.cancel()

    asyncio.run(start())
    assert threads[0].is_alive()
    go_on.set()
    threads[0].join()
    assert caplog.records == []
