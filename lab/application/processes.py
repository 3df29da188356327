"""A pool of processes for fibonacci. Each process has its own interpreter lock."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from multiprocessing import get_context

from anyio import to_thread

from lab.application.fibonacci import fibonacci, prepare
from lab.application.lab_problems import LabUnavailable
from lab.application.turns import Turns
from lab.lab_settings import LabSettings

# For each process, one computation runs and one is queued. Otherwise, after each computation, the process would wait
# until the event loop sends the next one.
_TURNS_OF_A_PROCESS = 2


class Processes:
    """A pool of `size` processes, started when needed. If one of them is killed, the next request gets a new pool.

    `seconds`: how long a computation waits at most for its turn.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._size = size
        self._executor = _executor(size)
        remedy = f"all {size} processes compute; APP_LAB_PROCESSES and APP_LAB_POOL_TIMEOUT allow for more"
        self._turns = Turns(_TURNS_OF_A_PROCESS * size, seconds, remedy)

    async def fibonacci(self, number: int) -> int:
        """Returns the Fibonacci number, which a process of the pool computes.

        Raises LabUnavailable if all processes stay busy for too long, or if a process of the pool is killed.
        """
        async with self._turns.one():
            executor = self._executor
            try:
                return await asyncio.get_running_loop().run_in_executor(executor, fibonacci, number)
            except BrokenProcessPool:
                if self._executor is executor:
                    self._executor = _executor(self._size)
                raise LabUnavailable("A process of the pool was killed: the next request has a new pool") from None

    def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)


@asynccontextmanager
async def processes(settings: LabSettings) -> AsyncIterator[Processes]:
    pool = Processes(settings.processes, settings.pool_timeout)
    try:
        yield pool
    finally:
        await to_thread.run_sync(pool.close)


def _executor(size: int) -> ProcessPoolExecutor:
    """Returns an executor that uses `spawn`, because a fork would copy locks that other threads have taken."""
    return ProcessPoolExecutor(size, get_context("spawn"), prepare)
