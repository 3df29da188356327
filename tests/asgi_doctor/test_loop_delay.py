"""The event loop's delay, after a timer and while the loop is still blocked."""

import asyncio
import time

import pytest

from asgi_doctor.loop_delay import INTERVAL_SECONDS, START_SECONDS, WINDOW_SECONDS, LoopDelay

pytestmark = pytest.mark.anyio
BLOCK_SECONDS = 0.2


class Delays(list[float]):
    """The delays observed so far. `longer` waits for a delay that exceeds a number of seconds."""

    async def longer(self, seconds: float) -> float:
        while not any(delay > seconds for delay in self):  # noqa: ASYNC110  # the observer is no coroutine
            await asyncio.sleep(INTERVAL_SECONDS)
        return max(self)


async def _block(delays: Delays) -> LoopDelay:
    """Starts to measure, blocks the loop once, and returns the measuring object."""
    delay = LoopDelay(delays.append)
    delay.start()
    while not delays:  # noqa: ASYNC110  # the observer is no coroutine
        await asyncio.sleep(INTERVAL_SECONDS)
    time.sleep(BLOCK_SECONDS)  # noqa: ASYNC251  # the subject of these tests
    return delay


async def test_a_blocked_loop() -> None:
    """The delay is the time for which the loop was blocked, minus the rest of the timer's interval."""
    delays = Delays()
    delay = await _block(delays)
    assert delay.longest() >= BLOCK_SECONDS - INTERVAL_SECONDS  # before the loop runs again
    assert await delays.longer(BLOCK_SECONDS - 2 * INTERVAL_SECONDS) < 60
    delay.stop()
    assert delay.longest() == max(delays)


async def test_a_loop_that_is_blocked_at_once() -> None:
    """The first request of a process may block its loop, too."""
    delay = LoopDelay(Delays().append)
    delay.start()
    await asyncio.sleep(2 * START_SECONDS)  # until the first timer of LoopDelay has run
    time.sleep(BLOCK_SECONDS)  # noqa: ASYNC251  # the subject of these tests
    assert delay.longest() >= BLOCK_SECONDS - INTERVAL_SECONDS
    delay.stop()


async def test_the_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """`longest` forgets a delay after WINDOW_SECONDS."""
    delays = Delays()
    delay = await _block(delays)
    await delays.longer(BLOCK_SECONDS - 2 * INTERVAL_SECONDS)
    delay.stop()
    later = time.monotonic() + WINDOW_SECONDS + 1
    monkeypatch.setattr("asgi_doctor.loop_delay.monotonic", lambda: later)
    assert delay.longest() == 0.0


async def test_it_stops() -> None:
    """After `stop` no timer is pending, even if measuring had not begun."""
    delays = Delays()
    delay = LoopDelay(delays.append, interval=0)
    delay.stop()
    delay.start()
    delay.stop()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not delays
    assert delay.longest() == 0.0
