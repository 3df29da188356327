"""The worker's composition root."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

import uvloop
from loguru import logger

from app.settings import Settings
from app.telemetry.logging import log_message
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord
from app.worker.connect import open_queues
from app.worker.health import Probes, served
from app.worker.measured import measure
from app.worker.verdict import Process
from app.worker.work import Worker

OpenProcess = Callable[[], AbstractAsyncContextManager[Process]]


def run(settings: Settings, open_process: OpenProcess, observers: Observers[MessageRecord]) -> None:
    """Works until a signal, in logging that is configured already. Raises ConfigurationError."""
    factory = uvloop.new_event_loop if settings.loop == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner, suppress(asyncio.CancelledError):
        runner.run(_run(settings, open_process, observers))


async def _run(settings: Settings, open_process: OpenProcess, observers: Observers[MessageRecord]) -> None:
    async with open_queues(settings, observers.of_calls()) as queues, open_process() as process:
        worker = Worker(settings, queues, process, observers.of_records(log_message), observers.continue_trace)
        measure(worker, observers)
        async with served(Probes(worker.not_alive, worker.not_ready), settings):
            _on_signals(worker)
            with observers.measuring():
                logger.info("Receiving from {}", queues[0].name)
                await worker.run()
    logger.info("Stopped")


def _on_signals(worker: Worker) -> None:
    """First SIGTERM, SIGINT or SIGHUP: stop; SIGTERM or SIGINT again: end now. The exit code is 0 after both."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def on_signal(number: signal.Signals) -> None:
        if worker.not_ready() is None:
            # In a terminal somebody waits for the end; a message of that poll stays hidden for a while.
            worker.stop(patient=number != signal.SIGINT)
        elif number != signal.SIGHUP:  # the terminal was closed as well: no reason to hurry
            logger.warning("Second signal: ending now")
            worker.close()
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal, number)
