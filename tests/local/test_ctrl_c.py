"""Sends Ctrl-C to a coroutine, once and twice."""

import asyncio
import signal

import pytest

from local import ctrl_c


@pytest.mark.parametrize("times", [1, 2])
def test_the_coroutine_ends_in_an_orderly_way(times: int) -> None:
    """A task that Ctrl-C cancels finishes its clean-up, although Ctrl-C is pressed again meanwhile."""
    finished = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            for _ in range(times - 1):
                signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0)
            finished.append("clean-up")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(wait())
            await asyncio.sleep(0)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ctrl_c.run(main())
    assert finished == ["clean-up"]


def test_without_ctrl_c() -> None:
    """The result is the coroutine's, and a cancellation by somebody else stays one."""

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert ctrl_c.run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(asyncio.CancelledError):
        ctrl_c.run(cancelled())
