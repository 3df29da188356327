"""Sends Ctrl-C, SIGTERM and SIGHUP to a command and to a coroutine, once and twice."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import suppress

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


@pytest.fixture
def ended_like_ctrl_c() -> Iterator[None]:
    """Calls `end_like_ctrl_c`, and restores the handlers after the test."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    ctrl_c.end_like_ctrl_c()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("ended_like_ctrl_c")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("inside", [True, False], ids=["in a coroutine", "after a coroutine"])
def test_a_terminal_that_closes(sig: signal.Signals, inside: bool) -> None:
    """SIGTERM and SIGHUP raise KeyboardInterrupt; a SIGHUP that follows does not interrupt the clean-up."""
    finished = []

    async def interrupted() -> None:
        signal.raise_signal(sig)
        await asyncio.sleep(60)

    def command() -> None:
        try:
            ctrl_c.run(interrupted() if inside else asyncio.sleep(0))
            signal.raise_signal(sig)
        finally:
            signal.raise_signal(signal.SIGHUP)
            finished.append("clean-up")

    with pytest.raises(KeyboardInterrupt):
        command()
    assert finished == ["clean-up"]


def test_a_cancellation_that_is_caught() -> None:
    """Ctrl-C ends the command even if the coroutine catches the cancellation."""

    async def stubborn() -> None:
        signal.raise_signal(signal.SIGINT)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        ctrl_c.run(stubborn())


def test_without_ctrl_c() -> None:
    """The result is the coroutine's, and a cancellation by somebody else stays one."""

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert ctrl_c.run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(asyncio.CancelledError):
        ctrl_c.run(cancelled())
