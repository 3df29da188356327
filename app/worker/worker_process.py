"""Builds and runs the worker. No other module of the worker reads settings."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import get_args

import uvloop
from loguru import logger

from app import open_files
from app.billing.result import Outcome
from app.clock import CLOCK, SYSTEM, Clock
from app.errors import ConfigurationError
from app.settings import WorkerSettings
from app.settings.text import http_url
from app.sqs.queue import QueueAddress
from app.telemetry.metrics.instruments import Description, Observed, gauge
from app.telemetry.observers import Observers
from app.telemetry.record import MessageRecord, ObserveCall
from app.worker.consumed_queue import POLL_SECONDS, ConsumedQueue, open_queues
from app.worker.handle import DEAD_LETTER, IGNORED, LOST, RETRIED, RETURNED, Process
from app.worker.retry import BASE_SECONDS
from app.worker.work import PREFETCH, Worker, WorkerLimits
from app.worker.worker_probes import Probes, served

OpenProcess = Callable[[], AbstractAsyncContextManager[Process]]
# Number of file descriptors for everything except the work on events, for example for the connections to SQS.
_RESERVED_FILES = 100
# Connections for one event: two to the table (one for the work, one to renew the event's lease), and one to Chargebee.
_FILES_PER_EVENT = 3
OpenQueues = AbstractAsyncContextManager[tuple[ConsumedQueue, ConsumedQueue]]


def run(
    settings: WorkerSettings,
    open_process: OpenProcess,
    observers: Observers[MessageRecord],
    *,
    prefetch: int = PREFETCH,
    retry: float = BASE_SECONDS,
    clock: Clock = SYSTEM,
) -> None:
    """Runs the worker until a signal ends it. The caller must configure logging first.

    Raises ConfigurationError if a setting is wrong. `prefetch`: how many messages may wait while all tasks are busy;
    `retry`: the longest delay, in seconds, of a message's first retry; `clock`: the source of time and randomness.
    """
    CLOCK.set(clock)
    _require_open_files(settings.worker_concurrency)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, suppress(asyncio.CancelledError):
        runner.run(_run(settings, open_process, observers, prefetch, retry))


def _require_open_files(concurrency: int) -> None:
    """Increases the process's limit of open files. Raises ConfigurationError if the limit remains too low."""
    files, needed = open_files.raise_limit(), _RESERVED_FILES + _FILES_PER_EVENT * concurrency
    if files is not None and files < needed:
        raise ConfigurationError(
            f"ulimit -n {files}: allowed are {needed} or more open files with APP_WORKER_CONCURRENCY={concurrency}"
        )


def open_queues_of(settings: WorkerSettings, observe: ObserveCall) -> OpenQueues:
    """Returns a context manager that opens both queues of `settings`. Raises ConfigurationError if a URL is missing."""
    source = QueueAddress.at(settings.require_queue_url())
    dead_letters = QueueAddress.at(settings.require_dead_letter_queue_url())
    return open_queues(source, dead_letters, settings.sqs_timeout, observe)


async def _run(
    settings: WorkerSettings,
    open_process: OpenProcess,
    observers: Observers[MessageRecord],
    prefetch: int,
    retry: float,
) -> None:
    limits = WorkerLimits(
        concurrency=settings.worker_concurrency,
        prefetch=prefetch,
        visibility=settings.worker_visibility,
        first_retry=retry,
        # Longer than a poll with its retries (POLL_SECONDS + the time-out) plus the pause after a failure (15 s).
        idle=2 * (POLL_SECONDS + 2 * settings.sqs_timeout),
        grace=settings.graceful_timeout,
    )
    async with open_queues_of(settings, observers.of_calls()) as queues, open_process() as process:
        worker = Worker(limits, queues, process, settings.event_types, observers)
        _measure(worker, observers)
        async with served(Probes(worker.not_alive, worker.not_ready), settings.host, settings.port) as address:
            logger.info("Listening on {} for the worker's probes", http_url(*address))
            _on_signals(worker)
            with observers.measuring():
                logger.info("Receiving from {}", queues[0].name)
                await worker.run()
    logger.info("Stopped")


def _on_signals(worker: Worker) -> None:
    """Makes the first SIGTERM, SIGINT or SIGHUP stop the worker, and a second SIGTERM or SIGINT end it at once.

    The exit code is 0 in both cases.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def on_signal(number: signal.Signals) -> None:
        if worker.not_ready() is None:
            # After Ctrl-C, the worker cancels the current poll, so that the user need not wait for it. Messages of this
            # poll stay hidden until their visibility timeouts end.
            worker.stop(patient=number != signal.SIGINT)
        elif number != signal.SIGHUP:  # a closed terminal (SIGHUP) is no reason to end at once
            logger.warning("Second signal: ending now")
            worker.in_flight.close()
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            loop.add_signal_handler(number, on_signal, number)


def _measure(worker: Worker, observers: Observers[MessageRecord]) -> None:
    """Adds the worker's outcomes and gauges to the metrics before the first message."""
    if (metrics := observers.metrics) is None:
        return
    outcomes = (*get_args(Outcome), RETRIED, DEAD_LETTER, LOST, RETURNED, IGNORED)
    metrics.records.expect((outcome, None) for outcome in outcomes)
    poller, consumer = worker.poller, worker.consumer
    consumed = Description(
        "counter",
        "messaging.client.consumed.messages",
        "{message}",
        "Messages received.",
        ("messaging.system", "messaging.operation.name"),
    )
    metrics.add(
        [
            Observed(consumed, lambda: [(("aws_sqs", "ReceiveMessage"), poller.received)]),
            gauge(
                "invoice_webhook.worker.held",
                "{message}",
                "Messages received, but not yet deleted or released.",
                lambda: len(worker.in_flight),
            ),
            gauge("invoice_webhook.worker.working", "{task}", "Messages in process.", lambda: consumer.working),
            gauge(
                "invoice_webhook.worker.poll_age",
                "s",
                "Time since SQS last answered a poll.",
                poller.since_answer,
            ),
        ]
    )
