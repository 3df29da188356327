"""Runs a coroutine that Ctrl-C ends in an orderly way, however often it is pressed."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` like `asyncio.run`. The first Ctrl-C cancels `main`; more are ignored until `main` has ended.

    At the second Ctrl-C, `asyncio.run` raises KeyboardInterrupt inside the callback that happens to run. If this is a
    callback of a TaskGroup, the group waits forever for a task that has ended. Raises KeyboardInterrupt after Ctrl-C.
    """
    interrupted = asyncio.Event()

    async def interruptible() -> T:
        task = asyncio.current_task()
        assert task is not None

        def interrupt() -> None:
            if not interrupted.is_set():
                interrupted.set()
                task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
        return await main

    try:
        return asyncio.run(interruptible())
    except asyncio.CancelledError:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise
