"""The watchdog finds lines in greenlets, in which SQLAlchemy's asyncio extension runs its synchronous code."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from queue import Queue
from typing import Any

import pytest
import uvloop

from asgi_doctor.watchdog import Watchdog

WARN = 0.1
greenlet = pytest.importorskip("greenlet").greenlet
gettrace = pytest.importorskip("greenlet").gettrace


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_library_that_blocks_in_a_greenlet(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    """The watchdog names the line that waits for the greenlet, and the greenlet's calls. No trace function remains."""

    async def endpoint() -> None:
        greenlet(queue.get).switch()

    async def main() -> None:
        with watchdog:
            threading.Thread(target=put, daemon=True).start()
            await asyncio.create_task(endpoint())
            await asyncio.sleep(0)

    def put() -> None:
        # With only a few samples, as on a busy machine, two lines of this loop could be named.
        while watchdog._block is None or watchdog._block.taken < 20:
            time.sleep(WARN / 10)
        queue.put(None)

    queue = Queue[None]()
    watchdog = Watchdog(WARN)
    run(main())
    [finding] = watchdog.findings
    assert finding.source == "greenlet(queue.get).switch()"
    assert "queue.py" in finding.chain[1]
    assert gettrace() is None


def test_a_ping_that_is_answered_after_the_end() -> None:
    """The last ping waits behind a block that lasts until the watchdog ends. No trace function remains."""

    async def main() -> None:
        with Watchdog(WARN):
            time.sleep(4 * WARN)  # noqa: ASYNC251  # the block
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert gettrace() is None
